"""Wrappers change the sources' values and nothing else."""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo_bench.problems.problem import Problem, Start
from hetbo_bench.problems.wrappers import (
    _LENGTH_SCALE,
    MISLEADING,
    negated,
    random_function,
    shuffled,
    unrelated,
)

SOURCE = Space(x=Float(1e-3, 1.0, log=True), k=Int(1, 9), kind=Categorical("a", "b", "c"))
ONE = Space(x=Float(1e-3, 1.0, log=True))
TARGET = SOURCE.replace(z=Float(0.0, 1.0))
SIZE = 40


def value_of(params: Mapping[str, Value]) -> float:
    return float(np.log(float(params["x"] or 0.0))) + 5.0


def drawn(space: Space, rng: np.random.Generator) -> dict[str, Value]:
    every: dict[str, Value] = {
        "x": float(10 ** rng.uniform(-3, 0)),
        "k": int(rng.integers(1, 10)),
        "kind": "abc"[rng.integers(3)],
        "z": float(rng.random()),
    }
    return {name: every[name] for name in space}


def start(replication: int) -> Start:
    rng = np.random.default_rng(replication)
    sources = []
    for name, space in {"mixed": SOURCE, "numeric": ONE}.items():
        rows = [drawn(space, rng) for _ in range(SIZE)]
        trials = [Trial(row, value_of(row)) for row in rows]
        trials.insert(3, Trial(drawn(space, rng), state="failed"))
        sources.append(Experiment(name, space, trials, goal=Goal.MAXIMIZE, fixed={"z": 0.5}))
    sources.append(Experiment("single", ONE, [Trial({"x": 0.5}, 2.0)], goal=Goal.MAXIMIZE))
    sources.append(Experiment("empty", ONE, goal=Goal.MAXIMIZE))
    first = [drawn(TARGET, rng) for _ in range(5)]
    return Start(tuple(sources), tuple(Trial(row, value_of(row)) for row in first))


PROBLEM = Problem(
    name="line",
    summary="a line",
    space=TARGET,
    source_spaces={"mixed": SOURCE, "numeric": ONE, "single": ONE, "empty": ONE},
    goal=Goal.MAXIMIZE,
    start=start,
    evaluate=value_of,
    optimum=5.0,
    published="line_30",
)


def values(source: Experiment) -> list[float]:
    return [trial.value for trial in source.trials if trial.value is not None]


@pytest.mark.parametrize("name", MISLEADING)
@pytest.mark.parametrize("replication", range(3))
def test_all_but_the_values_of_sources_stays(name: str, replication: int) -> None:
    wrapped = MISLEADING[name](PROBLEM)
    assert (wrapped.name, wrapped.published) == (f"line/{name}", None)
    assert name in wrapped.summary
    assert (wrapped.space, wrapped.optimum, wrapped.evaluate) == (TARGET, 5.0, value_of)
    before, after = PROBLEM.start(replication), wrapped.start(replication)
    assert after.trials == before.trials
    for old, new in zip(before.sources, after.sources, strict=True):
        assert (new.name, new.space, new.goal, new.fixed) == (
            old.name,
            old.space,
            old.goal,
            old.fixed,
        )
        assert [t.params for t in new.trials] == [t.params for t in old.trials]
        assert [t.state for t in new.trials] == [t.state for t in old.trials]
    assert values(after.sources[0]) != values(before.sources[0])


@pytest.mark.parametrize("wrap", MISLEADING.values())
def test_a_replication_starts_the_same_way_each_time(wrap: Callable[[Problem], Problem]) -> None:
    assert wrap(PROBLEM).start(2) == wrap(PROBLEM).start(2)


@pytest.mark.parametrize("replication", range(5))
def test_shuffled_values_are_the_same_in_another_order(replication: int) -> None:
    before, after = PROBLEM.start(replication), shuffled(PROBLEM).start(replication)
    for old, new in zip(before.sources, after.sources, strict=True):
        assert Counter(values(new)) == Counter(values(old))


def test_sources_and_replications_are_shuffled_each_in_its_own_way() -> None:
    def order(replication: int, source: int) -> list[int]:
        old = values(PROBLEM.start(replication).sources[source])
        return [
            old.index(value)
            for value in values(shuffled(PROBLEM).start(replication).sources[source])
        ]

    orders = [order(replication, source) for replication in (0, 1) for source in (0, 1)]
    assert len(set(map(tuple, orders))) == 4


def test_negating_twice_changes_nothing() -> None:
    once, twice = negated(PROBLEM), negated(negated(PROBLEM))
    assert values(once.start(0).sources[1]) == [-v for v in values(PROBLEM.start(0).sources[1])]
    assert twice.start(0) == PROBLEM.start(0)


def test_wrappers_compose() -> None:
    both = negated(shuffled(PROBLEM))
    assert both.name == "line/shuffled/negated"
    assert values(both.start(1).sources[0]) == [
        -v for v in values(shuffled(PROBLEM).start(1).sources[0])
    ]


@pytest.mark.parametrize("replication", range(3))
def test_unrelated_values_have_the_mean_and_the_spread_of_the_old_ones(replication: int) -> None:
    before, after = PROBLEM.start(replication), unrelated(PROBLEM).start(replication)
    for old, new in zip(before.sources[:3], after.sources[:3], strict=True):
        assert np.mean(values(new)) == pytest.approx(np.mean(values(old)))
        assert np.std(values(new)) == pytest.approx(np.std(values(old)))


def test_unrelated_values_are_unrelated_on_average() -> None:
    count = 100
    found = np.empty((count, 2))
    for replication in range(count):
        before, after = PROBLEM.start(replication), unrelated(PROBLEM).start(replication)
        for i in (0, 1):
            old, new = values(before.sources[i]), values(after.sources[i])
            found[replication, i] = np.corrcoef(old, new)[0, 1]
    assert (np.abs(found.mean(axis=0)) < 4 * found.std(axis=0) / np.sqrt(count)).all()


def test_unrelated_values_are_a_function_of_the_parameters() -> None:
    twin: dict[str, Value] = {"x": 0.1, "k": 4, "kind": "b"}
    rows = [twin, {**twin, "x": 0.9}, twin, {**twin, "kind": "c"}]
    trials = [Trial(row, float(i)) for i, row in enumerate(rows)]
    source = Experiment("twins", SOURCE, trials, goal=Goal.MAXIMIZE)
    problem = Problem(
        name="twins",
        summary="two equal trials",
        space=TARGET,
        source_spaces={"twins": SOURCE},
        goal=Goal.MAXIMIZE,
        start=lambda _: Start((source,), ()),
        evaluate=value_of,
        optimum=5.0,
    )
    found = values(unrelated(problem).start(0).sources[0])
    assert found[0] == pytest.approx(found[2])
    assert len(set(np.round(found, 6))) == 3


def test_random_functions_have_the_covariance_of_their_kernel() -> None:
    X = np.array([[0.2, 0.2], [0.2, 0.4], [0.9, 0.9]])
    draws = np.array([random_function(2, np.random.default_rng(seed))(X) for seed in range(4000)])
    squared = ((X[:, np.newaxis] - X[np.newaxis]) ** 2).sum(axis=-1)
    kernel = np.exp(-squared / (2 * _LENGTH_SCALE**2 * 2))
    assert np.abs(np.cov(draws.T) - kernel).max() < 0.12
    assert np.abs(draws.mean(axis=0)).max() < 0.08
