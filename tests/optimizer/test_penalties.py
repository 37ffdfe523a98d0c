"""Values of sources that stand for 'it did not work'."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetbo as hb
from hetbo.experiments import Goal, GoalName
from hetbo.experiments._penalties import penalties_of, penalty_sentence, without_penalties

OLD = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
NEW = OLD.replace(z=hb.Float(0, 1))


def experiment(*extra: float, count: int = 30, goal: GoalName = "minimize") -> hb.Experiment:
    """A bowl whose best place is (0.7, 0.3), and other values where x and y are small."""
    sign = 1 if goal == "minimize" else -1
    rng = np.random.default_rng(0)
    trials = [
        hb.Trial({"x": x, "y": y}, sign * 8 * ((x - 0.7) ** 2 + (y - 0.3) ** 2))
        for x, y in rng.random((count, 2)).tolist()
    ]
    for x, value in zip(np.linspace(0.1, 0.3, len(extra)).tolist(), extra, strict=True):
        trials.append(hb.Trial({"x": x, "y": 0.2}, sign * value))
    return hb.Experiment("old", OLD, trials, goal=goal)


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
@pytest.mark.parametrize("extra", [[999.0], [1e6, 999.0], [999.0] * 12, [100.0, 200.0, 300.0]])
def test_penalties_are_found_and_tamed(extra: list[float], goal: GoalName) -> None:
    source = experiment(*extra, goal=goal)
    found = penalties_of(source)
    assert found is not None
    assert sorted(map(abs, found.values)) == sorted(extra)
    others = [abs(t.value) for t in experiment().complete if t.value is not None]
    assert abs(found.counted_as) == max(others)
    tamed = [t.value for t in without_penalties(source).complete]
    assert tamed[:30] == [t.value for t in source.complete[:30]]
    assert tamed[30:] == [found.counted_as] * len(extra)


@pytest.mark.parametrize(
    "extra",
    [
        [],
        [10.0],
        [-999.0],
        [999.0] * 16,
        [900.0 + k for k in range(8)],
    ],
    ids=["none", "near", "good", "half", "many that differ"],
)
def test_other_values_are_left_alone(extra: list[float]) -> None:
    source = experiment(*extra)
    assert penalties_of(source) is None
    assert without_penalties(source) is source


def test_few_values_cannot_be_judged() -> None:
    assert penalties_of(experiment(999.0, count=4)) is None
    assert penalties_of(experiment(999.0, count=5)) is not None


@given(st.lists(st.floats(-1e3, 1e3), max_size=25), st.floats(-100, 100).filter(bool))
def test_which_ones_they_are_does_not_depend_on_the_unit(values: list[float], unit: float) -> None:
    def found(factor: float) -> int:
        goal = Goal.MINIMIZE if factor > 0 else Goal.MAXIMIZE
        trials = [hb.Trial({"x": 0.5, "y": 0.5}, factor * value) for value in values]
        penalties = penalties_of(hb.Experiment("old", OLD, trials, goal=goal))
        return 0 if penalties is None else len(penalties.values)

    # A power of two: no rounding decides.
    assert found(1.0) == found(2.0 ** round(abs(unit) / 10)) == found(-1.0)


def test_one_penalty_does_not_lead_the_search_astray() -> None:
    source = experiment(999.0)
    for seed in range(3):
        optimizer = hb.Optimizer(NEW, sources=[source], seed=seed, goal="minimize")
        first = optimizer.ask().params
        assert abs(float(str(first["x"])) - 0.7) < 0.15
        assert abs(float(str(first["y"])) - 0.3) < 0.15
    assert "1 value of 'old' (999) is far worse than all others" in optimizer.explain().sentence


def test_the_sentence_counts() -> None:
    source = experiment(999.0, 999.0)
    found = penalties_of(source)
    assert found is not None
    assert penalty_sentence(source, found).startswith("2 values of 'old' (999) are far worse")


@pytest.mark.parametrize("scale", [1e300, 1e-300, 2.0**-1000])
def test_penalties_are_the_same_at_any_scale(scale: float) -> None:
    values = [*np.linspace(0.1, 0.5, 12).tolist(), 100.0]
    trials = [hb.Trial({"x": 0.5, "y": 0.5}, value * scale) for value in values]
    with np.errstate(over="raise"):
        found = penalties_of(hb.Experiment("old", OLD, trials, goal="minimize"))
    assert found is not None
    assert found.values == (100.0 * scale,)


def test_both_ends_of_the_floats_are_no_penalty_and_no_overflow() -> None:
    largest = 1.7976931348623157e308
    trials = [hb.Trial({"x": 0.5, "y": 0.5}, v) for v in [largest, -largest] * 8]
    with np.errstate(over="raise"):
        assert penalties_of(hb.Experiment("old", OLD, trials, goal="minimize")) is None
