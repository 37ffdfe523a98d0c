"""Finished replications as JSON lines: the data that tables and figures are made from."""

import contextlib
import gzip
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from hetbo.errors import DataError, shown

_PACKAGES = ("hetbo", "numpy", "scipy", "torch", "gpytorch", "botorch")
_PEERS = ("optuna", "ax-platform", "baybe")


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
        try:
            listed = {"trace": tuple(data["trace"]), "seconds": tuple(data["seconds"])}
            return cls(**{**data, **listed})
        except KeyError as error:
            raise DataError(f"{shown(data)} is not a run: it has no {error}") from error
        except TypeError as error:
            raise DataError(f"{shown(data)} is not a run: {error}") from error


def read_runs(paths: Iterable[str | os.PathLike[str]]) -> list[Run]:
    """Return the runs in files of JSON lines, compressed (`.gz`) or not.

    A last line that a kill cut short is left out; of two runs of the same replication the first
    one counts.

    Raises:
        DataError: A file cannot be read, or a line in it is not a run.
    """
    found: dict[Job, Run] = {}
    for path in map(Path, paths):
        for run in _read(path):
            found.setdefault(run.job, run)
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
            return
        try:
            yield Run.from_json(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number} is not JSON: {error}") from error
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from error


def append_run(path: Path, run: Run) -> None:
    """Add a run to a file of JSON lines, at once; a line that a kill cut short goes first."""
    with path.open("a+b") as file:
        _drop_unfinished_line(file)
        file.write(run.to_line().encode())
        file.flush()
        os.fsync(file.fileno())


def _drop_unfinished_line(file: Any) -> None:  # noqa: ANN401  # a binary file
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that make a run."""
    found = {"python": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    for name in _PEERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
