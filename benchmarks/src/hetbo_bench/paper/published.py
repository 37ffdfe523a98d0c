"""The paper's own runs: where each replication started, and how it went.

They lie in a folder that is not part of the package: the one that the environment variable
`HETBO_PUBLISHED` names, or `../shared/data/published` seen from the working directory. The means
over the replications are facts of the paper and come with the package (`published_means.json`).
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from hetbo.cli import read_json
from hetbo.errors import DataError

FOLDER_VARIABLE = "HETBO_PUBLISHED"
_BESIDE = Path("../shared/data/published")

Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Replication:
    """Where a published replication started.

    Attributes:
        source_points: The points of each source's trials.
        source_values: The values of each source's trials.
        first_points: The first points of the target.
        first_values: Their values.
    """

    source_points: Sequence[Matrix]
    source_values: Sequence[Sequence[float]]
    first_points: Matrix
    first_values: Sequence[float]


def published_folder() -> Path | None:
    """Return the folder of the paper's own runs; None if it is not available.

    Raises:
        DataError: The environment names a folder that does not exist.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named is None:
        return _BESIDE.resolve() if _BESIDE.is_dir() else None
    if not Path(named).is_dir():
        raise DataError(
            f"{FOLDER_VARIABLE}={named!r} is not a folder: let it name that of the paper's runs, "
            "or unset it"
        )
    return Path(named).resolve()


def read_published(name: str) -> Any | None:  # noqa: ANN401  # JSON
    """Return what a file of the published runs holds; None if the folder is not available."""
    folder = published_folder()
    return None if folder is None else _read(folder / name)


def replications_of(problem: str) -> tuple[Replication, ...] | None:
    """Return the starts of a published problem's replications; None if they are not available."""
    folder = published_folder()
    if folder is None or not (folder / f"replications_{problem}.json").is_file():
        return None
    return _replications(folder / f"replications_{problem}.json")


def traces_of(problem: str) -> Mapping[str, Matrix] | None:
    """Return the published best values so far, by method: 50 replications of 40 evaluations."""
    folder = published_folder()
    if folder is None or not (folder / "traces.json").is_file():
        return None
    data = _read(folder / "traces.json")
    try:
        traces: Mapping[str, Matrix] | None = data[problem]["traces"] if problem in data else None
    except (KeyError, TypeError) as error:
        message = f"{folder / 'traces.json'} does not hold published traces: {error!r}"
        raise DataError(message) from error
    return traces


@dataclass(frozen=True, slots=True)
class PublishedCurve:
    """A published method's mean over its replications.

    Attributes:
        mean: The best value so far after each evaluation.
        standard_error: The standard error of each mean.
    """

    mean: tuple[float, ...]
    standard_error: tuple[float, ...]


@cache
def published_curves() -> Mapping[str, Mapping[str, PublishedCurve]]:
    """Return the paper's curves by problem and method; they come with the package."""
    text = resources.files("hetbo_bench.paper").joinpath("published_means.json").read_text("utf-8")
    return {
        problem: {
            method: PublishedCurve(tuple(curve["mean"]), tuple(curve["standard_error"]))
            for method, curve in methods.items()
        }
        for problem, methods in json.loads(text)["problems"].items()
    }


@cache
def _read(path: Path) -> Any:  # noqa: ANN401  # JSON
    return read_json(path)


@cache
def _replications(path: Path) -> tuple[Replication, ...]:
    try:
        return tuple(
            Replication(
                r["source_X"],
                [[_number(v) for v in values] for values in r["source_y"]],
                r["initial_X"],
                [_number(value) for value in r["initial_y"]],
            )
            for r in _read(path)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} does not hold published replications: {error!r}") from error


def _number(value: Any) -> float:  # noqa: ANN401  # JSON
    """Return a number that may stand in a list of its own."""
    return float(value[0] if isinstance(value, list) else value)
