"""How sources go along with each other, judged by what was measured."""

import math

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from hetbo._arrays import FloatArray
from hetbo.archive._library import Library
from hetbo.encoding import Dataset

_ROWS = 30
"""So many trials of each source are predicted."""
_MOST_ROWS = 9000
"""With more in all, functions are compared with each other instead, which costs less."""
_POINTS = 128
_TINY = 1e-9


def likeness_of(
    library: Library, data: Dataset, cover: FloatArray, functions: FloatArray
) -> FloatArray:
    """Return how each source goes along with each other, from -1 to 1: shape `M × M`.

    Source `m` predicts trials of source `j` by its function, averaged over the parameters that `j`
    does not have; the correlation with the normal scores of what was measured there, times
    `√(n / 30)` for `n < 30` trials, is one half of the likeness, that with `m` and `j` exchanged
    the other one. Two smooth functions often go along with each other by chance; measured values,
    with all that is not common to both, do so less.

    Args:
        library: The `M` sources.
        data: The trials that they were digested from.
        cover: Shape `k × d`: points that cover the target's space.
        functions: Shape `k × M`: the sources' functions there, each with mean 0.
    """
    positions = [int(m) for m in np.unique(data.experiment) if m > 0]
    rows = [np.flatnonzero(data.experiment == m)[:_ROWS] for m in positions]
    counts = np.array([len(own) for own in rows])
    if counts.sum() > _MOST_ROWS:
        unit = functions / np.maximum(functions.std(axis=0), _TINY)
        correlations: FloatArray = unit.T @ unit / len(unit)
        return correlations
    X = data.X[np.concatenate(rows)]
    scores = np.concatenate([_normal_scores(data.y[own]) for own in rows])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    found = np.empty((len(library), len(library)))
    for m in range(len(library)):
        predicted = library.averaged(m, X, cover[:_POINTS])
        predicted = predicted - np.repeat(np.add.reduceat(predicted, starts) / counts, counts)
        spread = np.sqrt(np.add.reduceat(predicted**2, starts) / counts)
        along = np.add.reduceat(predicted * scores, starts) / counts
        found[m] = np.where(spread > _TINY, along / np.maximum(spread, _TINY), 0.0)
    found *= np.sqrt(np.minimum(counts, _ROWS) / _ROWS)
    symmetric: FloatArray = 0.5 * (found + found.T)
    return symmetric


def _normal_scores(y: FloatArray) -> FloatArray:
    """Return where values of these ranks would be if they were normal: mean 0, spread 1."""
    scores: FloatArray = ndtri((rankdata(y) - 0.5) / len(y))
    scores = scores - scores.mean()
    spread = math.sqrt(float((scores**2).mean()))
    return scores / spread if spread > _TINY else scores
