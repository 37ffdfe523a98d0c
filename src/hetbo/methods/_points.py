"""The points that may be tried next: those that cover the space, are near good ones, are left."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hetbo._arrays import BoolArray, FloatArray
from hetbo.acquisition._candidates import every_point, from_unit, is_among, spread
from hetbo.acquisition._ensemble import Searchable
from hetbo.encoding import Encoder, Rows

_ANCHORS = 5
_SPARE = 64
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a target's space, or of its pool.

    `encoder`, where a method takes one, is that of a part of the space, or of all of it. `taken`
    are points that were tried, shape `… × d`.

    Attributes:
        encoder: The encoder of the whole space.
        pool: Shape `… × d`: the only allowed points; None if all of the space is allowed.
    """

    encoder: Encoder
    pool: FloatArray | None

    @cached_property
    def _columns(self) -> list[int]:
        return self.encoder.columns.of(*self.encoder.joint.target.space)

    def best_new(self, acquisition: Searchable, X: FloatArray, taken: FloatArray) -> int:
        """Return the position of the highest point that is not taken, or the highest of all."""
        repeated, values = is_among(X, taken, self._columns), acquisition.values(X)
        return max(range(len(X)), key=lambda index: (not repeated[index], values[index]))

    def inside(self, encoder: Encoder, X: FloatArray) -> BoolArray:
        """Return which points have the held values and the choices of a part of the space."""
        if encoder is self.encoder:
            return np.ones(len(X), dtype=np.bool_)
        low, high = encoder.bounds()
        part = encoder.joint.target
        held = {name: encoder.position(name, value) for name, value in part.fixed.items()}
        for name, position in held.items():
            low[encoder.columns.of(name)] = high[encoder.columns.of(name)] = position
        choices = [name for name, p in part.space.items() if not p.ordered]
        at = encoder.columns.of(*held, *choices)
        outside = (X[:, at] < low[at] - _SAME) | (X[:, at] > high[at] + _SAME)
        return np.asarray(~outside.any(axis=1))

    def anchors(
        self,
        encoder: Encoder,
        own: FloatArray,
        sources: Sequence[Rows],
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the best points of the target and of each source, new parameters anywhere.

        Args:
            encoder: The encoder of a part of the space.
            own: Shape `… × d`: the target's points, the best one first.
            sources: The sources' trials.
            rng: Where new parameters come from.
        """
        best = [
            X[self.inside(encoder, X)][:_ANCHORS] for X in (rows.best_first for rows in sources)
        ]
        X = np.concatenate([np.empty((0, own.shape[1])), *best])
        fresh = from_unit(encoder, rng.random((len(X), len(encoder.joint.target.space))))
        # What the source alone tunes is at the target's value, not at the source's.
        X = np.where(np.isnan(X) | ~_tuned(encoder), fresh, X)
        return np.concatenate([own[self.inside(encoder, own)][:_ANCHORS], encoder.snap(X)])

    def covering(
        self,
        encoder: Encoder,
        taken: FloatArray,
        order: int,
        rng: np.random.Generator,
        *,
        cover_seed: int | None,
    ) -> FloatArray:
        """Return a point that is not taken: of an even cover of the space, or a random one.

        Args:
            encoder: The encoder of a part of the space.
            taken: The points that were tried.
            order: The point's position in the even cover.
            rng: Where random points come from.
            cover_seed: Scrambles the even cover; None for a random point.
        """
        if self.pool is not None:
            points = self.pool[rng.permutation(len(self.pool))]
        elif cover_seed is not None:
            points = spread(encoder, order + _SPARE, np.random.default_rng(cover_seed))[order:]
        else:
            points = _random(encoder, rng)
        free = points[~is_among(points, taken, self._columns)]
        if len(free) == 0 and self.pool is None:
            # Few points are left, if any: go through all of them, where they can be counted.
            every = every_point(encoder)
            if every is not None:
                every = rng.permutation(every)
                free = every[~is_among(every, taken, self._columns)]
        first: FloatArray = free[0] if len(free) else points[0]
        return first

    def with_rest(
        self,
        encoder: Encoder,
        x: FloatArray,
        unseen: Collection[str],
        taken: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return a point with some parameters, which no model sees, drawn at random."""
        space = self.encoder.joint.target.space
        unseen = set(unseen) & set(encoder.joint.target.space)
        if not unseen:
            return x
        if self.pool is None:
            drawn = self.encoder.columns.of(*unseen)
            points = np.tile(x, (_SPARE, 1))
            points[:, drawn] = _random(encoder, rng)[:, drawn]
        else:
            seen = self.encoder.columns.of(*(name for name in space if name not in unseen))
            points = self.pool[is_among(self.pool, x[np.newaxis], seen)] if seen else self.pool
            points = rng.permutation(points)
        free = points[~is_among(points, taken, self._columns)]
        completed: FloatArray = free[0] if len(free) else x
        return completed


def _tuned(encoder: Encoder) -> BoolArray:
    """Return shape `d`: which columns the target tunes."""
    space = encoder.joint.target.space
    return np.array([column.parameter in space for column in encoder.columns])


def _random(encoder: Encoder, rng: np.random.Generator) -> FloatArray:
    """Return some random points, so that there is another one if the first is taken."""
    return from_unit(encoder, rng.random((_SPARE, len(encoder.joint.target.space))))
