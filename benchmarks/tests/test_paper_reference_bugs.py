"""The fit with the bugs of the authors' code."""

import numpy as np
from numpy.testing import assert_allclose

from hetbo.models import MarginalLikelihood, fit
from hetbo_bench.paper.models import PaperImputedGP
from hetbo_bench.paper.reference_bugs import BuggyImputation, LaggingLikelihood
from model_datasets import dataset

WAVES = dataset(
    {"target": ("a", "b", "c"), "source": ("a", "b")},
    lambda p: np.sin(6 * p["a"]) + p["b"] * p["c"],
    {"target": 12, "source": 15},
)
TRIALS = 27


def test_missing_values_are_a_step_behind() -> None:
    likelihood = MarginalLikelihood(PaperImputedGP(WAVES))
    lagging = LaggingLikelihood(likelihood, TRIALS)
    where = likelihood.vector.slots["values"].where
    rng = np.random.default_rng(0)
    before = None
    for _ in range(3):
        z = likelihood.vector.draw(rng)
        expected = z.copy()
        if before is not None:
            expected[where] = before[where]
        value, gradient = likelihood(expected)
        if before is None:
            gradient = gradient.copy()
            gradient[where] = 0.0
        found, slope = lagging(z)
        assert_allclose(found, value / TRIALS)
        assert_allclose(slope, gradient / TRIALS)
        before = z


def test_missing_values_and_what_experiments_share_are_free() -> None:
    likelihood = MarginalLikelihood(PaperImputedGP(WAVES))
    low, high = LaggingLikelihood(likelihood, TRIALS).bounds
    free = np.zeros(len(low), dtype=bool)
    for name in ("values", "factor"):
        free[likelihood.vector.slots[name].where] = True
    assert (np.isinf(low) == free).all()
    assert (np.isinf(high) == free).all()


def test_lengths_forget_their_units_and_nothing_else() -> None:
    exact = fit(PaperImputedGP(WAVES), rng=np.random.default_rng(0), starts=1)
    buggy = BuggyImputation().fit(WAVES, rng=np.random.default_rng(0)).model
    (units,) = (block.widths.numpy() for block in exact.covar_module.shared.blocks)
    assert (units < 1.0).any()
    (units,) = (block.widths.numpy() for block in buggy.covar_module.shared.blocks)
    assert (units == 1.0).all()
    assert exact.fit_report is not None
    assert buggy.fit_report is not None
    # A search that is a step behind finds no more than one that is not.
    assert buggy.fit_report.map_value <= exact.fit_report.map_value + 1e-3
