"""The paper's methods in its settings: they run, and see what the authors' runs saw."""

import numpy as np
import pytest

import hetbo as hb
from hetbo_bench.methods import BENCHED
from hetbo_bench.paper.methods import PAPER_METHODS

every = pytest.mark.parametrize("name", PAPER_METHODS)
NEW = hb.Space(a=hb.Float(0, 1), b=hb.Float(0, 1), c=hb.Float(0, 1))


def bowl(a: float, b: float, c: float = 0.5) -> float:
    return (a - 0.35) ** 2 + (b - 0.7) ** 2 + 0.2 * (c - 0.5) ** 2


def source(*values: float) -> hb.Experiment:
    """Trials of the bowl, and some of given values at the end."""
    points = np.random.default_rng(0).random((20 + len(values), 2)).tolist()
    trials = [hb.Trial({"a": a, "b": b}, bowl(a, b)) for a, b in points[:20]]
    late = zip(points[20:], values, strict=True)
    trials += [hb.Trial({"a": a, "b": b}, value) for (a, b), value in late]
    return hb.Experiment("old", NEW.drop("c"), trials, goal="minimize")


def tuner(name: str, *sources: hb.Experiment) -> hb.Optimizer:
    recipe = PAPER_METHODS[name]
    return hb.Optimizer(NEW, sources=sources, method=recipe, seed=0, n_initial=2, goal="minimize")


def told(made: hb.Optimizer, count: int = 4) -> hb.Optimizer:
    for _ in range(count):
        trial = made.ask()
        made.tell(trial, bowl(**trial.params))  # type: ignore[arg-type]
    return made


def test_each_method_of_the_paper_has_its_paper_setting() -> None:
    for name in ("vanilla", "common", "conditional", "fixed-imputation", "learned-imputation"):
        assert f"{name}-paper" in PAPER_METHODS
    assert set(PAPER_METHODS) <= set(BENCHED)
    assert all(recipe.summary for recipe in PAPER_METHODS.values())


@every
def test_one_seed_one_result(name: str) -> None:
    one, other = told(tuner(name, source())), told(tuner(name, source()))
    assert one.trials == other.trials
    assert one.explain().sentence == other.explain().sentence


@every
def test_the_first_suggestion_follows_the_source(name: str) -> None:
    if name == "vanilla-paper":
        assert told(tuner(name, source())).trials == told(tuner(name)).trials
        return
    params = tuner(name, source()).ask().params
    assert max(abs(float(params["a"] or 0) - 0.35), abs(float(params["b"] or 0) - 0.7)) < 0.2


def test_values_are_seen_as_they_are() -> None:
    made = told(tuner("learned-imputation-paper", source(999.0)))
    assert "far worse" not in made.explain().sentence
