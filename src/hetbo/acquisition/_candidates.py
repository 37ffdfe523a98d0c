"""The points of the target that a search may try."""

import itertools
import math

import numpy as np
from scipy.stats import qmc

from hetbo._arrays import BoolArray, FloatArray
from hetbo.encoding import Encoder

_MOST_ENUMERATED = 4096
_SAME = 1e-9


def spread(encoder: Encoder, count: int, rng: np.random.Generator) -> FloatArray:
    """Return points of the target that cover its space evenly: a scrambled Sobol sequence.

    Args:
        encoder: The encoder.
        count: How many points.
        rng: Scrambles the sequence.

    Returns:
        Shape `count × d`; columns that the target neither tunes nor fixes are 0.
    """
    space = encoder.joint.target.space
    sequence = qmc.Sobol(len(space), scramble=True, rng=rng)
    # Powers of two keep the sequence balanced.
    unit = sequence.random_base2(max(int(np.ceil(np.log2(max(count, 1)))), 0))[:count]
    return from_unit(encoder, unit)


def from_unit(encoder: Encoder, unit: FloatArray) -> FloatArray:
    """Return the points of the target at `count × p` positions, one column per parameter."""
    low, high = encoder.bounds()
    X = np.zeros((len(unit), len(encoder.columns)))
    for name, value in encoder.joint.target.fixed.items():
        X[:, encoder.columns.of(name)] = encoder.position(name, value)
    for index, (name, parameter) in enumerate(encoder.joint.target.space.items()):
        columns = encoder.columns.of(name)
        if parameter.ordered:
            (c,) = columns
            X[:, c] = low[c] + unit[:, index] * (high[c] - low[c])
        else:
            allowed = [c for c in columns if high[c] > 0]
            chosen = np.minimum((unit[:, index] * len(allowed)).astype(int), len(allowed) - 1)
            X[np.arange(len(X)), np.array(allowed)[chosen]] = 1.0
    return encoder.snap(X)


def nearby(
    encoder: Encoder, anchors: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Return points of the target near some others: each differs in one or more parameters."""
    if len(anchors) == 0:
        return anchors
    low, high = encoder.bounds()
    X = anchors[rng.integers(len(anchors), size=count)].copy()
    fresh = from_unit(encoder, rng.random((count, len(encoder.joint.target.space))))
    for name, parameter in encoder.joint.target.space.items():
        columns = encoder.columns.of(name)
        moved = rng.random(count) < 1 / 3
        if parameter.ordered:
            (c,) = columns
            step = rng.normal(scale=0.1, size=count) * (high[c] - low[c])
            X[moved, c] = np.clip(X[moved, c] + step[moved], low[c], high[c])
        else:
            X[:, columns] = np.where(moved[:, np.newaxis], fresh[:, columns], X[:, columns])
    return encoder.snap(X)


def every_point(encoder: Encoder) -> FloatArray | None:
    """Return all points of the target if they are few; None if they are not."""
    space = encoder.joint.target.space
    every = [values for p in space.values() if (values := p.values) is not None]
    if len(every) < len(space) or math.prod(map(len, every)) > _MOST_ENUMERATED:
        return None
    params = [dict(zip(space, point, strict=True)) for point in itertools.product(*every)]
    return np.nan_to_num(encoder.encode(params))


def neighbours(encoder: Encoder, x: FloatArray) -> FloatArray:
    """Return the points that differ from `x` in one parameter, which has a neighbouring value."""
    found: list[FloatArray] = []
    (own,) = encoder.decode(x[np.newaxis])
    for name, parameter in encoder.joint.target.space.items():
        if others := parameter.neighbours(own[name]):
            points = np.tile(x, (len(others), 1))
            points[:, encoder.columns.of(name)] = encoder.positions(name, others)
            found.append(points)
    return np.concatenate([np.empty((0, len(x))), *found])


def is_among(X: FloatArray, known: FloatArray, columns: list[int]) -> BoolArray:
    """Return which of the points are among the known ones, in the target's columns."""
    among = np.zeros(len(X), dtype=np.bool_)
    # Points that are the same in all columns are so in any weighted sum of them. Few others are.
    weights = np.zeros(X.shape[1])
    weights[columns] = np.cos(np.arange(len(columns)) + 1.0)
    near = _SAME * float(np.abs(weights).sum()) + 1e-12
    sums = X @ weights
    for one, total in zip(known, known @ weights, strict=True):
        alike = np.flatnonzero(np.abs(sums - total) <= near)
        among[alike] |= (np.abs(X[alike][:, columns] - one[columns]) < _SAME).all(axis=1)
    return among
