"""Runs by problem and method, and what is refused."""

import numpy as np
import pytest

from helpers import refused
from hetbo.errors import DataError
from hetbo_bench.analysis.comparison import compare
from hetbo_bench.analysis.grouping import averages, runs_by_problem
from hetbo_bench.running.runs import Run
from made_runs import drawn_traces, made_run, made_runs

TRACES = drawn_traces(0, 3)


def test_runs_are_in_order_whatever_order_they_come_in() -> None:
    runs = [
        *made_runs("vanilla", TRACES, problem="b"),
        *made_runs("auto", TRACES, problem="b"),
        *made_runs("ax", TRACES, problem="a"),
    ]
    shuffled = [runs[i] for i in np.random.default_rng(0).permutation(len(runs))]
    grouped = runs_by_problem(shuffled)
    assert list(grouped) == ["a", "b"]
    assert list(grouped["b"].methods) == ["auto", "vanilla"]
    assert grouped["b"].methods["auto"].replications == (0, 1, 2)
    assert grouped["b"].methods["auto"].traces.tolist() == TRACES
    assert compare(shuffled) == compare(runs)


def test_averages_are_over_evaluations_6_to_40() -> None:
    trace = [100.0] * 5 + list(range(6, 41)) + [1000.0] * 2
    assert averages(np.array([trace]))[0] == pytest.approx(23.0)
    assert averages(np.array([trace[:8]]))[0] == pytest.approx(7.0)


def test_seconds_are_the_median_of_all_suggestions() -> None:
    runs = [
        made_run(TRACES[0], replication=0, seconds=(1.0, 2.0, 3.0)),
        made_run(TRACES[1], replication=1, seconds=(10.0, 20.0)),
        made_run(TRACES[2], replication=0, method="random", seconds=()),
    ]
    methods = runs_by_problem(runs)["made"].methods
    assert methods["vanilla"].seconds == 3.0
    assert methods["random"].seconds is None


def test_shared_replications_are_those_of_all_methods() -> None:
    runs = [*made_runs("auto", TRACES), *made_runs("vanilla", TRACES, first=1)]
    assert runs_by_problem(runs)["made"].shared == (1, 2)


def test_only_the_methods_asked_for_are_looked_at() -> None:
    runs = [*made_runs("auto", TRACES), *made_runs("ax", TRACES, problem="other")]
    assert list(runs_by_problem(runs, methods=["auto"])) == ["made"]
    with refused(DataError, "'axe'", "auto, ax"):
        runs_by_problem(runs, methods=["axe"])
    with refused(DataError, "methods=()"):
        runs_by_problem(runs, methods=())


def test_no_runs_are_refused() -> None:
    with refused(DataError, "no runs", "hetbo bench run"):
        compare([])


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (made_run(TRACES[0], method="ax", optimum=9.0), ("optimum 9.0", "made, ax, replication 0")),
        (made_run(TRACES[0], method="ax", goal="minimize"), ("goal 'minimize'",)),
        (made_run(TRACES[0], method="ax", published="p"), ("from published trials", "drawn")),
        (made_run(TRACES[0][:20], method="ax"), ("20 evaluations", "40")),
        (made_run([*TRACES[0][:39], float("nan")], method="ax"), ("not a finite number",)),
        (made_run(TRACES[0]), ("made, vanilla, replication 0 is there twice",)),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(other: Run, parts: tuple[str, ...]) -> None:
    with refused(DataError, *parts):
        compare([made_run(TRACES[0]), other])


def test_runs_without_a_choice_are_refused() -> None:
    with refused(DataError, "5 evaluations", "at least 6"):
        compare([made_run(TRACES[0][:5])])
