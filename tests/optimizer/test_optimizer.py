"""Asking and telling: every way to do it right, and what happens when it is done wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc

from helpers import refused
from hetbo import (
    Categorical,
    DataError,
    DataWarning,
    Experiment,
    Float,
    Int,
    MergeError,
    Optimizer,
    OptimizerError,
    Space,
    SpaceError,
    Suggestion,
    Trial,
    TrialState,
)

SPACE = Space(a=Float(0.0, 1.0), b=Int(1, 5))


def optimizer(**options: Any) -> Optimizer:  # noqa: ANN401
    return Optimizer(SPACE, **{"goal": "minimize", "seed": 0, "method": "vanilla", **options})


def test_tell_takes_a_suggestion_a_number_or_parameters() -> None:
    tuner = optimizer()
    first, second = tuner.ask(2)
    tuner.tell(second, 2.0)
    tuner.tell(first.number, np.float64(1.0))
    tuner.tell({"b": 3, "a": 0.5}, 3)
    tuner.tell(np.int64(tuner.ask().number), 4.0)  # type: ignore[arg-type]  # works all the same
    assert [trial.value for trial in tuner.trials] == [1.0, 2.0, 3.0, 4.0]
    assert [trial.params for trial in tuner.trials[:2]] == [first.params, second.params]
    assert tuner.trials[2].params == {"a": 0.5, "b": 3}
    assert all(type(trial.value) is float for trial in tuner.trials)


def test_failures_are_told_in_the_same_ways() -> None:
    tuner = optimizer()
    first, second = tuner.ask(2)
    tuner.tell_failure(first)
    tuner.tell_failure(second.number)
    tuner.tell_failure({"a": 0.5, "b": 3})
    assert [trial.state for trial in tuner.trials] == [TrialState.FAILED] * 3
    assert tuner.best is None


def test_ask_gives_one_or_a_list() -> None:
    tuner = optimizer()
    assert isinstance(tuner.ask(), Suggestion)
    assert [s.number for s in tuner.ask(1)] == [1]
    assert [s.number for s in tuner.ask(n=2)] == [2, 3]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_values_that_are_not_finite_are_failures(value: float) -> None:
    tuner = optimizer()
    suggestion = tuner.ask()
    with pytest.warns(DataWarning, match="taken as a failed trial"):
        tuner.tell(suggestion, value)
    assert tuner.trials[0].state is TrialState.FAILED
    assert tuner.trials[0].value is None


def told(tuner: Optimizer) -> Suggestion:
    suggestion = tuner.ask()
    tuner.tell(suggestion, 1.0)
    return suggestion


WRONG: dict[str, tuple[type[Exception], str, Callable[[Optimizer, Suggestion], object]]] = {
    "unknown number": (OptimizerError, "no trial 7", lambda o, _: o.tell(7, 1.0)),
    "negative number": (OptimizerError, "no trial -1", lambda o, _: o.tell(-1, 1.0)),
    "told twice": (OptimizerError, "told before", lambda o, s: o.tell(s, 1.0)),
    "failed after told": (OptimizerError, "told before", lambda o, s: o.tell_failure(s)),
    "nan after told": (OptimizerError, "told before", lambda o, s: o.tell(s, float("nan"))),
    "another's suggestion": (
        OptimizerError,
        "other parameters",
        lambda o, _: o.tell(Suggestion(1, {"a": 0.123, "b": 1}), 1.0),
    ),
    "boolean trial": (OptimizerError, "True", lambda o, _: o.tell(True, 1.0)),  # noqa: FBT003
    "text trial": (OptimizerError, "'1'", lambda o, _: o.tell("1", 1.0)),  # type: ignore[arg-type]
    "no trial": (OptimizerError, "None", lambda o, _: o.tell_failure(None)),  # type: ignore[arg-type]
    "text value": (DataError, "value='1.0'", lambda o, _: o.tell(1, "1.0")),  # type: ignore[arg-type]
    "boolean value": (DataError, "value=True", lambda o, _: o.tell(1, True)),  # noqa: FBT003
    "no value": (DataError, "value=None", lambda o, _: o.tell(1, None)),  # type: ignore[arg-type]
    "array value": (DataError, "value=array", lambda o, _: o.tell(1, np.ones(2))),  # type: ignore[arg-type]
    "negative noise": (DataError, "noise=-0.1", lambda o, _: o.tell(1, 1.0, noise=-0.1)),
    "text noise": (DataError, "noise=", lambda o, _: o.tell(1, 1.0, noise="x")),  # type: ignore[arg-type]
    "outside": (SpaceError, "'a'", lambda o, _: o.tell({"a": 1.5, "b": 1}, 1.0)),
    "missing parameter": (SpaceError, "'b'", lambda o, _: o.tell({"a": 0.5}, 1.0)),
    "unknown parameter": (SpaceError, "'c'", lambda o, _: o.tell({"a": 0.5, "b": 1, "c": 1}, 1)),
    "n=0": (OptimizerError, "n=0", lambda o, _: o.ask(0)),
    "n=-1": (OptimizerError, "n=-1", lambda o, _: o.ask(-1)),
    "n=1.5": (OptimizerError, "n=1.5", lambda o, _: o.ask(1.5)),  # type: ignore[call-overload]
    "n=True": (OptimizerError, "n=True", lambda o, _: o.ask(True)),  # noqa: FBT003
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_change_nothing(case: str) -> None:
    error, message, mistake = WRONG[case]
    tuner = optimizer(n_initial=1)
    suggestion = told(tuner)
    tuner.ask()
    before = tuner.to_json()
    with refused(error, message):
        mistake(tuner, suggestion)
    assert tuner.to_json() == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "magic"}, OptimizerError, "method='magic' must be one of 'auto'"),
        ({"method": None}, OptimizerError, "method=None"),
        ({"method": ["auto"]}, OptimizerError, "method=['auto']"),
        ({"seed": -1}, OptimizerError, "seed=-1"),
        ({"seed": 1.5}, OptimizerError, "seed=1.5"),
        ({"seed": True}, OptimizerError, "seed=True"),
        ({"n_initial": -1}, OptimizerError, "n_initial=-1"),
        ({"n_initial": "5"}, OptimizerError, "n_initial='5'"),
        ({"candidates": []}, OptimizerError, "candidates= is empty"),
        ({"candidates": [{"a": 0.5, "b": 9}]}, SpaceError, "'b'"),
        ({"goal": "up"}, DataError, "goal='up'"),
        ({"fixed": {"a": 0.5}}, MergeError, "'a'"),
    ],
)
def test_options_without_a_meaning_are_refused(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with refused(error, message):
        optimizer(**options)


def test_seed_zero_is_a_seed_and_none_is_not() -> None:
    assert optimizer(seed=0).ask() == optimizer(seed=0).ask()
    assert optimizer(seed=0).ask() != optimizer(seed=1).ask()
    assert optimizer(seed=None).ask() != optimizer(seed=None).ask()


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_best_is_the_best_complete_trial(goal: str) -> None:
    tuner = optimizer(goal=goal)
    assert tuner.best is None
    suggestions = tuner.ask(4)
    for suggestion, value in zip(suggestions, [0.0, -2.0, 5.0], strict=False):
        tuner.tell(suggestion, value)
    assert tuner.best is not None
    assert tuner.best.value == (-2.0 if goal == "minimize" else 5.0)


def test_suggestions_cannot_change_the_record() -> None:
    tuner = optimizer()
    suggestion = tuner.ask()
    original = dict(suggestion.params)
    suggestion.params["a"] = 0.0  # type: ignore[index]  # a user might try
    assert tuner.trials[0].params == original


@pytest.mark.parametrize("method", ["vanilla", "auto", "learned-imputation"])
def test_without_sources_a_scrambled_sobol_sequence_comes_first(method: str) -> None:
    space = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0))
    tuner = Optimizer(space, method=method, seed=7, n_initial=8, goal="minimize")
    unit = np.array([list(s.params.values()) for s in tuner.ask(3)], dtype=float)
    for number in range(3):
        tuner.tell(number, float(number))
    unit = np.concatenate([unit, [list(tuner.ask().params.values()) for _ in range(5)]])
    expected = qmc.Sobol(2, scramble=True, rng=np.random.default_rng(7)).random_base2(3)
    np.testing.assert_allclose(unit, expected, atol=1e-12)
    # Each eighth of both axes holds one point.
    for column in unit.T:
        assert sorted((column * 8).astype(int)) == list(range(8))
    cover = qmc.Sobol(2, scramble=True, rng=np.random.default_rng(7)).random_base2(4)
    ninth = np.array(list(tuner.ask().params.values()), dtype=float)
    assert not np.allclose(ninth, cover[8])


def test_the_model_finds_the_optimum_of_a_simple_function() -> None:
    tuner = Optimizer(
        Space(x=Float(-2.0, 3.0)), method="vanilla", seed=1, n_initial=4, goal="minimize"
    )
    for _ in range(10):
        suggestion = tuner.ask()
        x = float(suggestion.params["x"] or 0.0)
        tuner.tell(suggestion, (x - 1.3) ** 2)
    assert tuner.best is not None
    assert tuner.best.params["x"] == pytest.approx(1.3, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_the_edge_of_a_region_that_crashes_is_found(seed: int) -> None:
    """The objective rises towards 0.6, beyond which every trial crashes."""
    tuner = Optimizer(
        Space(x=Float(0.0, 1.0)), goal="maximize", method="vanilla", seed=seed, n_initial=4
    )
    for _ in range(12):
        suggestion = tuner.ask()
        x = float(suggestion.params["x"] or 0.0)
        if x > 0.6:
            tuner.tell_failure(suggestion)
        else:
            tuner.tell(suggestion, x)
    assert tuner.best is not None
    assert tuner.best.value is not None
    assert tuner.best.value > 0.57
    assert sum(trial.state is TrialState.FAILED for trial in tuner.trials) <= 7


def test_where_a_trial_failed_no_other_is_suggested() -> None:
    tuner = Optimizer(
        Space(x=Float(0.0, 1.0)), method="vanilla", seed=0, n_initial=1, goal="minimize"
    )
    for x in (0.1, 0.5, 0.9):
        tuner.tell({"x": x}, (x - 0.6) ** 2)
    crashed: list[float] = []
    for _ in range(3):
        suggestion = tuner.ask()
        x = float(suggestion.params["x"] or 0.0)
        assert all(abs(x - other) > 0.01 for other in crashed)
        crashed.append(x)
        tuner.tell_failure(suggestion)


def test_failures_stay_out_of_the_objective() -> None:
    tuner = Optimizer(
        Space(x=Float(0.0, 1.0)), method="vanilla", seed=3, n_initial=1, goal="minimize"
    )
    for x in (0.2, 0.5, 0.8):
        tuner.tell({"x": x}, x)
    tuner.tell_failure({"x": 0.05})
    fitted = tuner._engine.fit(tuner.trials, np.random.default_rng(0))
    assert len(fitted.models["vanilla"].observed) == 3


def test_known_noise_counts() -> None:
    """Of two equally good values, the certain one draws the search."""

    def suggested(noise: tuple[float, float]) -> float:
        tuner = Optimizer(
            Space(x=Float(0.0, 1.0)), method="vanilla", seed=4, n_initial=1, goal="minimize"
        )
        tuner.tell({"x": 0.2}, 0.0, noise=noise[0])
        tuner.tell({"x": 0.8}, 0.0, noise=noise[1])
        for x in (0.0, 0.5, 1.0):
            tuner.tell({"x": x}, 1.0, noise=0.01)
        assert [trial.noise for trial in tuner.trials[:2]] == list(noise)
        return float(tuner.ask().params["x"] or 0.0)

    assert abs(suggested((0.01, 5.0)) - 0.2) < abs(suggested((0.01, 5.0)) - 0.8)
    assert abs(suggested((5.0, 0.01)) - 0.8) < abs(suggested((5.0, 0.01)) - 0.2)


def quadratic(name: str, optimum: float) -> Experiment:
    trials = [Trial({"a": a}, (a - optimum) ** 2) for a in np.linspace(0, 1, 9).tolist()]
    return Experiment(name, Space(a=Float(0.0, 1.0)), trials, goal="minimize")


def test_common_draws_what_it_does_not_model_at_random() -> None:
    space = Space(a=Float(0.0, 1.0), c=Float(0.0, 1.0), k=Categorical("x", "y", "z"))
    made = []
    for seed in range(12):
        tuner = Optimizer(
            space, sources=[quadratic("old", 0.3)], method="common", seed=seed, goal="minimize"
        )
        made.append(tuner.ask().params)
    a, c = (np.array([params[name] for params in made], dtype=float) for name in "ac")
    assert np.abs(a - 0.3).max() < 0.2
    assert c.min() < 0.3
    assert c.max() > 0.7
    assert {params["k"] for params in made} == {"x", "y", "z"}


def test_common_draws_from_a_pool_as_well() -> None:
    space = Space(a=Float(0.0, 1.0), c=Int(1, 9))
    pool = [{"a": a, "c": c} for a in (0.1, 0.3, 0.9) for c in range(1, 10)]
    made = []
    for seed in range(8):
        tuner = Optimizer(
            space,
            sources=[quadratic("old", 0.3)],
            method="common",
            seed=seed,
            candidates=pool,
            goal="minimize",
        )
        made.append(tuner.ask().params)
    assert {params["a"] for params in made} == {0.3}
    assert len({params["c"] for params in made}) > 3


def test_values_that_the_target_fixes_are_used() -> None:
    """The best `a` is where `b` is, and the target holds `b` at 0.8."""
    rng = np.random.default_rng(0)
    trials = [Trial({"a": a, "b": b}, (a - b) ** 2) for a, b in rng.random((30, 2))]
    old = Experiment("old", Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0)), trials, goal="minimize")
    for value in (0.2, 0.8):
        tuner = Optimizer(
            Space(a=Float(0.0, 1.0)),
            sources=[old],
            method="learned-imputation",
            seed=0,
            fixed={"b": value},
            goal="minimize",
        )
        assert tuner.ask().params["a"] == pytest.approx(value, abs=0.15)


def test_as_experiment_gives_the_trials_as_a_source() -> None:
    tuner = optimizer(goal="maximize")
    told(tuner)
    tuner.ask()
    past = tuner.as_experiment("past", fixed={"c": 3})
    assert past.trials == tuner.trials
    assert past.space == SPACE
    assert past.goal == "maximize"
    assert past.fixed == {"c": 3}
