"""What the models of a method say together: their predictions, each with its weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from hetbo.encoding.encoder import FloatArray
from hetbo.encoding.outcomes import OutcomeScale

_TAIL = 0.025
_FAR = 10.0
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Band:
    """Predictions at `k` points, in natural units.

    Attributes:
        mean: Shape `k`.
        low: Shape `k`: values are below with a probability of 2.5 %.
        high: Shape `k`: values are above with a probability of 2.5 %.
    """

    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def mixed(
    means: Sequence[FloatArray],
    sds: Sequence[FloatArray],
    weights: Sequence[float],
    scales: Sequence[OutcomeScale],
) -> Band:
    """Return the weighted mixture of normal predictions.

    Args:
        means: The models' means, each of shape `k`, scaled.
        sds: Their standard deviations.
        weights: How far each model is trusted; they add up to 1.
        scales: How the values that each model sees were scaled.
    """
    m = np.stack([scale.unscale(mean) for scale, mean in zip(scales, means, strict=True)])
    s = np.stack([scale.unscale_noise(sd) for scale, sd in zip(scales, sds, strict=True)])
    w = np.array(weights)[:, np.newaxis]
    low, high = (_quantile(m, s, w, level) for level in (_TAIL, 1 - _TAIL))
    mean = (w * m).sum(axis=0)
    return Band(tuple(mean.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def _quantile(m: FloatArray, s: FloatArray, w: FloatArray, level: float) -> FloatArray:
    """Return where the mixture's distribution function reaches a level, by halving."""
    low, high = (m - _FAR * s).min(axis=0), (m + _FAR * s).max(axis=0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = (w * ndtr((middle - m) / s)).sum(axis=0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
