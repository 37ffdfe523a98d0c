"""What `auto` makes of values that are far worse than the rest."""

from itertools import product

import numpy as np
import pytest

import hetbo as hb
from hetbo.engine import Engine
from hetbo.experiments import Goal
from hetbo.methods import METHODS

SPACE = hb.Space(x=hb.Float(0.0, 1.0), y=hb.Float(0.0, 1.0))


def trials(seed: int, worst: float) -> list[hb.Trial]:
    """A hill of 1 at (0.7, 0.4), and a cliff at x = 0.3 beyond which values are bad."""
    found = []
    for x, y in np.random.default_rng(seed).random((14, 2)).tolist():
        hill = 1 - 4 * ((x - 0.7) ** 2 + (y - 0.4) ** 2)
        found.append(hb.Trial({"x": x, "y": y}, worst if x < 0.3 else hill))
    return found


def engine(method: str) -> Engine:
    return Engine(METHODS[method], hb.JointSpace.merge(SPACE), Goal.MAXIMIZE, n_initial=5)


def test_auto_softens_bad_values_and_the_paper_s_methods_do_not() -> None:
    for method in METHODS:
        if METHODS[method].voices:
            fitted = engine(method).fit(trials(0, -100.0), np.random.default_rng(0))
            for model in fitted.models.values():
                assert (model.data.scales[0].softening is not None) is (method == "auto")


@pytest.mark.parametrize("worst", [-3.0, -30.0])
def test_a_cliff_does_not_hide_the_hill(worst: float) -> None:
    distance = {"auto": 0.0, "vanilla": 0.0}
    for method, seed in product(distance, range(8)):
        rng = np.random.default_rng(1)
        [x] = engine(method).suggest(trials(seed, worst), 1, rng, order=14)
        distance[method] += float(np.hypot(x[0] - 0.7, x[1] - 0.4)) / 8
    assert distance["auto"] < 0.15
    assert distance["auto"] < distance["vanilla"] / 2
