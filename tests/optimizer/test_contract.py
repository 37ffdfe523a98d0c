"""What every method promises, whatever it does inside."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from hetbo import (
    Categorical,
    Experiment,
    Float,
    Goal,
    Int,
    Optimizer,
    Space,
    Suggestion,
    Trial,
    TrialState,
)
from hetbo.methods import METHODS
from hetbo.spaces import Value

every_method = pytest.mark.parametrize("method", METHODS)

SPACE = Space(
    rate=Float(1e-3, 1.0, log=True),
    depth=Int(1, 6),
    kind=Categorical("a", "b"),
    new=Float(-1.0, 1.0),
)
OLD = Space(rate=Float(1e-4, 1.0, log=True), depth=Int(1, 6), gone=Float(0.0, 1.0))
OLDER = Space(rate=Float(1e-3, 1.0, log=True), kind=Categorical("a", "b", "c"))


def objective(params: Mapping[str, Value]) -> float:
    rate, depth = float(params["rate"] or 1), float(params.get("depth") or 3)
    value = (np.log10(rate) + 1.5) ** 2 + 0.1 * abs(depth - 3) + float(params.get("new") or 0) ** 2
    return float(value + (params.get("kind") == "b"))


def source(name: str, space: Space, *, sign: int = 1, seed: int = 0) -> Experiment:
    rng = np.random.default_rng(seed)
    trials = []
    for _ in range(8):
        params: dict[str, Value] = {"rate": float(10 ** rng.uniform(-3, 0))}
        params |= {"depth": int(rng.integers(1, 7))} if "depth" in space else {}
        params |= {"gone": float(rng.random())} if "gone" in space else {}
        params |= {"kind": str(rng.choice(["a", "b", "c"]))} if "kind" in space else {}
        trials.append(Trial(params, sign * objective(params)))
    goal = Goal.MINIMIZE if sign == 1 else Goal.MAXIMIZE
    return Experiment(name, space, [*trials, Trial(params, state="failed")], goal=goal)


def sources(count: int, *, sign: int = 1) -> list[Experiment]:
    every = [
        source("old", OLD, sign=sign, seed=1),
        source("older", OLDER, sign=sign, seed=2),
        Experiment("empty", OLD, goal="minimize"),
    ]
    return every[:count]


def points(suggestions: Sequence[Suggestion]) -> set[tuple[Value, ...]]:
    return {tuple(suggestion.params.values()) for suggestion in suggestions}


@every_method
@pytest.mark.parametrize("count", [0, 1, 3])
def test_suggestions_fit_the_space(method: str, count: int) -> None:
    given = sources(count)
    before = [experiment.to_json() for experiment in given]
    optimizer = Optimizer(SPACE, sources=given, method=method, seed=1, n_initial=1, goal="minimize")
    made = []
    for number in range(2):
        suggestion = optimizer.ask()
        assert suggestion.number == number
        assert SPACE.check(suggestion.params) == suggestion.params
        optimizer.tell(suggestion, objective(suggestion.params))
        made.append(suggestion)
    assert len(points(made)) == 2
    assert [experiment.to_json() for experiment in given] == before
    assert {trial.state for trial in optimizer.trials} == {TrialState.COMPLETE}
    assert optimizer.best is not None
    assert optimizer.best.value == min(objective(s.params) for s in made)


@every_method
def test_only_candidates_are_suggested_each_once(method: str) -> None:
    rng = np.random.default_rng(3)
    candidates: list[Mapping[str, Value]] = [
        {"rate": float(10 ** rng.uniform(-3, 0)), "depth": d, "kind": k, "new": 0.5}
        for d, k in [(1, "a"), (3, "a"), (6, "b")]
    ]
    optimizer = Optimizer(
        SPACE,
        sources=sources(1),
        method=method,
        seed=0,
        n_initial=1,
        candidates=candidates,
        goal="minimize",
    )
    made = []
    for _ in range(3):
        made.append(optimizer.ask())
        optimizer.tell(made[-1], objective(made[-1].params))
    # Exactly as they were given: users look them up in their table.
    assert points(made) == {tuple(candidate.values()) for candidate in candidates}
    assert optimizer.ask().params in candidates


@every_method
def test_pending_suggestions_are_kept_away_from(method: str) -> None:
    optimizer = Optimizer(
        SPACE, sources=sources(1), method=method, seed=2, n_initial=1, goal="minimize"
    )
    first = optimizer.ask()
    optimizer.tell(first, objective(first.params))
    made = [first, *optimizer.ask(3), optimizer.ask()]
    assert [s.number for s in made] == [0, 1, 2, 3, 4]
    X = optimizer._engine.encoder.encode([s.params for s in made])
    distances = np.abs(np.nan_to_num(X[:, np.newaxis] - X)).max(-1) + np.eye(5)
    assert distances.min() > 1e-3
    optimizer.tell(made[4], 1.0)
    optimizer.tell(made[2], 2.0)
    states = [trial.state.value for trial in optimizer.trials]
    assert states == ["complete", "pending", "complete", "pending", "complete"]


@every_method
@pytest.mark.parametrize("count", [0, 1])
def test_failures_do_not_stop_it(method: str, count: int) -> None:
    optimizer = Optimizer(
        SPACE, sources=sources(count), method=method, seed=3, n_initial=2, goal="minimize"
    )
    made = []
    for _ in range(2):  # all fail
        made.append(optimizer.ask())
        optimizer.tell_failure(made[-1])
    assert optimizer.best is None
    made.append(optimizer.ask())
    optimizer.tell(made[-1], objective(made[-1].params))
    made.append(optimizer.ask())
    assert len(points(made)) == 4
    assert [trial.state.value for trial in optimizer.trials[:2]] == ["failed"] * 2
    assert optimizer.best == optimizer.trials[2]


@every_method
def test_minimising_is_maximising_the_negative(method: str) -> None:
    down = Optimizer(SPACE, sources=sources(2), method=method, seed=4, n_initial=1, goal="minimize")
    up = Optimizer(
        SPACE, sources=sources(2, sign=-1), goal="maximize", method=method, seed=4, n_initial=1
    )
    for _ in range(2):
        one, other = down.ask(), up.ask()
        assert one == other
        down.tell(one, objective(one.params))
        up.tell(other, -objective(other.params))


@every_method
def test_small_spaces_are_exhausted_before_anything_is_repeated(method: str) -> None:
    small = Space(depth=Int(1, 3), kind=Categorical("a", "b"))
    old = Experiment(
        "old", Space(depth=Int(1, 3)), [Trial({"depth": d}, d) for d in (1, 2, 3)], goal="minimize"
    )
    optimizer = Optimizer(small, sources=[old], method=method, seed=5, n_initial=4, goal="minimize")
    made = optimizer.ask(2)
    for suggestion in made:
        optimizer.tell(suggestion, suggestion.number)
    made += optimizer.ask(4)
    assert len(points(made)) == 6
    assert small.check(optimizer.ask().params)


@every_method
def test_it_explains_itself(method: str) -> None:
    optimizer = Optimizer(
        SPACE, sources=sources(1), method=method, seed=6, n_initial=1, goal="minimize"
    )
    for suggestion in optimizer.ask(2):
        optimizer.tell(suggestion, objective(suggestion.params))
    explanation = optimizer.explain()
    assert str(explanation) == explanation.sentence
    assert explanation.sentence.endswith(".")
    assert not METHODS[method].members or sum(explanation.models.values()) == pytest.approx(1.0)


def test_the_methods_are_these() -> None:
    papers = {"vanilla", "common", "conditional", "fixed-imputation", "learned-imputation"}
    assert set(METHODS) == {"auto", "random", *papers}
    assert all(recipe.summary for recipe in METHODS.values())
