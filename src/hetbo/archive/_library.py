"""The digests of all sources in one joint cube, evaluated at once.

For source `m` with points `u_i`, weights `a_i` and length-scales `ℓ_m`, columns that it does not
know have `1/ℓ = 0`. All exponents at a point are then one product of matrices,

    -½ Σ_c ((x_c - u_ic) / ℓ_mc)² = Σ_c (-½ ℓ_mc⁻² x_c² + ℓ_mc⁻² u_ic x_c) - ½ Σ_c ℓ_mc⁻² u_ic²,

however many sources there are. Two kinds of columns are special:

- A parameter that the source held at a known value is a column in which all of its points have that
  value: the source says nothing far from there. The length-scale is the median of those of the
  sources that tuned the parameter.
- A parameter that the source tuned, and the target neither tunes nor holds at a known value, is
  averaged over the source's range: the factor `exp(-½ ((v - u_ic) / ℓ_mc)²)` becomes its mean over
  `v`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from hetbo._arrays import BoolArray, FloatArray, IndexArray
from hetbo.archive._digest import Digest, SourceRows
from hetbo.encoding import Dataset
from hetbo.models import squared_exponential

_DIGITS = 12
"""Coordinates are rounded: the same trials in another joint cube must give the same digest."""
_SMALLEST_FACTOR = 1e-300
_LONGEST = 1e3
_UNTOLD, _HELD = 0.15, 0.5
"""The length-scale of a column that no source tunes, in parts of the cube's diagonal: what is
expected of the target's own part, and how far from a value that a source held it says something."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a source's own columns lie in the joint cube.

    Attributes:
        columns: Shape `c`: the joint column of each.
        low: Shape `c`: where the source's range begins.
        width: Shape `c`: how wide it is.
        ordered: Shape `c`: whether it is a number's column.
        groups: Shape `c`: the position of each column's parameter.
        held: The joint columns of parameters that the source held at known values.
        values: Where these values lie.
    """

    columns: IndexArray
    low: FloatArray
    width: FloatArray
    ordered: BoolArray
    groups: IndexArray
    held: IndexArray
    values: FloatArray


def place_and_rows(data: Dataset, experiment: int) -> tuple[Place, SourceRows]:
    """Return where a source's columns lie, and its trials in its own unit cube.

    Args:
        data: The trials, each experiment's values on a scale of its own.
        experiment: The source's position, from 1; it has a trial.
    """
    encoder, member = data.encoder, data.encoder.joint.members[experiment]
    low, high = encoder.bounds(experiment)
    columns: list[int] = []
    groups: list[int] = []
    # In an order that does not depend on what else is in the joint space.
    for group, name in enumerate(sorted(member.space)):
        own = [c for c in encoder.columns.of(name) if high[c] > low[c]]
        columns += sorted(own, key=lambda c: encoder.columns[c].label)
        groups += [group] * len(own)
    mine = data.experiment == experiment
    X = data.X[mine]
    held = [c for name in member.fixed for c in encoder.columns.of(name)]
    place = Place(
        np.array(columns, dtype=np.intp),
        low[columns],
        high[columns] - low[columns],
        np.array([encoder.columns[c].choice is None for c in columns], dtype=np.bool_),
        np.array(groups, dtype=np.intp),
        np.array(held, dtype=np.intp),
        X[0, held],
    )
    own_X = np.round((X[:, columns] - place.low) / place.width, _DIGITS)
    return place, SourceRows(own_X, data.y[mine], data.noise[mine], place.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """The functions of `M` sources with `N` points in all, on the joint cube.

    Attributes:
        linear: Shape `(2 d + 1) × N`: what makes the exponents of `(x², x, 1)`.
        weights: Shape `N`: `a`.
        starts: Shape `M + 1`: where each source's points begin.
        means: Shape `M`: `β`.
        signal: Shape `M`: how much of each source's variance is more than noise.
        known: Shape `M × d`: which columns each source knows.
        length_scales: Shape `d`: the median of the sources' length-scales in each column; what is
            expected where no source tuned it.
    """

    linear: FloatArray
    weights: FloatArray
    starts: IndexArray
    means: FloatArray
    signal: FloatArray
    known: BoolArray
    length_scales: FloatArray

    @classmethod
    def of(
        cls, digests: Sequence[Digest], places: Sequence[Place], *, missing: BoolArray
    ) -> "Library":
        """Put digests side by side.

        Args:
            digests: The digests of the `M` sources, at least one.
            places: Where their columns lie.
            missing: Shape `d`: the columns that the target neither tunes nor holds at known values.
        """
        lengths = _median_length_scales(digests, places, len(missing))
        untuned = np.isnan(lengths)
        diagonal = math.sqrt(len(missing))
        held = np.where(untuned, _HELD * diagonal, lengths)
        both = list(zip(digests, places, strict=True))
        known = np.zeros((len(both), len(missing)), dtype=np.bool_)
        for m, (_, place) in enumerate(both):
            known[m, [*place.columns, *place.held]] = True
        return cls(
            np.concatenate([_linear(*pair, missing, held) for pair in both], axis=1),
            np.concatenate([digest.weights for digest in digests]),
            _starts([len(digest.weights) for digest in digests]),
            np.array([digest.mean for digest in digests]),
            np.array([digest.variance / (digest.variance + digest.noise) for digest in digests]),
            known & ~missing,
            np.where(untuned, _UNTOLD * diagonal, lengths),
        )

    def __len__(self) -> int:
        return len(self.means)

    @property
    def sizes(self) -> IndexArray:
        """Shape `M`: how many points each source has."""
        return np.diff(self.starts)

    def only(self, sources: IndexArray) -> "Library":
        """Return the library of some of the sources, at least one."""
        points = np.concatenate([np.arange(*self.starts[m : m + 2]) for m in sources.tolist()])
        return Library(
            self.linear[:, points],
            self.weights[points],
            _starts(self.sizes[sources].tolist()),
            self.means[sources],
            self.signal[sources],
            self.known[sources],
            self.length_scales,
        )

    def covariances(self, X: FloatArray) -> FloatArray:
        """Return each source's covariance with its own points, at `k × d` points: `k × N`."""
        E = np.concatenate([X * X, X, np.ones((len(X), 1))], axis=1) @ self.linear
        return np.exp(E, out=E)

    def functions(self, K: FloatArray) -> FloatArray:
        """Return the sources' functions from their covariances: shape `k × M`."""
        return np.add.reduceat(K * self.weights, self.starts[:-1], axis=1) + self.means

    def slopes(self, X: FloatArray, weighted: FloatArray) -> FloatArray:
        """Return `Σ_i w_i ∂k_i(x)/∂x` from `w_i k_i(x)`, shape `k × N`, at `k × d` points."""
        d = X.shape[1]
        return 2.0 * X * (weighted @ self.linear[:d].T) + weighted @ self.linear[d : 2 * d].T

    def averaged(self, source: int, X: FloatArray, cover: FloatArray) -> FloatArray:
        """Return a source's function at points, averaged over the columns that are NaN.

        Args:
            source: The source.
            X: Shape `k × d`.
            cover: Shape `q × d`: what to average over.

        Returns:
            Shape `k`.
        """
        points = slice(int(self.starts[source]), int(self.starts[source + 1]))
        d = X.shape[1]
        E = np.tile(self.linear[-1, points], (len(X), 1))
        for c in np.flatnonzero(self.known[source]):
            square, line = self.linear[c, points], self.linear[d + c, points]
            unknown = np.isnan(X[:, c])
            x = np.where(unknown, 0.0, X[:, c])[:, np.newaxis]
            E += x * x * square + x * line
            if unknown.any():
                z = cover[:, c, np.newaxis]
                whole = np.logaddexp.reduce(z * z * square + z * line, axis=0)
                E[unknown] += whole - math.log(len(cover))
        values: FloatArray = np.exp(E) @ self.weights[points] + self.means[source]
        return values


def _starts(sizes: Sequence[int]) -> IndexArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _linear(digest: Digest, place: Place, missing: BoolArray, lengths: FloatArray) -> FloatArray:
    """Return one source's part of a library's `linear`."""
    d, count = len(missing), len(digest.weights)
    seen, held = ~missing[place.columns], ~missing[place.held]
    U, inverse = np.zeros((count, d)), np.zeros(d)
    columns, held_columns = place.columns[seen], place.held[held]
    U[:, columns] = digest.points[:, seen] * place.width[seen] + place.low[seen]
    inverse[columns] = digest.inverse[seen] / place.width[seen]
    U[:, held_columns] = place.values[held]
    inverse[held_columns] = 1.0 / lengths[held_columns]
    squares = inverse**2
    constant = math.log(digest.variance) - 0.5 * (squares * U * U).sum(axis=1)
    constant += np.log(_averages(digest, place, np.flatnonzero(~seen)))
    by_square = np.repeat(-0.5 * squares[:, np.newaxis], count, axis=1)
    return np.concatenate([by_square, (squares * U).T, constant[np.newaxis]])


def _averages(digest: Digest, place: Place, columns: IndexArray) -> FloatArray:
    """Return the means of the covariance with each of `u` points over some of a source's columns.

    Numbers count as evenly spread over the source's range, choices as equally likely.
    """
    factors = np.ones(len(digest.points))
    for group in np.unique(place.groups[columns]):
        own = columns[place.groups[columns] == group]
        U, inverse = digest.points[:, own], digest.inverse[own]
        if place.ordered[own[0]]:
            a = float(inverse[0]) / math.sqrt(2.0)
            inside = erf(a * (1.0 - U[:, 0])) + erf(a * U[:, 0])
            factors *= inside * math.sqrt(math.pi) / (2.0 * a)
        else:
            choices = np.eye(len(own)) * inverse
            factors *= squared_exponential(U * inverse, choices).mean(axis=1)
    return np.maximum(factors, _SMALLEST_FACTOR)


def _median_length_scales(digests: Sequence[Digest], places: Sequence[Place], d: int) -> FloatArray:
    """Return the median of the sources' length-scales in each joint column; NaN without any."""
    found = np.full((len(digests), d), np.nan)
    for m, (digest, place) in enumerate(zip(digests, places, strict=True)):
        found[m, place.columns] = np.minimum(place.width / digest.inverse, _LONGEST)
    tuned = ~np.isnan(found).all(axis=0)
    lengths = np.full(d, np.nan)
    lengths[tuned] = np.nanmedian(found[:, tuned], axis=0)
    return lengths
