"""Gradients against differences of values."""

import numpy as np
import numpy.typing as npt
from numpy.testing import assert_allclose

from hetbo.acquisition import Acquisition

Array = npt.NDArray[np.float64]


def assert_gradient(acquisition: Acquisition, X: Array) -> None:
    """Check the gradient at every point."""
    _, gradient = acquisition(X)
    step = 1e-6
    for column in range(X.shape[1]):
        move = step * np.eye(X.shape[1])[column]
        numeric = (acquisition(X + move)[0] - acquisition(X - move)[0]) / (2 * step)
        assert_allclose(gradient[:, column], numeric, rtol=1e-4, atol=1e-6)
