"""One search for likely parameters, from one start."""

from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from hetbo._arrays import FloatArray


class LogPosterior(Protocol):
    """A function of the parameters, with its gradient."""

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × k`: the box that is searched."""

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient at parameters of shape `k`."""


def maximize(
    likelihood: LogPosterior,
    start: FloatArray,
    *,
    steps: int,
    ftol: float,
    gtol: float = 1e-4,
    frozen: slice | None = None,
) -> tuple[float, FloatArray]:
    """Maximize the log posterior from one start, by L-BFGS.

    Args:
        likelihood: The log posterior.
        start: Shape `k`: where to start.
        steps: How many steps to take at most.
        ftol: The search ends when a step gains less than this part of the value.
        gtol: The search ends where the slope is nowhere steeper.
        frozen: The parameters that stay as they are.

    Returns:
        The log posterior reached, and where.

    Raises:
        NotPositiveDefinite: The covariance could not be factored on the way.
    """
    low, high = likelihood.bounds
    if frozen is not None:
        low, high = low.copy(), high.copy()
        low[frozen] = high[frozen] = start[frozen]

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(z)
        return -value, -gradient

    result = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([low, high], axis=1),
        options={"maxiter": steps, "ftol": ftol, "gtol": gtol},
    )
    return -float(result.fun), result.x
