"""What `auto` makes of values that are far worse than the rest."""

import numpy as np

import hetbo as hb
from hetbo.engine import Engine
from hetbo.experiments import Goal
from hetbo.methods import METHODS

SPACE = hb.Space(x=hb.Float(0.0, 1.0), y=hb.Float(0.0, 1.0))


def trials() -> list[hb.Trial]:
    """A hill at (0.7, 0.4), and a cliff at x = 0.3 beyond which values are bad."""
    found = []
    for x, y in np.random.default_rng(0).random((14, 2)).tolist():
        hill = 1 - 4 * ((x - 0.7) ** 2 + (y - 0.4) ** 2)
        found.append(hb.Trial({"x": x, "y": y}, -10.0 if x < 0.3 else hill))
    return found


def engine(method: str) -> Engine:
    return Engine(METHODS[method], hb.JointSpace.merge(SPACE), Goal.MAXIMIZE, n_initial=5)


def test_auto_softens_bad_values_and_the_paper_s_methods_do_not() -> None:
    for method in METHODS:
        if METHODS[method].voices:
            fitted = engine(method).fit(trials(), np.random.default_rng(0))
            for model in fitted.models.values():
                assert (model.data.scales[0].softening is not None) is (method == "auto")
