"""When `auto` brings bad values nearer."""

import numpy as np
import pytest

import hetbo as hb
from hetbo.experiments import Goal
from hetbo.methods import METHODS, Engine

SPACE = hb.Space(x=hb.Float(0.0, 1.0), y=hb.Float(0.0, 1.0))


def trials(bad: float, count: int = 14, seed: int = 0) -> list[hb.Trial]:
    """A hill at (0.7, 0.4), and a cliff at x = 0.3 beyond which values are bad."""
    found = []
    for x, y in np.random.default_rng(seed).random((count, 2)).tolist():
        hill = 1 - 4 * ((x - 0.7) ** 2 + (y - 0.4) ** 2)
        found.append(hb.Trial({"x": x, "y": y}, bad if x < 0.3 else hill))
    return found


def engine(method: str, *sources: hb.Experiment) -> Engine:
    joint = hb.JointSpace.merge(SPACE, sources)
    return Engine(METHODS[method], joint, Goal.MAXIMIZE, n_initial=5)


SKEWED = hb.Experiment("old", SPACE, trials(-3.0, count=30, seed=1), goal="maximize")
LEVEL = hb.Experiment("level", SPACE, trials(0.0, count=30, seed=1), goal="maximize")


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].members])
def test_only_auto_does(method: str) -> None:
    fitted = engine(method, SKEWED).fit(trials(-3.0), np.random.default_rng(0))
    for model in fitted.models.values():
        assert (model.scale.compression is not None) is (method == "auto")


def test_the_sources_decide() -> None:
    assert engine("auto", SKEWED).compresses_tail
    assert not engine("auto", LEVEL).compresses_tail
    assert not engine("auto").compresses_tail


def test_a_goal_to_minimise_turns_it_round() -> None:
    turned = hb.Experiment("old", SPACE, SKEWED.trials, goal="minimize")
    assert not engine("auto", turned).compresses_tail


def test_it_is_said() -> None:
    said = "Bad values count as less bad: the sources have a long tail of them."
    for source in (SKEWED, LEVEL):
        optimizer = hb.Optimizer(SPACE, sources=[source], goal="maximize")
        for trial in trials(-3.0)[:5]:
            assert trial.value is not None
            optimizer.tell(trial.params, trial.value)
        assert (said in str(optimizer.explain())) is (source is SKEWED)
