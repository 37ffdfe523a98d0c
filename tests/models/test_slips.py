"""The fit with the slips of the authors' code."""

import numpy as np
from numpy.testing import assert_allclose

from hetbo.models import ImputedGP, TargetGP, fit
from hetbo.models.marginal_likelihood import MarginalLikelihood
from hetbo.models.slips import LaggingLikelihood
from model_datasets import dataset

WAVES = dataset(
    {"target": ("a", "b", "c"), "source": ("a", "b")},
    lambda p: np.sin(6 * p["a"]) + p["b"] * p["c"],
    {"target": 12, "source": 15},
)
TRIALS = 27


def test_missing_values_are_a_step_behind() -> None:
    likelihood = MarginalLikelihood(ImputedGP(WAVES, settings="paper with slips"))
    lagging = LaggingLikelihood(likelihood, TRIALS)
    where = likelihood.coordinates.slots["values"].where
    rng = np.random.default_rng(0)
    before = None
    for _ in range(3):
        z = likelihood.coordinates.draw(rng)
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
    likelihood = MarginalLikelihood(ImputedGP(WAVES, settings="paper with slips"))
    low, high = LaggingLikelihood(likelihood, TRIALS).bounds
    free = np.zeros(len(low), dtype=bool)
    for name in ("values", "factor"):
        free[likelihood.coordinates.slots[name].where] = True
    assert (np.isinf(low) == free).all()
    assert (np.isinf(high) == free).all()


def test_lengths_forget_their_units_and_nothing_else() -> None:
    exact = fit(ImputedGP(WAVES, settings="paper"), starts=1)
    slipped = fit(ImputedGP(WAVES, settings="paper with slips"), starts=1)
    (units,) = (block.widths.numpy() for block in exact.covar_module.shared.blocks)
    assert (units < 1.0).any()
    (units,) = (block.widths.numpy() for block in slipped.covar_module.shared.blocks)
    assert (units == 1.0).all()
    assert exact.fit_report is not None
    assert slipped.fit_report is not None
    # A search that is a step behind finds no more than one that is not.
    assert slipped.fit_report.map_value <= exact.fit_report.map_value + 1e-3


def test_there_is_no_slip_where_nothing_is_learned() -> None:
    exact, other = (
        fit(TargetGP(WAVES, settings=name), starts=1) for name in ("paper", "paper with slips")
    )
    assert exact.fit_report is not None
    assert other.fit_report is not None
    assert other.fit_report.parameters == exact.fit_report.parameters
