"""Tables for people, JSON and CSV for programs. What users named is never taken for markup."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hetbo.errors import printable
from hetbo.spaces import Value

_LONGEST_CELL = 60
_FORMULA_STARTS = ("=", "+", "-", "@")


def say(text: str) -> None:
    """Print a line of text, nothing of it taken for markup; a terminal gets it wrapped at words."""
    console = Console(highlight=False)
    console.print(Text(printable(text)), soft_wrap=not console.is_terminal)


def say_command(text: str) -> None:
    """Print a line with a command to paste, which must stay on one line."""
    Console(highlight=False).print(Text(printable(text)), soft_wrap=True)


def plain(value: object) -> Text:
    """Return a cell's text: one line, cut if it is long."""
    return Text(cut(f"{value:.6g}" if isinstance(value, float) else str(value)))


def cut(text: str, longest: int = _LONGEST_CELL) -> str:
    """Return a text on one line, cut if it is long."""
    line = printable(text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


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
    Console(highlight=False).print(table_of(headings, rows))


def show_params(trials: Mapping[int, Mapping[str, Value]]) -> None:
    """Print trials: a row per trial, or, where that would be too wide, a row per parameter."""
    names = list(dict.fromkeys(name for params in trials.values() for name in params))
    rows = [[number, *(params[name] for name in names)] for number, params in trials.items()]
    console = Console(highlight=False)
    wide = table_of(["id", *names], rows)
    if console.measure(wide).minimum > console.width or len(names) > console.width // 12:
        flipped = [[name, *(params[name] for params in trials.values())] for name in names]
        console.print(table_of(["id", *map(str, trials)], flipped))
    else:
        console.print(wide)


def write_json(data: object) -> None:
    """Print data as JSON in plain ASCII, exact to the last digit."""
    sys.stdout.write(json.dumps(data, indent=1) + "\n")


def write_csv(headings: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Print rows as CSV that a spreadsheet takes for data, never for a formula.

    A text that begins like a formula gets an apostrophe in front; numbers stay as they are.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_harmless, headings))
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    sys.stdout.write(stream.getvalue())


def _harmless(cell: Value) -> Value:
    if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell
