"""One search for likely parameters, from one start."""

from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from hetbo.encoding.encoder import FloatArray


class LogPosterior(Protocol):
    """A function of the parameters, with its gradient."""

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × k`: the box that is searched."""

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient at parameters of shape `k`."""


def climb(
    likelihood: LogPosterior,
    start: FloatArray,
    *,
    iterations: int,
    smallest_gain: float,
    flattest: float = 1e-4,
    held: slice | None = None,
) -> tuple[float, FloatArray]:
    """Climb from a start to a maximum of the log posterior, by L-BFGS.

    Args:
        likelihood: The log posterior.
        start: Shape `k`: where to start.
        iterations: How many steps to take at most.
        smallest_gain: The search ends when a step gains less than this part of the value.
        flattest: The search ends where the slope is nowhere steeper.
        held: The coordinates that stay as they are.

    Returns:
        The log posterior reached, and where.

    Raises:
        NotPositiveDefinite: The covariance could not be factored on the way.
    """
    low, high = likelihood.bounds
    if held is not None:
        low, high = low.copy(), high.copy()
        low[held] = high[held] = start[held]

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(z)
        return -value, -gradient

    result = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([low, high], axis=1),
        options={"maxiter": iterations, "ftol": smallest_gain, "gtol": flattest},
    )
    return -float(result.fun), result.x
