"""Values on a grid."""

from typing import TYPE_CHECKING

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hetbo.integrations.optuna._distributions import translations
from hetbo.integrations.optuna._grids import every_point, on_grid

if TYPE_CHECKING:
    from hetbo.spaces import Value

TENTHS, EVENS = FloatDistribution(0, 1, step=0.1), IntDistribution(0, 8, step=2)
LETTERS = CategoricalDistribution(["a", "b"])
RNG = np.random.default_rng(0)


def test_few_points_are_listed() -> None:
    target = translations({"x": TENTHS, "n": EVENS, "c": LETTERS})
    points = every_point(target)
    assert points is not None
    assert len(points) == 11 * 5 * 2
    assert {"x": 0.3, "n": 8, "c": "b"} in points


def test_many_points_and_points_without_a_step_are_not_listed() -> None:
    assert every_point(translations({"x": FloatDistribution(0, 1, step=1e-4)})) is None
    assert every_point(translations({"x": TENTHS, "y": FloatDistribution(0, 1)})) is None
    assert every_point(translations({"n": IntDistribution(0, 9)})) is None


def test_the_nearest_free_point_is_taken() -> None:
    target = translations({"x": TENTHS, "n": EVENS})
    wanted: dict[str, Value] = {"x": 0.32, "n": 4}
    taken: list[dict[str, Value]] = []
    found = []
    for _ in range(3):
        point = on_grid(wanted, target, taken, RNG)
        found.append(point)
        taken.append(point)
    assert found == [{"x": 0.3, "n": 4}, {"x": 0.4, "n": 4}, {"x": 0.2, "n": 4}]


def test_when_the_neighbours_are_taken_another_point_is_drawn() -> None:
    distributions: dict[str, BaseDistribution] = {
        f"n{k}": IntDistribution(0, 2, step=2) for k in range(13)
    }
    target = translations(distributions)
    centre: dict[str, Value] = dict.fromkeys(distributions, 0)
    taken = [centre, *({**centre, name: 2} for name in distributions)]
    point = on_grid(centre, target, taken, np.random.default_rng(1))
    assert point not in taken


def test_when_all_points_are_taken_the_nearest_is_repeated() -> None:
    target = translations({"n": IntDistribution(0, 4, step=2)})
    assert on_grid({"n": 3}, target, [{"n": 0}, {"n": 2}, {"n": 4}], RNG)["n"] in {2, 4}


def test_real_numbers_stay_as_they_are() -> None:
    target = translations({"x": FloatDistribution(0, 1), "n": EVENS})
    assert on_grid({"x": 0.123, "n": 5}, target, [], RNG) == {"x": 0.123, "n": 4}
