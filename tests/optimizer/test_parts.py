"""Suggestions in parts of a space."""

from dataclasses import replace

import numpy as np
import pytest

import hetbo as hb
from hetbo.experiments import Goal, Trial
from hetbo.joint import JointSpace, Member
from hetbo.methods import METHODS, Engine

SPACE = hb.Space(kind=hb.Categorical("a", "b"), x=hb.Float(0, 1), y=hb.Float(0, 1))
PARTS = [
    Member("target", hb.Space(x=hb.Float(0, 0.5)), {"kind": "a", "y": 0.5}),
    Member("target", hb.Space(y=hb.Float(0, 1)), {"kind": "b", "x": 0.5}),
]


def value(x: float, y: float, kind: str) -> float:
    return (x - 0.2) ** 2 if kind == "a" else 0.3 + (y - 0.2) ** 2


def suggested(
    trials: list[Trial], *, method: str = "vanilla", count: int = 1, beyond_noise: float = 0.0
) -> list[dict[str, object]]:
    recipe = replace(METHODS[method], beyond_noise=beyond_noise)
    engine = Engine(recipe, JointSpace.merge(SPACE), Goal.MINIMIZE, n_initial=4)
    rng = np.random.default_rng(0)
    chosen = engine.suggest(trials, count, rng, order=len(trials), parts=PARTS)
    return [dict(params) for params in engine.encoder.decode(np.array(chosen.points))]


def trials(x: list[float], y: list[float]) -> list[Trial]:
    places = [("a", one, 0.5) for one in x] + [("b", 0.5, one) for one in y]
    return [Trial({"kind": k, "x": x, "y": y}, value(x, y, k)) for k, x, y in places]


@pytest.mark.parametrize("method", ["vanilla", "random"])
def test_first_points_take_turns_in_the_parts(method: str) -> None:
    points = suggested([], method=method, count=6)
    assert [point["kind"] for point in points] == ["a", "b"] * 3
    assert all(point["y" if point["kind"] == "a" else "x"] == 0.5 for point in points)
    assert all(float(str(point["x"])) <= 0.5 for point in points)


def test_the_part_with_most_to_gain_is_chosen() -> None:
    (point,) = suggested(trials([0.0, 0.1, 0.4], [0.0, 0.3, 0.7, 1.0]))
    assert point["kind"] == "a"
    assert point["y"] == 0.5
    assert abs(float(str(point["x"])) - 0.2) < 0.06


def test_a_part_where_nothing_but_noise_is_left_to_gain_leaves_its_turn() -> None:
    rng = np.random.default_rng(1)
    near = [0.2 + float(step) for step in rng.normal(scale=1e-3, size=25)]
    noise = rng.normal(scale=0.05, size=26)
    told = [
        Trial(t.params, (t.value or 0.0) - (t.params["kind"] == "b") * 0.3 + float(off))
        for t, off in zip(trials(near, [0.5]), noise, strict=True)
    ]
    chosen = [suggested(told, beyond_noise=beyond)[0]["kind"] for beyond in (0.0, 2.0)]
    assert chosen == ["a", "b"]
