"""Ways to read the same rows, so that the readers can be held to the same promises."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

import pandas as pd
import pytest

from hetbo import Experiment, Space
from hetbo.experiments import GoalName
from hetbo.experiments._options import OnInvalid
from hetbo.spaces import Value


class Options(TypedDict, total=False):
    """The options that all readers share."""

    value: str
    goal: GoalName
    space: Space | None
    noise: str | None
    rename: Mapping[str, str] | None
    drop: Sequence[str]
    categorical: Sequence[str]
    fixed: Mapping[str, Value] | None
    on_invalid: OnInvalid


class Read(Protocol):
    """Reads rows as an experiment called 'runs'; the measured values are in 'loss'."""

    def __call__(
        self, rows: Sequence[Mapping[str, object]], **options: Unpack[Options]
    ) -> Experiment: ...


WriteFile = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> WriteFile:
    """Write a file called runs.csv."""

    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "runs.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def _from_csv(path: Path) -> Read:
    def read(rows: Sequence[Mapping[str, object]], **options: Unpack[Options]) -> Experiment:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, dict.fromkeys(name for row in rows for name in row))
            writer.writeheader()
            writer.writerows(rows)
        options.setdefault("value", "loss")
        options.setdefault("goal", "minimize")
        return Experiment.from_csv(path, **options)

    return read


def _from_dataframe(rows: Sequence[Mapping[str, object]], **options: Unpack[Options]) -> Experiment:
    options.setdefault("value", "loss")
    options.setdefault("goal", "minimize")
    return Experiment.from_dataframe(pd.DataFrame(list(rows)), name="runs", **options)


def _from_records(rows: Sequence[Mapping[str, object]], **options: Unpack[Options]) -> Experiment:
    options.setdefault("value", "loss")
    options.setdefault("goal", "minimize")
    return Experiment.from_records(rows, name="runs", **options)


@pytest.fixture(params=["csv", "dataframe", "records"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Read:
    """Each of the readers in turn."""
    readers: dict[str, Read] = {
        "csv": _from_csv(tmp_path / "runs.csv"),
        "dataframe": _from_dataframe,
        "records": _from_records,
    }
    return readers[request.param]
