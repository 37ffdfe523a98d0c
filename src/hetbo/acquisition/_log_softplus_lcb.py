"""The acquisition of the first trial, before there is anything to improve."""

import numpy as np
from scipy.special import expit

from hetbo._arrays import FloatArray

_TINY = -30.0


def log_softplus_lcb(
    mean: FloatArray, sd: FloatArray, best: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the log of the softplus of `mean - sd - best`, and its derivatives.

    The lower confidence bound `mean - sd` is high where sources were good and near what they tried.
    The expected improvement would rather try what is uncertain: with a handful of old trials that
    is a corner of the space, and not where these were best. The softplus makes it positive, so that
    it can be pooled over members as improvements are.

    Args:
        mean: The means, any shape.
        sd: The standard deviations.
        best: What the bound is compared with.

    Returns:
        The logarithm, and its derivatives by the mean and by the standard deviation.
    """
    bound = mean - sd - best
    gain = np.logaddexp(0.0, bound)
    # Far below, log(1 + exp(bound)) tends to exp(bound), and may be too small for a number.
    tiny = bound < _TINY
    value = np.where(tiny, bound, np.log(np.where(tiny, 1.0, gain)))
    slope = np.where(tiny, 1.0, expit(bound) / np.where(tiny, 1.0, gain))
    return value, slope, -slope
