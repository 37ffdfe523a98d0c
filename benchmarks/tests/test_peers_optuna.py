"""Optuna takes part in replications, and does what Optuna does by itself."""

import itertools
import logging
import math
import random
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.exceptions import ExperimentalWarning
from optuna.logging import get_verbosity
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.study import Study, create_study
from optuna.trial import Trial as OptunaTrial
from optuna.trial import TrialState, create_trial

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo_bench.methods import Factory, Tuner, tuner_named
from hetbo_bench.peers import optuna_gp, optuna_tpe
from hetbo_bench.peers.containment import contained
from hetbo_bench.peers.optuna_study import StudyTuner
from hetbo_bench.problems.problem import Problem, Start
from hetbo_bench.running.replication import replicate

SPACE = Space(rate=Float(1e-3, 1.0, log=True), depth=Int(1, 6), kind=Categorical("a", "b"))
SOURCE = SPACE.drop("kind")
DISTRIBUTIONS: dict[str, BaseDistribution] = {
    "rate": FloatDistribution(1e-3, 1.0, log=True),
    "depth": IntDistribution(1, 6),
    "kind": CategoricalDistribution(["a", "b"]),
}
OLD_DISTRIBUTIONS = {name: DISTRIBUTIONS[name] for name in SOURCE}


def loss(params: Mapping[str, Value]) -> float:
    rate, depth = float(params["rate"] or 0), float(params["depth"] or 0)
    return abs(math.log10(rate) + 2) + (depth - 4) ** 2 / 10 + (params.get("kind") == "b") / 5


def drawn(space: Space, count: int, seed: int) -> list[dict[str, Value]]:
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Value]] = [
        {"rate": float(10 ** rng.uniform(-3, 0)), "depth": int(rng.integers(1, 7)), "kind": kind}
        for kind in rng.choice(["a", "b"], count).tolist()
    ]
    return [{name: row[name] for name in space} for row in rows]


def start(
    replication: int, *, goal: Goal = Goal.MINIMIZE, source_goal: Goal | None = None
) -> Start:
    source_goal = source_goal or goal
    old = [Trial(row, -source_goal.sign * loss(row)) for row in drawn(SOURCE, 12, replication)]
    first = [Trial(row, -goal.sign * loss(row)) for row in drawn(SPACE, 3, replication + 100)]
    return Start((Experiment("old", SOURCE, old, goal=source_goal),), tuple(first))


def problem(
    goal: Goal = Goal.MINIMIZE, candidates: tuple[Mapping[str, Value], ...] | None = None
) -> Problem:
    return Problem(
        name="toy",
        summary="a toy",
        space=SPACE,
        source_spaces={"old": SOURCE},
        goal=goal,
        start=lambda replication: start(replication, goal=goal),
        evaluate=lambda params: -goal.sign * loss(params),
        optimum=0.0,
        candidates=candidates,
    )


def begun(
    factory: Factory, of: Problem | None = None, at: Start | None = None, seed: int = 3
) -> StudyTuner:
    """Return a tuner that was told the first trials."""
    of = of or problem()
    at = at or of.start(0)
    tuner: Tuner = factory(of, at, seed)
    for trial in at.trials:
        tuner.tell(trial.params, of.evaluate(trial.params))
    assert isinstance(tuner, StudyTuner)
    return tuner


def suggestions(tuner: Tuner, count: int) -> list[Mapping[str, Value]]:
    found = []
    for _ in range(count):
        found.append(tuner.ask())
        tuner.tell(found[-1], loss(found[-1]))
    return found


def group_tpe() -> TPESampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        return TPESampler(multivariate=True, group=True, seed=3)


def gp() -> GPSampler:
    return GPSampler(seed=3, n_startup_trials=3)


def plain_study(sampler: BaseSampler, *, old: bool) -> Study:
    """Return a study with the first trials, made as Optuna's documentation shows."""
    study = create_study(direction="minimize", sampler=sampler)
    given = start(0)
    added = [(trial, OLD_DISTRIBUTIONS) for trial in given.sources[0].trials if old]
    added += [(trial, DISTRIBUTIONS) for trial in given.trials]
    for trial, distributions in added:
        params = dict(trial.params)
        study.add_trial(
            create_trial(params=params, distributions=distributions, value=loss(params))
        )
    return study


def objective(trial: OptunaTrial) -> float:
    return loss(
        {
            "rate": trial.suggest_float("rate", 1e-3, 1.0, log=True),
            "depth": trial.suggest_int("depth", 1, 6),
            "kind": trial.suggest_categorical("kind", ["a", "b"]),
        }
    )


SAMPLERS = pytest.mark.parametrize(
    ("factory", "sampler", "old"),
    [(optuna_tpe.tuner, group_tpe, True), (optuna_gp.tuner, gp, False)],
    ids=["tpe", "gp"],
)
FACTORIES = pytest.mark.parametrize(
    "factory", [optuna_tpe.tuner, optuna_gp.tuner], ids=["tpe", "gp"]
)


@SAMPLERS
def test_suggestions_are_those_of_plain_optuna(
    factory: Factory, sampler: Callable[[], BaseSampler], old: bool
) -> None:
    study = plain_study(sampler(), old=old)
    study.optimize(objective, n_trials=3)
    assert suggestions(begun(factory), 3) == [trial.params for trial in study.trials[-3:]]


def test_old_trials_keep_their_own_parameters() -> None:
    old = begun(optuna_tpe.tuner).trials[:12]
    assert [trial.params for trial in old] == [dict(t.params) for t in start(0).sources[0].trials]
    assert all(trial.distributions == OLD_DISTRIBUTIONS for trial in old)


def test_old_values_are_turned_around_if_their_goal_was_the_opposite() -> None:
    same = begun(optuna_tpe.tuner)
    opposite = begun(optuna_tpe.tuner, at=start(0, source_goal=Goal.MAXIMIZE))
    assert [t.value for t in opposite.trials] == [t.value for t in same.trials]


def test_the_goal_is_the_problems() -> None:
    up = begun(optuna_tpe.tuner, problem(Goal.MAXIMIZE))
    asked = [up.ask()]
    up.tell(asked[0], -loss(asked[0]))
    asked.append(up.ask())
    assert asked == suggestions(begun(optuna_tpe.tuner), 2)


@FACTORIES
def test_the_same_seed_gives_the_same_suggestions(factory: Factory) -> None:
    first, again, other = (begun(factory, seed=seed) for seed in (5, 5, 6))
    expected = suggestions(first, 3)
    assert suggestions(again, 3) == expected
    assert suggestions(other, 3) != expected


@FACTORIES
def test_what_is_told_may_differ_from_what_was_asked_for(factory: Factory) -> None:
    tuner = begun(factory)
    before = len(tuner.trials)
    near: dict[str, Value] = {"rate": 0.01, "depth": 4, "kind": "a"}
    tuner.ask()
    tuner.tell(near, loss(near))
    asked, told = tuner.trials[before:]
    assert asked.state is TrialState.FAIL
    assert (told.state, told.params, told.value) == (TrialState.COMPLETE, near, loss(near))


@SAMPLERS
def test_what_was_asked_for_in_vain_does_not_count(
    factory: Factory, sampler: Callable[[], BaseSampler], old: bool
) -> None:
    near: dict[str, Value] = {"rate": 0.01, "depth": 4, "kind": "a"}
    tuner = begun(factory)
    tuner.ask()
    tuner.tell(near, loss(near))
    # The same sampler after one draw, in a study that never saw what was drawn.
    drawn_once = sampler()
    plain_study(drawn_once, old=old).ask(DISTRIBUTIONS)
    study = plain_study(drawn_once, old=old)
    study.add_trial(create_trial(params=near, distributions=DISTRIBUTIONS, value=loss(near)))
    assert tuner.ask() == study.ask(DISTRIBUTIONS).params


@FACTORIES
def test_only_the_last_one_asked_for_is_running(factory: Factory) -> None:
    tuner = begun(factory)
    for _ in range(2):
        tuner.ask()
    assert [trial.state for trial in tuner.trials[-2:]] == [TrialState.FAIL, TrialState.RUNNING]


def grid(*rates: float) -> tuple[dict[str, Value], ...]:
    points = itertools.product(rates, (1, 3, 6), ("a", "b"))
    return tuple({"rate": rate, "depth": depth, "kind": kind} for rate, depth, kind in points)


@FACTORIES
def test_on_a_grid_each_suggestion_is_a_candidate(factory: Factory) -> None:
    candidates = grid(1e-3, 1e-2, 0.5)
    tuner = factory(problem(candidates=candidates), start(0), 0)
    for point in (candidates[0], candidates[5], candidates[11]):
        tuner.tell(point, loss(point))
    assert all(asked in candidates for asked in suggestions(tuner, 6))


def test_on_a_grid_old_trials_stand_at_the_nearest_values() -> None:
    tuner = optuna_tpe.tuner(problem(candidates=grid(1e-3, 1e-2, 0.5)), start(0), 0)
    assert isinstance(tuner, StudyTuner)
    for old, trial in zip(tuner.trials, start(0).sources[0].trials, strict=True):
        depth, rate = float(trial.params["depth"] or 0), float(trial.params["rate"] or 0)
        assert abs((1, 3, 6)[old.params["depth"]] - depth) <= 1
        assert old.params["rate"] == np.argmin(np.abs(np.array([1e-3, 1e-2, 0.5]) - rate))


@FACTORIES
@pytest.mark.parametrize(
    "candidates", [grid(1e-3, 0.5)[:-1], grid(1e-3, 0.5)[::2]], ids=["a hole", "a choice less"]
)
def test_other_candidates_are_refused(
    factory: Factory, candidates: tuple[Mapping[str, Value], ...]
) -> None:
    with pytest.raises(DataError, match=r"toy allows \d+ candidates only, and Optuna"):
        factory(problem(candidates=candidates), start(0), 0)


@pytest.mark.parametrize("name", ["optuna-tpe", "optuna-gp"])
def test_a_replication_runs(name: str) -> None:
    outcome = replicate(problem(), name, 1, evaluations=6)
    assert len(outcome.trace) == 6
    assert len(outcome.seconds) == 3
    assert list(outcome.trace) == sorted(outcome.trace, reverse=True)
    assert tuner_named(name) in (optuna_tpe.tuner, optuna_gp.tuner)


def global_state() -> list[object]:
    return [
        random.getstate(),
        repr(np.random.get_state()),  # noqa: NPY002
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        list(warnings.filters),
        logging.root.manager.disable,
        get_verbosity(),
    ]


@FACTORIES
def test_nothing_global_changes(factory: Factory) -> None:
    before = global_state()
    suggestions(begun(factory), 2)
    assert global_state() == before


def fail_after_changes() -> None:
    with contained(1, 2):
        torch.set_default_dtype(torch.float64)
        warnings.warn("dropped", stacklevel=1)
        random.random()  # noqa: S311
        np.random.random()  # noqa: NPY002
        torch.rand(1)
        raise ZeroDivisionError


def test_a_contained_block_changes_nothing_even_if_it_fails() -> None:
    before = global_state()
    with pytest.raises(ZeroDivisionError):
        fail_after_changes()
    assert global_state() == before


def test_a_contained_block_draws_what_its_seeds_say() -> None:
    def draws(*entropy: int) -> list[float]:
        with contained(*entropy):
            return [random.random(), float(np.random.random()), float(torch.rand(1))]  # noqa: S311, NPY002

    assert draws(1, 2) == draws(1, 2)
    assert set(draws(1, 2)).isdisjoint(draws(1, 3))
