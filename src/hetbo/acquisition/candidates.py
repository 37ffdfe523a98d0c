"""The points of the target that a search may try."""

import itertools

import numpy as np
from scipy.stats import qmc

from hetbo.encoding import Encoder
from hetbo.encoding.encoder import BoolArray, FloatArray
from hetbo.spaces import Categorical, Float, Int, Value

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
        if isinstance(parameter, Categorical):
            allowed = [c for c in columns if high[c] > 0]
            chosen = np.minimum((unit[:, index] * len(allowed)).astype(int), len(allowed) - 1)
            X[np.arange(len(X)), np.array(allowed)[chosen]] = 1.0
        else:
            (c,) = columns
            X[:, c] = low[c] + unit[:, index] * (high[c] - low[c])
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
        if isinstance(parameter, Categorical):
            X[:, columns] = np.where(moved[:, np.newaxis], fresh[:, columns], X[:, columns])
        else:
            (c,) = columns
            step = rng.normal(scale=0.1, size=count) * (high[c] - low[c])
            X[moved, c] = np.clip(X[moved, c] + step[moved], low[c], high[c])
    return encoder.snap(X)


def every_point(encoder: Encoder) -> FloatArray | None:
    """Return all points of the target if they are few; None if they are not."""
    space = encoder.joint.target.space
    values: list[tuple[Value, ...]] = []
    count = 1
    for parameter in space.values():
        if isinstance(parameter, Float):
            return None
        own = (
            parameter.choices
            if isinstance(parameter, Categorical)
            else tuple(
                range(parameter.low, min(parameter.high, parameter.low + _MOST_ENUMERATED) + 1)
            )
        )
        count *= len(own)
        if count > _MOST_ENUMERATED:
            return None
        values.append(own)
    params = [dict(zip(space, point, strict=True)) for point in itertools.product(*values)]
    return np.nan_to_num(encoder.encode(params))


def neighbours(encoder: Encoder, x: FloatArray) -> FloatArray:
    """Return the points that differ from `x` in one category or in one integer.

    Integers differ by one, two, four and so on: next to each other, and across their whole range
    in few steps.
    """
    found: list[FloatArray] = []
    (own,) = encoder.decode(x[np.newaxis])
    for name, parameter in encoder.joint.target.space.items():
        if isinstance(parameter, Float):
            continue
        columns = encoder.columns.of(name)
        others = (
            [choice for choice in parameter.choices if choice is not own[name]]
            if isinstance(parameter, Categorical)
            else _steps(parameter, own[name])
        )
        for other in others:
            point = x.copy()
            point[columns] = encoder.position(name, other)
            found.append(point)
    return np.array(found).reshape(-1, len(x))


def is_among(X: FloatArray, known: FloatArray, columns: list[int]) -> BoolArray:
    """Return which of the points are among the known ones, in the target's columns."""
    if len(known) == 0:
        return np.zeros(len(X), dtype=np.bool_)
    distance = np.abs(X[:, np.newaxis, columns] - known[np.newaxis, :, columns]).max(axis=-1)
    return np.asarray((distance < _SAME).any(axis=1))


def _steps(parameter: Int, value: object) -> list[int]:
    centre = parameter.check(value)
    widths = [2**k for k in range((parameter.high - parameter.low).bit_length())]
    steps = [centre + sign * width for width in widths for sign in (-1, 1)]
    return [step for step in steps if parameter.low <= step <= parameter.high]
