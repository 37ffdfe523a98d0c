"""The problems on real measurements: which tables, what differs, where they start, what is best."""

import csv
import math
from importlib import resources

import numpy as np
import pytest
from scipy.stats import spearmanr

from hetbo.errors import DataError
from hetbo.experiments import Goal, Trial
from hetbo.spaces import Categorical
from hetbo_bench.problems.named import FAMILIES, problem_named
from hetbo_bench.problems.problem import FIRST_TRIALS
from hetbo_bench.problems.real import (
    REAL,
    random_trials,
    real_problems,
    real_suite,
    real_table,
    searched_trials,
)
from hetbo_bench.running.replication import replicate
from hetbo_bench.running.suites import SUITES

DIFFERENCES = {
    "convolution": ({"use_shmem"}, {"convolution-A4000": set()}),
    "convolution-unlike": (set(), {"convolution-A6000": set()}),
    "dedispersion": ({"tile_stride_x", "tile_stride_y"}, {"dedispersion-A4000": set()}),
    "catalysts": (
        {"sn_load"},
        {"oer-plate-3851": {"ni_load"}, "oer-plate-3496": {"ni_load", "ce_load", "la_load"}},
    ),
    "suzuki": (set(), {"suzuki-i": set(), "suzuki-ii": set(), "suzuki-iii": set()}),
    "buchwald": (set(), {"buchwald-a": set(), "buchwald-b": set()}),
}
"""What no source tunes, and what each source alone tunes."""
DIFFERENCES["catalysts-unknown"] = DIFFERENCES["catalysts"]


def written(name: str) -> list[dict[str, str]]:
    """Return a table as it is written, read without pandas and without hetbo."""
    text = resources.files("hetbo_bench.data").joinpath("real", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize("name", REAL)
def test_sources_differ_from_the_target_as_described(name: str) -> None:
    problem = problem_named(name)
    new, old = DIFFERENCES[name]
    tuned = set().union(*problem.source_spaces.values())
    assert set(problem.space) - tuned == new
    assert {source: set(s) - set(problem.space) for source, s in problem.source_spaces.items()} == (
        old
    )


@pytest.mark.parametrize("name", REAL)
def test_the_optimum_is_the_best_row_of_the_targets_table(name: str) -> None:
    problem = problem_named(name)
    rows = written(REAL[name].target)
    if problem.goal is Goal.MAXIMIZE:
        assert set(rows[0]) - set(problem.space) == {"yield"}
        assert problem.optimum == max(float(row["yield"]) for row in rows)
    elif "time" in rows[0]:
        assert problem.optimum == pytest.approx(math.log(min(float(row["time"]) for row in rows)))
    else:
        assert problem.optimum == min(float(row["overpotential"]) for row in rows)
    assert problem.candidates is not None
    values = [problem.evaluate(params) for params in problem.candidates]
    assert problem.optimum == problem.goal.sign * max(problem.goal.sign * v for v in values)


@pytest.mark.parametrize("name", [*REAL, "suzuki-searched", "catalysts-searched"])
def test_starts_are_rows_of_the_tables(name: str) -> None:
    problem = problem_named(f"{name}_5")
    start = problem.start(3)
    assert start == problem.start(3)
    assert start != problem.start(4)
    assert len(start.trials) == FIRST_TRIALS
    assert all(problem.evaluate(t.params) == t.value for t in start.trials)
    family = REAL[name.removesuffix("-searched")]
    for source in start.sources:
        rows = {
            tuple(t.params.items()): t.value
            for t in real_table(source.name, tuple(family.held.items())).trials
        }
        assert len({tuple(t.params.values()) for t in source.trials}) == 5
        assert all(rows[tuple(t.params.items())] == t.value for t in source.trials)


def test_what_sources_held_fixed_is_not_told() -> None:
    rows = [row for row in written("convolution-A4000") if row["use_shmem"] == "1"]
    table = real_table("convolution-A4000", (("use_shmem", 1),))
    assert len(table.trials) == len(rows) > 300
    assert table.trials[0].params["block_size_x"] == int(rows[0]["block_size_x"])
    assert table.trials[0].value == pytest.approx(math.log(float(rows[0]["time"])))
    assert all(not source.fixed for source in problem_named("convolution").start(0).sources)
    strides = [(r["tile_stride_x"], r["tile_stride_y"]) for r in written("dedispersion-A4000")]
    for column in (0, 1):
        ones = sum(pair[column] == "1" for pair in strides)
        assert ones < len(strides) / 2, "the source holds the most frequent value"


def test_missing_metals_are_zero_or_unknown() -> None:
    known, unknown = problem_named("catalysts"), problem_named("catalysts-unknown")
    assert known.fixed == {"ni_load": 0.0, "ce_load": 0.0, "la_load": 0.0}
    assert {source.name: dict(source.fixed) for source in known.start(0).sources} == {
        "oer-plate-3851": {"sn_load": 0.0},
        "oer-plate-3496": {"sn_load": 0.0, "ta_load": 0.0, "cu_load": 0.0},
    }
    assert not unknown.fixed
    assert not any(source.fixed for source in unknown.start(0).sources)
    assert known.start(0).trials == unknown.start(0).trials


def test_repeated_measurements_are_averaged() -> None:
    rows = written("suzuki-iv")
    repeated: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        *params, value = row.values()
        repeated.setdefault(tuple(params), []).append(float(value))
    table = real_table("suzuki-iv")
    assert len(table.trials) == len(repeated) < len(rows)
    assert [t.value for t in table.trials] == pytest.approx([*map(np.mean, repeated.values())])


def test_halides_are_other_ones_and_the_rest_is_shared() -> None:
    problem = problem_named("buchwald")
    for space in problem.source_spaces.values():
        for name, parameter in space.items():
            own = problem.space[name]
            assert isinstance(parameter, Categorical)
            assert isinstance(own, Categorical)
            shared = set(parameter.choices) & set(own.choices)
            assert shared == (set() if name == "aryl_halide" else set(own.choices))


@pytest.mark.parametrize(
    ("name", "low", "high"), [("convolution", 0.8, 0.9), ("convolution-unlike", -0.1, 0.1)]
)
def test_how_alike_gpus_are(name: str, low: float, high: float) -> None:
    family = REAL[name]
    source = real_table(family.sources[0], tuple(family.held.items()))
    values = {tuple(t.params.values()): t.value for t in source.trials}
    pairs = [
        (values[key], trial.value)
        for trial in real_table(family.target).trials
        if (key := tuple(trial.params[p] for p in source.space)) in values
        and all(trial.params[p] == at for p, at in family.held.items())
    ]
    assert len(pairs) > 1000
    assert low < spearmanr(*zip(*pairs, strict=True)).statistic < high


def test_a_search_finds_better_trials_than_chance_and_goes_on_as_it_began() -> None:
    table = real_table("oer-plate-3851")
    found = searched_trials(table, 0, 40)
    assert searched_trials(table, 0, 10) == found[:10]
    assert searched_trials(table, 1, 10) != found[:10]
    assert len({tuple(t.params.values()) for t in found}) == 40

    def mean(trials: tuple[Trial, ...]) -> float:
        return math.fsum(t.value or 0.0 for t in trials) / len(trials)

    assert mean(found[20:]) < mean(random_trials(table, 0, 20))


def test_the_suite_has_all_sizes_of_both_origins() -> None:
    assert set(real_problems()) <= set(FAMILIES)
    assert len(real_suite()) == len(set(real_suite())) == 2 * (6 * 4 + 2)
    assert {name.rpartition("_")[0] for name in real_suite()} == set(real_problems())
    assert SUITES["real"].problems == real_suite()


def test_a_source_cannot_have_more_trials_than_its_table() -> None:
    with pytest.raises(DataError, match="100 source trials are more than the 74 of suzuki-i"):
        problem_named("suzuki_100")


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("method", ["random", "vanilla"])
def test_each_problem_can_be_run(name: str, method: str) -> None:
    problem = problem_named(f"{name}_5")
    outcome = replicate(problem, method, 0, evaluations=FIRST_TRIALS + 3)
    assert len(outcome.trace) == FIRST_TRIALS + 3
