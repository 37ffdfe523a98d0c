import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from hetbo.models import LeaveOneOut


def test_log_densities_are_normal() -> None:
    rng = np.random.default_rng(0)
    observed, mean, variance = rng.normal(size=7), rng.normal(size=7), rng.random(7) + 0.1
    found = LeaveOneOut.of(observed, mean, variance)
    assert_allclose(found.sd**2, variance)
    assert_allclose(found.log_density, norm.logpdf(observed, mean, np.sqrt(variance)))
