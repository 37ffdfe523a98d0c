"""Values that lie on a grid: Optuna's steps, which hetbo's parameters do not have."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hetbo.integrations.optuna._distributions import Translation
from hetbo.spaces import Value

_MOST_LISTED = 4096
_NEAR = 32
_DRAWS = 256


def every_point(target: Mapping[str, Translation]) -> list[dict[str, Value]] | None:
    """Return all points of a space that has a step; None if they are many or there is no step."""
    if all(translation.step is None for translation in target.values()):
        return None
    counts = [translation.count for translation in target.values()]
    if None in counts or math.prod(count or 1 for count in counts) > _MOST_LISTED:
        return None
    values = [[t.at(index) for index in range(t.count or 1)] for t in target.values()]
    return [dict(zip(target, point, strict=True)) for point in itertools.product(*values)]


def on_grid(
    params: Mapping[str, Value],
    target: Mapping[str, Translation],
    taken: Sequence[Mapping[str, Value]],
    rng: np.random.Generator,
) -> dict[str, Value]:
    """Return a point on the grid near some parameters that is not taken, if there is one.

    It is the nearest one. Where that is taken, the nearest that differs from it in one parameter
    with a step is; where all of these are taken, a random one.

    Args:
        params: What to come near to.
        target: The target's parameters.
        taken: The points not to return.
        rng: Where random points come from.
    """
    known = {point_key(other, target) for other in taken}
    first = {name: t.read(t.write(params[name])) for name, t in target.items()}
    points = itertools.chain([first], _around(first, params, target), _drawn(target, rng))
    return next((point for point in points if point_key(point, target) not in known), first)


def point_key(params: Mapping[str, Value], target: Mapping[str, Translation]) -> tuple[object, ...]:
    """Return what two points have in common if they are the same."""
    return tuple(
        t.nearest(value) if t.step is not None and isinstance(value, int | float) else repr(value)
        for value, t in ((params[name], t) for name, t in target.items())
    )


def _around(
    first: Mapping[str, Value], params: Mapping[str, Value], target: Mapping[str, Translation]
) -> Iterator[dict[str, Value]]:
    found: list[tuple[float, str, Value]] = []
    for name, t in target.items():
        wanted = params[name]
        if t.step is None or t.count is None or not isinstance(wanted, int | float):
            continue
        centre = t.nearest(wanted)
        for index in range(max(0, centre - _NEAR), min(t.count, centre + _NEAR + 1)):
            value = t.at(index)
            if isinstance(value, int | float):
                found.append((abs(value - wanted) / (t.step * t.count), name, value))
    found.sort(key=lambda item: item[0])
    return ({**first, name: value} for _, name, value in found)


def _drawn(
    target: Mapping[str, Translation], rng: np.random.Generator
) -> Iterator[dict[str, Value]]:
    counts = {name: t.count for name, t in target.items() if t.count is not None}
    if len(counts) < len(target):
        return  # a real number is never the same twice
    for _ in range(_DRAWS):
        yield {name: t.at(int(rng.integers(counts[name]))) for name, t in target.items()}
