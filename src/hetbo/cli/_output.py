"""Tables for people, JSON and CSV for programs. What users named is never taken for markup.

Where standard output cannot be written, an `OSError` says so in its name; what its encoding does
not have is shown escaped.
"""

import csv
import errno
import io
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn, Self

from rich import box
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from hetbo.errors import DataError, printable
from hetbo.spaces import Value

_LONGEST_CELL = 60
_FORMULA_STARTS = ("=", "+", "-", "@")
_PLAIN_LINES = str.maketrans("─│├└", "-|++")
_STANDARD_OUTPUT = "standard output"


class _Console(Console):
    """Rich's, without the end of the process that it takes for the answer to a closed pipe."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class Waiting(Status):
    """What a command is doing, on standard error, for as long as the block takes."""

    def __init__(self, what: str) -> None:
        super().__init__(what, console=Console(stderr=True))
        self._what = what

    def __enter__(self) -> Self:
        self.start()
        return self

    def digesting(self, done: int, count: int) -> None:
        """Show how many sources are digested, until all are."""
        self.update(
            self._what if done == count else f"digesting the sources: {done} of {count} are done"
        )


@contextmanager
def showable() -> Iterator[None]:
    """Show what an encoding does not have escaped, for as long as the block takes."""
    streams = [s for s in (sys.stdout, sys.stderr) if isinstance(s, io.TextIOWrapper)]
    before = [stream.errors for stream in streams]
    for stream in streams:
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            stream.reconfigure(errors=errors)


def discard_unwritten() -> None:
    """Drop what standard output does not take, or Python would fail over it as it ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):  # a stream without a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.stdout.flush()


def check_open() -> None:
    """Check that there is a standard output, before something is done only to be shown.

    Raises:
        DataError: The process was started without one.
    """
    if sys.stdout is None:
        raise DataError("standard output is closed, so nothing could be shown; nothing was done")


@contextmanager
def printing() -> Iterator[Console]:
    """Print to standard output, all of it before the block is left.

    Raises:
        OSError: It cannot be written.
    """
    try:
        yield _Console(highlight=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, _STANDARD_OUTPUT) from error


def say(text: str) -> None:
    """Print a line of text, nothing of it taken for markup; a terminal gets it wrapped at words."""
    with printing() as console:
        console.print(Text(printable(text)), soft_wrap=not console.is_terminal)


def say_command(text: str) -> None:
    """Print a line with a command to paste, which must stay on one line."""
    with printing() as console:
        console.print(Text(printable(text)), soft_wrap=True)


def say_drawing(text: str) -> None:
    """Print lines as they are; what is drawn in them is plain where the encoding has no more."""
    with printing() as console:
        drawn = text if console.encoding.startswith("utf") else text.translate(_PLAIN_LINES)
        console.print(Text(drawn), soft_wrap=True)


def show_notes(notes: Sequence[str]) -> None:
    """Print notes, each on a line of its own, below an empty one."""
    if notes:
        say("")
    for note in notes:
        say(f"Note: {note}")


def plain(value: object) -> Text:
    """Return a cell's text: one line, cut if it is long."""
    return Text(cut(f"{value:.6g}" if isinstance(value, float) else str(value)))


def cut(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    line = printable(text[: _LONGEST_CELL + 1])
    return line if len(line) <= _LONGEST_CELL else f"{line[: _LONGEST_CELL - 1]}…"


def table_of(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table; numbers stand at the right."""
    rows = list(rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, heading in enumerate(headings):
        cells = [row[column] for row in rows]
        number = bool(cells) and all(isinstance(cell, int | float) for cell in cells)
        table.add_column(plain(heading), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table."""
    with printing() as console:
        console.print(table_of(headings, rows))


def show_params(trials: Mapping[int, Mapping[str, Value]]) -> None:
    """Print trials: a row per trial, or, where that would be too wide, a row per parameter."""
    names = list(dict.fromkeys(name for params in trials.values() for name in params))
    rows = [[number, *(params[name] for name in names)] for number, params in trials.items()]
    with printing() as console:
        wide = table_of(["id", *names], rows)
        if console.measure(wide).minimum > console.width or len(names) > console.width // 12:
            flipped = [[name, *(params[name] for params in trials.values())] for name in names]
            console.print(table_of(["id", *map(str, trials)], flipped))
        else:
            console.print(wide)


@contextmanager
def progress_bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how much of a task is done, for as long as the block takes.

    Args:
        doing: What is being done, in words.

    Yields:
        What takes the number of steps that are done, and that of all.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        doing,
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def write_json(data: object) -> None:
    """Print data as JSON in plain ASCII, exact to the last digit."""
    write(json.dumps(data, indent=1) + "\n")


def write_csv(headings: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Print rows as CSV that a spreadsheet takes for data, never for a formula.

    A text that begins like a formula gets an apostrophe in front; numbers stay as they are.
    """
    write("".join(_csv_line(map(_harmless, row)) for row in [headings, *rows]))


def write(text: str) -> None:
    """Print a text as it is."""
    check_open()
    with printing():
        sys.stdout.write(text)


def _csv_line(cells: Iterable[Value]) -> str:
    stream = io.StringIO()
    # Cells with a character of the line's end are quoted: a spreadsheet takes either for one.
    csv.writer(stream, lineterminator="\r\n").writerow(cells)
    return stream.getvalue().removesuffix("\r\n") + "\n"


def _harmless(cell: Value) -> Value:
    """Return a cell that is no formula, also if a spreadsheet skips or replaces what is in front.

    White space and control characters are skipped; full-width signs count as the plain ones.
    """
    if not isinstance(cell, str):
        return cell
    seen = next((c for c in cell if c.isprintable() and not c.isspace()), "")
    return f"'{cell}" if unicodedata.normalize("NFKC", seen).startswith(_FORMULA_STARTS) else cell
