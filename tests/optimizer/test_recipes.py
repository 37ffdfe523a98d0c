"""Recipes of one's own: `Optimizer(method=recipe)`."""

from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from hetbo import DataError, Experiment, Float, Optimizer, OptimizerError, Space, Trial
from hetbo.methods import METHODS, EnsembleMember, Recipe
from hetbo.models import ConditionalGP, GPSurrogate, TargetGP

SPACE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))
TWO = Recipe(
    {
        "alone": EnsembleMember(GPSurrogate(TargetGP), transfers=False),
        "blocks": EnsembleMember(GPSurrogate(ConditionalGP), trust=2.0),
    },
    "two models",
)


def source() -> Experiment:
    points = np.random.default_rng(0).random((8, 1)).tolist()
    trials = [Trial({"x": x}, (x - 0.3) ** 2) for (x,) in points]
    return Experiment("old", Space(x=Float(0.0, 1.0)), trials, goal="minimize")


def made(method: str | Recipe, count: int = 6) -> Optimizer:
    tuner = Optimizer(SPACE, sources=[source()], goal="minimize", method=method, seed=1)
    for _ in range(count):
        trial = tuner.ask()
        tuner.tell(trial, float(trial.params["x"] or 0.0) ** 2 + float(trial.params["y"] or 0.0))
    return tuner


def test_a_recipe_is_a_method() -> None:
    tuner = made(TWO)
    assert tuner.method == "custom"
    assert set(tuner.explain().models) == {"alone", "blocks"}


def test_a_named_recipe_does_what_its_name_does() -> None:
    assert made(METHODS["conditional"]).trials == made("conditional").trials


def test_a_recipe_stays_when_the_space_changes() -> None:
    assert made(TWO).with_space(SPACE.replace(z=Float(0.0, 1.0))).engine.recipe is TWO


def test_a_recipe_is_given_again_when_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    tuner = made(TWO)
    tuner.save(path)
    with refused(DataError, "state.json", "recipe", "method="):
        Optimizer.load(path)
    assert Optimizer.load(path, method=TWO).ask() == tuner.ask()
    made("vanilla", 1).save(path)
    with refused(DataError, "'vanilla'", "method="):
        Optimizer.load(path, method=TWO)


@pytest.mark.parametrize("method", ["fancy", 3, None])
def test_what_is_no_method_is_refused(method: object) -> None:
    with refused(OptimizerError, f"method={method!r}", "'auto'", "Recipe"):
        Optimizer(SPACE, goal="minimize", method=method)  # type: ignore[arg-type]
