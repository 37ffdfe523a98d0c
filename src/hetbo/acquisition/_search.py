"""The search for the point with the highest acquisition, in any mix of parameters."""

import numpy as np
from scipy.optimize import minimize

from hetbo._arrays import FloatArray
from hetbo.acquisition._candidates import every_point, is_among, nearby, neighbours, spread
from hetbo.acquisition._ensemble import Searchable
from hetbo.encoding import Encoder

_SPREAD, _NEARBY = 1024, 256
_RESTARTS, _POLISHED = 16, 2
_APART = 0.1
"""How far starts stay apart, in parts of the cube's diagonal, so that they do not all end at the
same maximum."""
_ASCENT, _POLISH = 40, 200
_ROUNDS = 4


def maximize(
    acquisition: Searchable,
    encoder: Encoder,
    *,
    rng: np.random.Generator,
    known: FloatArray,
    anchors: FloatArray,
    pool: FloatArray | None = None,
) -> tuple[FloatArray, float]:
    """Find the point of the target with the highest acquisition that is not known yet.

    A pool, or a space of a few thousand points, is evaluated whole. Otherwise the best of many
    points are improved: floats by gradient, integers and categories by steps, in turns, so that
    what is found is a point that can be tried, and no rounding moves it onto a known one. A known
    point is returned only if nothing else is left.

    Args:
        acquisition: What to maximize.
        encoder: Knows the target's space.
        rng: Where starts come from.
        known: Shape `… × d`: points not to return.
        anchors: Shape `… × d`: good points, near which some starts lie.
        pool: Shape `… × d`: the only points to choose from, if given.

    Returns:
        The point, shape `d`, and its acquisition.
    """
    columns = encoder.columns.of(*encoder.joint.target.space)
    finite = every_point(encoder) if pool is None else pool
    if finite is not None:
        return _best_new(acquisition, finite, known, columns)
    starts = np.concatenate([spread(encoder, _SPREAD, rng), nearby(encoder, anchors, _NEARBY, rng)])
    values = acquisition.values(starts)
    X = _apart(starts[np.argsort(-values, kind="stable")], columns)
    floats = encoder.columns.of(
        *(name for name, p in encoder.joint.target.space.items() if p.values is None)
    )
    discrete = len(floats) < len(columns)
    for _ in range(_ROUNDS):
        before = X
        X = _ascend(acquisition, X, floats, encoder.bounds(), steps=_ASCENT) if floats else X
        if discrete:
            X = _step(acquisition, encoder, X, known, columns)
        if not discrete or np.array_equal(X, before):
            break
    if floats:
        best = X[np.argsort(-acquisition.values(X), kind="stable")[:_POLISHED], np.newaxis]
        bounds = encoder.bounds()
        polished = [_ascend(acquisition, x, floats, bounds, steps=_POLISH) for x in best]
        X = np.concatenate([*polished, X])
    return _best_new(acquisition, np.concatenate([encoder.snap(X), starts]), known, columns)


def _best_new(
    acquisition: Searchable, X: FloatArray, known: FloatArray, columns: list[int]
) -> tuple[FloatArray, float]:
    new = X[~is_among(X, known, columns)]
    X = new if len(new) else X
    values = acquisition.values(X)
    best = int(values.argmax())
    return X[best], float(values[best])


def _apart(X: FloatArray, columns: list[int]) -> FloatArray:
    """Return the first points, best first, that stay apart from each other."""
    nearest = _APART * np.sqrt(len(columns))
    left, chosen = X, list[FloatArray]()
    while len(left) and len(chosen) < _RESTARTS:
        chosen.append(left[0])
        distances = np.linalg.norm((left - left[0])[:, columns], axis=1)
        left = left[distances > nearest]
    return np.array(chosen)


def _ascend(
    acquisition: Searchable,
    X: FloatArray,
    floats: list[int],
    bounds: FloatArray,
    *,
    steps: int,
) -> FloatArray:
    """Follow the gradient from all points at once: their sum has independent terms."""
    shape = (len(X), len(floats))

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        moved = X.copy()
        moved[:, floats] = flat.reshape(shape)
        values, gradients = acquisition(moved)
        return -float(values.sum()), -gradients[:, floats].ravel()

    result = minimize(
        loss,
        X[:, floats].ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=np.tile(bounds[:, floats].T, (len(X), 1)),
        options={"maxiter": steps, "ftol": 1e-10},
    )
    moved_to = X.copy()
    moved_to[:, floats] = result.x.reshape(shape)
    # The sum has risen; a single term may have fallen.
    better = acquisition.values(moved_to) >= acquisition.values(X)
    return np.where(better[:, np.newaxis], moved_to, X)


def _step(
    acquisition: Searchable,
    encoder: Encoder,
    X: FloatArray,
    known: FloatArray,
    columns: list[int],
) -> FloatArray:
    """Move each point to its best new neighbour until there is none that is better."""
    X = X.copy()
    values = acquisition.values(X)
    values = np.where(is_among(X, known, columns), -np.inf, values)
    moving = np.arange(len(X))
    while len(moving):
        around = [neighbours(encoder, x) for x in X[moving]]
        of = np.repeat(moving, [len(points) for points in around])
        every = np.concatenate(around)
        if len(every) == 0:
            break
        heights = np.where(is_among(every, known, columns), -np.inf, acquisition.values(every))
        moved: list[int] = []
        for index in moving.tolist():
            own = np.flatnonzero(of == index)
            if len(own) and heights[own].max() > values[index]:
                best = own[heights[own].argmax()]
                X[index], values[index] = every[best], heights[best]
                moved.append(index)
        moving = np.array(moved, dtype=np.intp)
    return X
