"""Trials crash in regions, not at random: where some failed, others will."""

import numpy as np

from hetbo.encoding.encoder import FloatArray

_WIDTH = 0.15
"""How far, in parts of each parameter's range, a trial speaks for its neighbours."""
_DOUBT = 0.25
"""How many successes a place is given before any trial has been made there."""
_SAME = 0.01
"""Closer than this, in parts of each parameter's range, trials are as good as in one place."""


class Feasibility:
    """The log probability that a trial succeeds, from the trials that did and did not.

    `(doubt + Σ successes k) / (doubt + Σ all k)` with `k = (width / distance)⁴`: 1 where nothing
    failed, next to nothing where a trial failed, and in between what the nearest trials say. A
    kernel of one width would blur the edge of a region that crashes: a search that is drawn
    towards it would crash at the same place again and again. With this one, the trials close in
    on the edge by halves. It is kept apart from the model of the objective, so that a crash is
    never mistaken for a bad value, and has no parameters to fit, since a handful of failures would
    not determine any.

    Args:
        succeeded: Shape `s × d`: the points of the trials that succeeded.
        failed: Shape `f × d`: the points of the trials that failed.
        columns: The columns that the target tunes.
    """

    def __init__(self, succeeded: FloatArray, failed: FloatArray, columns: list[int]) -> None:
        self._columns = columns
        # Distances grow with the number of columns; the width grows along.
        self._inverse = 1 / (_WIDTH * np.sqrt(max(len(columns), 1)))
        points = np.concatenate([succeeded, failed])[:, columns] * self._inverse
        self._points = points
        self._good = np.concatenate([np.ones(len(succeeded)), np.zeros(len(failed))])

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log probability and its gradient at `k × d` points."""
        S = X[:, self._columns] * self._inverse
        distances = ((S[:, np.newaxis] - self._points) ** 2).sum(-1) + (_SAME / _WIDTH) ** 2
        k = distances**-2
        good, every = _DOUBT + k @ self._good, _DOUBT + k.sum(axis=1)
        # dk/ds = -4 k (s - p) / distance²
        weights = k * (self._good / good[:, np.newaxis] - 1 / every[:, np.newaxis])
        weights *= 4 / distances
        slope = weights @ self._points - weights.sum(axis=1)[:, np.newaxis] * S
        gradient = np.zeros_like(X)
        gradient[:, self._columns] = slope * self._inverse
        return np.log(good / every), gradient
