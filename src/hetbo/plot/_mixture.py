"""What the models of a method say together: their predictions, each with its weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from hetbo._arrays import FloatArray
from hetbo.encoding import OutcomeScale
from hetbo.methods import Fitted

_TAIL = 0.025
_FAR = 10.0
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Band:
    """Predictions at `k` points, in natural units.

    Attributes:
        middle: Shape `k`: what each model takes for as likely exceeded as not, weighed.
        low: Shape `k`: values are below with a probability of 2.5 %.
        high: Shape `k`: values are above with a probability of 2.5 %.
    """

    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def predicted(fitted: Fitted, X: FloatArray) -> Band:
    """Return what the models predict together, without measurement noise.

    Args:
        fitted: The fitted models of a method.
        X: Points of the cube, shape `k × d`.
    """
    found = [model.values(X) for model in fitted.models.values()]
    return _together(fitted, [mean for mean, _ in found], [sd for _, sd in found])


def predicted_from_others(fitted: Fitted) -> Band:
    """Return what the models predict of each complete trial of the target from all others."""
    found = [model.leave_one_out() for model in fitted.models.values()]
    return _together(fitted, [one.mean for one in found], [one.sd for one in found])


def _together(fitted: Fitted, means: Sequence[FloatArray], sds: Sequence[FloatArray]) -> Band:
    weights = [fitted.weights[name] for name in fitted.models]
    return mixed(means, sds, weights, [m.scale for m in fitted.models.values()])


def mixed(
    means: Sequence[FloatArray],
    sds: Sequence[FloatArray],
    weights: Sequence[float],
    scales: Sequence[OutcomeScale],
) -> Band:
    """Return the weighted mixture of predictions that are normal on each model's own scale.

    Args:
        means: The models' means, each of shape `k`, scaled.
        sds: Their standard deviations.
        weights: How far each model is trusted; they add up to 1.
        scales: How the values that each model sees were scaled.
    """
    parts = list(zip(means, sds, weights, scales, strict=True))
    middle = sum((w * scale.unscale(m) for m, _, w, scale in parts), np.zeros(len(means[0])))
    low, high = (_quantile(parts, level) for level in (_TAIL, 1 - _TAIL))
    return Band(tuple(middle.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def _quantile(
    parts: Sequence[tuple[FloatArray, FloatArray, float, OutcomeScale]], level: float
) -> FloatArray:
    """Return where the mixture's distribution function reaches a level, by halving."""
    ends = np.stack(
        [scale.unscale(m + far * s) for m, s, _, scale in parts for far in (-_FAR, _FAR)]
    )
    low, high = ends.min(axis=0), ends.max(axis=0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = sum(
            w * ndtr(scale.sign * (scale.scale(middle) - m) / s) for m, s, w, scale in parts
        )
        low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
    return np.asarray((low + high) / 2)
