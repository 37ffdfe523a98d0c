"""The first suggestions, when there are sources and no trial of the target yet."""

import numpy as np
import pytest

from hetbo import Experiment, Float, Optimizer, SourceWarning, Space, Trial
from hetbo.methods import METHODS

TRANSFER = [
    name
    for name, recipe in METHODS.items()
    if any(member.transfers for member in recipe.members.values())
]
every_transfer_method = pytest.mark.parametrize("method", TRANSFER)

OPTIMUM = {"a": 0.35, "b": 0.7}
OLD = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0))
NEW = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0), c=Float(0.0, 1.0))


def bowl(a: float, b: float, c: float = 0.5) -> float:
    return (a - OPTIMUM["a"]) ** 2 + (b - OPTIMUM["b"]) ** 2 + 0.2 * (c - 0.5) ** 2


def source(count: int = 20, seed: int = 0) -> Experiment:
    """Trials that leave out the neighbourhood of the optimum."""
    rng = np.random.default_rng(seed)
    trials: list[Trial] = []
    while len(trials) < count:
        a, b = rng.random(2).tolist()
        if max(abs(a - OPTIMUM["a"]), abs(b - OPTIMUM["b"])) > 0.2:
            trials.append(Trial({"a": a, "b": b}, bowl(a, b)))
    return Experiment("old", OLD, trials, goal="minimize")


def first(method: str, seed: int) -> dict[str, float]:
    params = (
        Optimizer(NEW, sources=[source()], method=method, seed=seed, goal="minimize").ask().params
    )
    return {name: float(value or 0.0) for name, value in params.items()}


def gap(params: dict[str, float]) -> float:
    """How far a point is from the optimum in the parameters of the source."""
    return max(abs(params[name] - best) for name, best in OPTIMUM.items())


@every_transfer_method
def test_the_first_suggestion_is_near_the_optimum_that_the_source_implies(method: str) -> None:
    best = source().best
    assert best is not None
    assert gap({name: float(value or 0.0) for name, value in best.params.items()}) > 0.2
    made = [first(method, seed) for seed in range(2)]
    # Nearer than any trial of the source: it is not merely the best of them.
    assert max(gap(params) for params in made) < 0.2


@every_transfer_method
def test_the_first_suggestion_is_better_than_a_random_one(method: str) -> None:
    made = [bowl(**first(method, seed)) for seed in range(2)]
    random = [bowl(*point) for point in np.random.default_rng(0).random((500, 3)).tolist()]
    assert np.mean(made) < np.quantile(random, 0.15)


@every_transfer_method
def test_start_up_points_cover_new_parameters(method: str) -> None:
    tuner = Optimizer(NEW, sources=[source()], method=method, seed=1, goal="minimize")
    c = sorted(float(s.params["c"] or 0.0) for s in tuner.ask(4))
    assert (np.diff(c) > 0.05).sum() >= 2
    assert c[-1] - c[0] > 0.4


def test_an_empty_source_is_like_none() -> None:
    alone = Optimizer(OLD, seed=3, goal="minimize")
    assert (
        Optimizer(
            OLD, sources=[Experiment("empty", OLD, goal="minimize")], seed=3, goal="minimize"
        ).ask()
        == alone.ask()
    )
    failed = Experiment(
        "failed", OLD, [Trial({"a": 0.1, "b": 0.2}, state="failed")], goal="minimize"
    )
    assert (
        Optimizer(OLD, sources=[failed], seed=3, goal="minimize").ask().params
        == alone.trials[0].params
    )


def test_a_source_in_the_other_direction_is_read_with_its_own_goal() -> None:
    negated = [Trial(trial.params, -float(trial.value or 0.0)) for trial in source().trials]
    other = Experiment("negated", OLD, negated, goal="maximize")
    with pytest.warns(SourceWarning, match="was to maximize"):
        tuner = Optimizer(NEW, sources=[other], seed=0, goal="minimize")
    assert gap({n: float(v or 0.0) for n, v in tuner.ask().params.items()}) < 0.2


@pytest.mark.parametrize("method", ["vanilla", "random"])
def test_methods_without_transfer_ignore_sources(method: str) -> None:
    with_source = Optimizer(
        OLD, sources=[source()], method=method, seed=5, n_initial=2, goal="minimize"
    )
    without = Optimizer(OLD, method=method, seed=5, n_initial=2, goal="minimize")
    for _ in range(4):
        one, other = with_source.ask(), without.ask()
        assert one == other
        with_source.tell(one, bowl(**one.params))  # type: ignore[arg-type]
        without.tell(other, bowl(**other.params))  # type: ignore[arg-type]
