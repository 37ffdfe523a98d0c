"""The logarithm of the expected improvement, where the improvement itself would vanish."""

import math

import numpy as np
from scipy.special import erfcx, ndtr

from hetbo._arrays import FloatArray

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NEGATIVE = -1.0
_FAR = -1e3


def log_expected_improvement(
    mean: FloatArray, sd: FloatArray, best: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log E[max(f - best, 0)] for normal f, and its derivatives.

    Args:
        mean: The means of f, any shape.
        sd: The standard deviations of f, positive.
        best: What is to be improved upon.

    Returns:
        The logarithm, and its derivatives by the mean and by the standard deviation.
    """
    u = (mean - best) / sd
    log_h, slope = _log_h(u)
    value = np.log(sd) + log_h
    return value, slope / sd, (1.0 - u * slope) / sd


def _log_h(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of `h(u) = φ(u) + u Φ(u)` and its derivative `Φ(u) / h(u)`."""
    log_phi = -0.5 * u * u - _LOG_SQRT_2PI
    near = np.maximum(u, _NEGATIVE)
    h_near = np.exp(-0.5 * near * near - _LOG_SQRT_2PI) + near * ndtr(near)
    # Below -1 the two terms nearly cancel. With the scaled complementary error function,
    # Φ(u)/φ(u) = r and h(u) = φ(u) (1 + u r), where 1 + u r tends to 1/u² far out.
    below = np.minimum(u, _NEGATIVE)
    far = below < _FAR
    near_tail = np.maximum(below, _FAR)
    r = math.sqrt(math.pi / 2) * erfcx(-near_tail / math.sqrt(2))
    rest = np.where(far, 1.0 / (below * below), 1.0 + near_tail * r)
    is_near = u > _NEGATIVE
    value = np.where(is_near, np.log(h_near), log_phi + np.log(rest))
    slope = np.where(is_near, ndtr(near) / h_near, np.where(far, -below, r / rest))
    return value, slope
