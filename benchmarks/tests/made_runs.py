"""Runs of benchmarks for tests, made up."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from hetbo_bench.paper.published import FOLDER_VARIABLE
from hetbo_bench.running.runs import Run

PUBLISHED_METHODS = (
    "common",
    "conditional",
    "fixed-imputation",
    "learned-imputation",
    "random",
    "vanilla",
)


def made_run(
    trace: Sequence[float],
    *,
    problem: str = "made",
    method: str = "vanilla",
    replication: int = 0,
    goal: str = "maximize",
    optimum: float = 10.0,
    published: str | None = None,
    seconds: Sequence[float] = (0.5,),
) -> Run:
    """Return a run with this trace."""
    return Run(
        problem=problem,
        method=method,
        replication=replication,
        seed=replication,
        goal=goal,
        optimum=optimum,
        published=published,
        starts="drawn" if published is None else "published",
        trace=tuple(map(float, trace)),
        seconds=tuple(seconds),
        versions={},
    )


def drawn_traces(seed: int, count: int, *, evaluations: int = 40) -> list[list[float]]:
    """Return rising traces between 0 and 10, a row per replication."""
    values = np.random.default_rng(seed).uniform(0.0, 10.0, (count, evaluations))
    traces: list[list[float]] = np.maximum.accumulate(np.sort(values)[:, ::2].repeat(2, 1)).tolist()
    return traces


def made_runs(
    method: str,
    traces: Sequence[Sequence[float]],
    *,
    problem: str = "made",
    goal: str = "maximize",
    published: str | None = None,
    first: int = 0,
) -> list[Run]:
    """Return a run for each trace; if lower values are better, of the negated traces."""
    sign = 1.0 if goal == "maximize" else -1.0
    return [
        made_run(
            [sign * value for value in trace],
            problem=problem,
            method=method,
            replication=first + r,
            goal=goal,
            optimum=sign * 10.0,
            published=published,
        )
        for r, trace in enumerate(traces)
    ]


def publish(
    traces: Mapping[str, Sequence[Sequence[float]]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    problem: str = "hartmann_30",
) -> None:
    """Make a folder of published runs, and let hetbo find it."""
    (folder / "traces.json").write_text(json.dumps({problem: {"traces": traces}}), "utf-8")
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))


def without_published(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hetbo find no folder of published runs."""
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(folder)
