"""Ax and BayBE take part in replications; they are skipped without the extra `peers`."""

import itertools
import logging
import math
import random
import warnings
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
import torch
from botorch.models import MultiTaskGP
from botorch.models.transforms.input import LearnedFeatureImputation

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo_bench.methods import Tuner, tuner_named
from hetbo_bench.problems.problem import Problem, Start
from hetbo_bench.running.replication import replicate

if TYPE_CHECKING:
    from hetbo_bench.peers.ax_transfer import AxTuner
    from hetbo_bench.peers.baybe_transfer import BaybeTuner

pytestmark = pytest.mark.long
SEED = 3

RATE = Float(1e-3, 1.0, log=True)
SPACE = Space(rate=RATE, mix=Float(0.0, 1.0))
SOURCE = SPACE.drop("mix")
OLD: tuple[dict[str, Value], ...] = tuple({"rate": r} for r in (1e-3, 4e-3, 1e-2, 5e-2, 0.5))
# Both are far from the best rate, 0.01, which only the old trials show.
FIRST: tuple[dict[str, Value], ...] = ({"rate": 0.8, "mix": 0.1}, {"rate": 0.1, "mix": 0.9})

MIXED = Space(
    rate=RATE,
    depth=Int(1, 6),
    kind=Categorical("a", "b"),
    on=Categorical(True, False),  # noqa: FBT003
)
MIXED_FIRST: tuple[dict[str, Value], ...] = (
    {"rate": 0.5, "depth": 1, "kind": "b", "on": True},
    {"rate": 1e-3, "depth": 6, "kind": "a", "on": True},
)


def number(params: Mapping[str, Value], name: str, default: float) -> float:
    value = params.get(name, default)
    assert isinstance(value, int | float)
    return float(value)


def loss(params: Mapping[str, Value]) -> float:
    """Return how bad some parameters are; those that are missing stand at their best values."""
    rate, mix = number(params, "rate", 0.01), number(params, "mix", 0.5)
    depth, worse = number(params, "depth", 4), params.get("kind") == "b"
    return abs(math.log10(rate) + 2) + (mix - 0.5) ** 2 + (depth - 4) ** 2 / 50 + worse / 5


def old_experiment(
    space: Space = SOURCE, rows: tuple[dict[str, Value], ...] = OLD, goal: Goal = Goal.MINIMIZE
) -> Experiment:
    return Experiment("old", space, [Trial(row, -goal.sign * loss(row)) for row in rows], goal=goal)


def problem(
    goal: Goal = Goal.MINIMIZE,
    *,
    space: Space = SPACE,
    source: Experiment | None = None,
    first: tuple[dict[str, Value], ...] = FIRST,
    candidates: tuple[Mapping[str, Value], ...] | None = None,
) -> Problem:
    source = source or old_experiment(goal=goal)
    trials = tuple(Trial(row, -goal.sign * loss(row)) for row in first)
    return Problem(
        name="toy",
        summary="a toy",
        space=space,
        source_spaces={source.name: source.space},
        goal=goal,
        start=lambda _: Start((source,), trials),
        evaluate=lambda params: -goal.sign * loss(params),
        optimum=0.0,
        candidates=candidates,
    )


def begun(name: str, of: Problem, seed: int = SEED) -> Tuner:
    """Return a tuner that was told the first trials."""
    start = of.start(0)
    tuner = tuner_named(name)(of, start, seed)
    for trial in start.trials:
        tuner.tell(trial.params, of.evaluate(trial.params))
    return tuner


@cache
def suggestion(name: str) -> Mapping[str, Value]:
    """Return what a peer suggests first; a suggestion takes seconds, so tests share this one."""
    return begun(name, problem()).ask()


def installed(name: str) -> str:
    pytest.importorskip(name, reason=f"{name} is not installed: pip install './benchmarks[peers]'")
    return name


@pytest.fixture(params=["ax", "baybe"])
def peer(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return installed(name)


@pytest.fixture
def ax() -> str:
    return installed("ax")


@pytest.fixture
def baybe() -> str:
    return installed("baybe")


def test_a_suggestion_lies_where_the_old_trials_are_good(peer: str) -> None:
    asked = suggestion(peer)
    assert SPACE.check(asked) == asked
    assert all(type(value) is float for value in asked.values())
    assert 3e-3 < number(asked, "rate", 1.0) < 3e-2
    assert loss(asked) < min(map(loss, FIRST))


def test_a_maximised_problem_is_searched_like_its_mirror_image(peer: str) -> None:
    outcome = replicate(problem(Goal.MAXIMIZE), peer, SEED, evaluations=3)
    assert outcome.trace[:2] == (-loss(FIRST[0]), -loss(FIRST[1]))
    # Ax suggests the same; BayBE's two suggestions differ in the third digit.
    assert outcome.trace[2] == pytest.approx(-loss(suggestion(peer)), abs=0.02)
    assert len(outcome.seconds) == 1


def draw_globally() -> None:
    """Move on the global generators, so that none stands where a tuner may have left it."""
    random.random()  # noqa: S311
    np.random.random()  # noqa: NPY002
    torch.rand(1)


def test_the_seed_alone_decides(peer: str) -> None:
    draw_globally()
    assert begun(peer, problem()).ask() == suggestion(peer)
    assert begun(peer, problem(), SEED + 1).ask() != suggestion(peer)


def global_state() -> list[object]:
    loggers = [logging.getLogger(name) for name in ("", "ax", "baybe", "botorch")]
    return [
        random.getstate(),
        repr(np.random.get_state()),  # noqa: NPY002
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        list(warnings.filters),
        logging.root.manager.disable,
        [(logger.level, list(logger.handlers)) for logger in loggers],
    ]


def test_nothing_global_changes(peer: str) -> None:
    tuner_named(peer)  # what the import of a tool changes is its own affair
    draw_globally()
    before = global_state()
    tuner = begun(peer, problem())
    tuner.tell(tuner.ask(), 0.0)
    assert global_state() == before


def sources_of_ax(tuner: Tuner) -> list[tuple[dict[str, Value], float]]:
    """Return the parameters and the value of each old trial that Ax holds."""
    target = cast("AxTuner", tuner)._target
    ((source,),) = target.auxiliary_experiments_by_purpose.values()
    means = source.data.df.set_index("arm_name")["mean"]
    arms = [trial.arm for trial in source.experiment.trials.values()]
    return [(arm.parameters, means[arm.name]) for arm in arms]


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("source_goal", Goal)
def test_ax_is_given_old_values_in_the_sense_of_the_goal(
    ax: str, goal: Goal, source_goal: Goal
) -> None:
    tuner = begun(ax, problem(goal, source=old_experiment(goal=source_goal)))
    assert sources_of_ax(tuner) == [(row, -goal.sign * loss(row)) for row in OLD]
    config = cast("AxTuner", tuner)._target.optimization_config
    assert config.objective.minimize is (goal is Goal.MINIMIZE)


def test_ax_learns_what_the_missing_parameter_was(ax: str) -> None:
    tuner = begun(ax, problem())
    tuner.ask()
    model = cast("AxTuner", tuner)._strategy.adapter.generator.surrogate.model
    assert isinstance(model, MultiTaskGP)
    steps = list(model.input_transform.children())
    (imputation,) = [step for step in steps if isinstance(step, LearnedFeatureImputation)]
    # Columns: rate, mix, and whether the row is an old one. Imputed values start at 0.5.
    assert imputation.missing_mask.tolist() == [[False, False, False], [False, True, False]]
    (X,) = model.train_inputs
    rate, mix, task = X.T.numpy()
    rows = (*FIRST, *OLD)
    assert task.tolist() == [0] * len(FIRST) + [1] * len(OLD)
    assert rate == pytest.approx([math.log10(number(row, "rate", 0)) / 3 + 1 for row in rows])
    assert mix[: len(FIRST)] == pytest.approx([0.1, 0.9])
    learned = mix[len(FIRST) :]
    assert learned == pytest.approx(np.full(len(OLD), learned[0]))
    assert 0 <= learned[0] <= 1
    assert abs(learned[0] - 0.5) > 1e-3
    values = np.array([loss(row) for row in OLD])
    expected = (values - values.mean()) / values.std(ddof=1)
    assert model.train_targets[len(FIRST) :].numpy() == pytest.approx(expected)


def test_ax_suggests_values_of_each_parameters_type(ax: str) -> None:
    asked = begun(ax, problem(space=MIXED, first=MIXED_FIRST)).ask()
    assert MIXED.check(asked) == asked
    assert [type(value) for value in asked.values()] == [float, int, str, bool]


def test_ax_refuses_candidates(ax: str) -> None:
    with pytest.raises(DataError, match="toy allows 2 candidates only, and Ax cannot"):
        begun(ax, problem(candidates=FIRST))


def test_ax_refuses_choices_of_several_types(ax: str) -> None:
    with pytest.raises(DataError, match="'kind': Ax has no parameter for Categorical"):
        begun(ax, problem(space=SPACE.replace(kind=Categorical("a", 1))))


def measured(tuner: Tuner) -> list[dict[str, object]]:
    """Return the measurements that BayBE holds, one dict each."""
    table = cast("BaybeTuner", tuner)._campaign.measurements
    rows: list[dict[str, object]] = table.to_dict("records")
    return rows


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("source_goal", Goal)
def test_baybe_is_given_missing_parameters_at_the_centre(
    baybe: str, goal: Goal, source_goal: Goal
) -> None:
    tuner = begun(baybe, problem(goal, source=old_experiment(goal=source_goal)))
    rows = [("old", row, 0.5) for row in OLD] + [("target", r, r["mix"]) for r in FIRST]
    expected = [
        {
            "task of BayBE": task,
            "rate": math.log10(number(row, "rate", 0)),
            "mix": mix,
            "value of BayBE": -goal.sign * loss(row),
        }
        for task, row, mix in rows
    ]
    assert [{name: row[name] for name in expected[0]} for row in measured(tuner)] == expected
    (target,) = cast("BaybeTuner", tuner)._campaign.targets
    assert target.minimize is (goal is Goal.MINIMIZE)


def table() -> tuple[dict[str, Value], ...]:
    """Return candidates, the first one twice, so that BayBE numbers them otherwise."""
    points = itertools.product(("a", "b"), (1, 3, 6), (1e-3, 1e-2, 0.5))
    rows: list[dict[str, Value]] = [
        {"rate": rate, "depth": depth, "kind": kind, "on": True} for kind, depth, rate in points
    ]
    return (rows[0], *rows)


def table_problem(goal: Goal = Goal.MINIMIZE) -> Problem:
    """Return a problem with candidates, whose source has a parameter of its own."""
    rows: tuple[dict[str, Value], ...] = tuple({**row, "momentum": 0.1} for row in OLD)
    source = old_experiment(Space(rate=RATE, momentum=Float(0.0, 0.8)), rows, goal)
    return problem(goal, space=MIXED, source=source, first=MIXED_FIRST, candidates=table())


def test_baybe_is_given_centres_of_whole_numbers_and_first_choices(baybe: str) -> None:
    old, *_, told = measured(begun(baybe, table_problem()))
    assert (old["depth"], old["kind"], old["momentum"]) == (3.5, "'a'", 0.1)
    assert (told["depth"], told["kind"], told["momentum"]) == (6.0, "'a'", 0.4)


@pytest.mark.parametrize("goal", Goal)
def test_baybe_suggests_candidates(baybe: str, goal: Goal) -> None:
    of = table_problem(goal)
    tuner = begun(baybe, of)
    first = tuner.ask()
    assert first in table()
    assert first["rate"] == 0.01
    tuner.tell(first, of.evaluate(first))
    second = tuner.ask()
    assert second in table()
    assert second != first


@pytest.mark.parametrize(
    ("space", "source", "message"),
    [
        (MIXED, SOURCE, "toy: 'depth' is Int.*BayBE takes part in problems with candidates"),
        (SOURCE, SPACE, "toy: a source has 'mix', which the target has not"),
    ],
    ids=["a whole number", "a source's own parameter"],
)
def test_baybe_refuses_other_spaces(baybe: str, space: Space, source: Space, message: str) -> None:
    with pytest.raises(DataError, match=message):
        begun(
            baybe, problem(space=space, source=Experiment("old", source, goal="minimize"), first=())
        )
