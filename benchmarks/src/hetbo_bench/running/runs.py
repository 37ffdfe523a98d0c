"""Finished replications as JSON lines: the data that tables and figures are made from."""

import gzip
import json
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from hetbo.errors import DataError, shown

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

_logger = logging.getLogger(__name__)

_BEGINNING = b'{"problem": '
"""A line of ours begins so, also one that a kill cut short."""


class Job(NamedTuple):
    """One replication of one method on one problem.

    Attributes:
        problem: The problem's name.
        method: The method's name.
        replication: The replication, counted from 0; it is also the seed.
    """

    problem: str
    method: str
    replication: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished replication.

    Attributes:
        problem: The problem's name.
        method: The method's name.
        replication: The replication, counted from 0.
        seed: The seed of the method's random choices.
        goal: 'minimize' or 'maximize'.
        optimum: The best possible value of the problem.
        published: The published runs with the same start, by the name of their problem.
        starts: Where the problem's replications start: from 'published' trials, or 'drawn' ones.
        trace: The best value so far after each evaluation.
        seconds: How long each suggestion took.
        versions: The versions of what made it.
    """

    problem: str
    method: str
    replication: int
    seed: int
    goal: str
    optimum: float
    published: str | None
    starts: str
    trace: tuple[float, ...]
    seconds: tuple[float, ...]
    versions: Mapping[str, str]

    @property
    def job(self) -> Job:
        """Which replication this is."""
        return Job(self.problem, self.method, self.replication)

    def to_line(self) -> str:
        """Return the run as one line of JSON."""
        data = asdict(self)
        data["seconds"] = [round(seconds, 4) for seconds in self.seconds]
        return json.dumps(data, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, data: Any) -> Self:  # noqa: ANN401
        """Return the run that a line describes.

        Raises:
            DataError: The data does not describe a run.
        """
        if not isinstance(data, dict):
            raise DataError(f"{shown(data)} is not a run: it is no JSON object")
        for name, (fits, kind) in _FIELDS.items():
            if name not in data:
                raise DataError(f"{shown(data)} is not a run: it has no {name!r}")
            if not fits(data[name]):
                raise DataError(f"{name}={shown(data[name])} must be {kind}: this is not a run")
        if unknown := [name for name in data if name not in _FIELDS]:
            raise DataError(f"{shown(data)} is not a run: {unknown[0]!r} is no part of one")
        return cls(**{**data, "trace": tuple(data["trace"]), "seconds": tuple(data["seconds"])})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


_FIELDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "problem": (_is_text, "a text"),
    "method": (_is_text, "a text"),
    "replication": (_is_count, "a whole number from 0 on"),
    "seed": (_is_count, "a whole number from 0 on"),
    "goal": (lambda value: value in ("minimize", "maximize"), "'minimize' or 'maximize'"),
    "optimum": (
        lambda value: isinstance(value, int | float) and math.isfinite(value),
        "a finite number",
    ),
    "published": (lambda value: value is None or _is_text(value), "a text or null"),
    "starts": (lambda value: value in ("published", "drawn"), "'published' or 'drawn'"),
    "trace": (_are_numbers, "a list of numbers"),
    "seconds": (_are_numbers, "a list of numbers"),
    "versions": (lambda value: isinstance(value, dict), "an object"),
}
"""What each part of a run's line must be: a check, and how errors call it."""


def read_runs(paths: Iterable[str | os.PathLike[str]]) -> list[Run]:
    """Return the runs in files of JSON lines, compressed (`.gz`) or not.

    A last line that a kill cut short is left out, and so is a run that is there already.

    Raises:
        DataError: A file cannot be read, or a line in it is not a run.
    """
    found: dict[tuple[Job, tuple[float, ...]], Run] = {}
    for path in map(Path, paths):
        for run in _read(path):
            found.setdefault((run.job, run.trace), run)
    return list(found.values())


def _read(path: Path) -> Iterator[Run]:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = data.decode().splitlines(keepends=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.endswith("\n"):
            if _is_cut_short(line.encode()):
                return
            raise DataError(f"{path}, line {number} is not a run, nor the beginning of one")
        if not line.strip():
            continue
        try:
            yield Run.from_json(json.loads(line))
        except json.JSONDecodeError as error:
            where = f"{path}, line {number}, column {error.colno}"
            raise DataError(f"{where} is not JSON: {error.msg}") from error
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from error


def append_run(path: Path, run: Run) -> None:
    """Add a run to a file of JSON lines, at once; a line that a kill cut short goes first.

    Raises:
        DataError: The file cannot be written, or ends with something else than a run.
    """
    with _written(path), path.open("a+b") as file:
        _drop_unfinished_line(file, path)
        file.write(run.to_line().encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Keep a file for those who enter; that it cannot be had shows before there is a run.

    Raises:
        DataError: It is compressed, cannot be written, or somebody else has reserved it.
    """
    if path.suffix == ".gz":
        raise DataError(
            f"{path} is compressed, so that no run can be added to it: write to another file; "
            "'hetbo bench compare' takes both"
        )
    with _written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DataError(
                    f"another run writes to {path}: wait for it, or write to another file"
                ) from error
            except OSError:
                # Some network drives have no locks: then it is up to the user.
                _logger.info("%s cannot be locked against other runs", path)
        yield


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error


def _drop_unfinished_line(file: BinaryIO, path: Path) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    whole, newline, rest = file.read().rpartition(b"\n")
    if not _is_cut_short(rest):
        raise DataError(f"{path} does not end with a run: it is not a file of ours")
    file.truncate(len(whole) + len(newline))
    file.seek(0, os.SEEK_END)


def _is_cut_short(line: bytes) -> bool:
    """Return whether a line without an end can be the beginning of a run's."""
    return line.startswith(_BEGINNING) or _BEGINNING.startswith(line)
