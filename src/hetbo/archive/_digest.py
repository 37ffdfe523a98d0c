"""What is kept of a source: the mean of a Gaussian process of its own, as plain arrays.

A digest depends on the source alone: on its trials in its own unit cube, and on its own scale. So
it can be kept for whatever target comes next.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray, IndexArray
from hetbo.archive._gp import (
    Evidence,
    exact_posterior,
    inducing_points,
    most_likely,
    sparse_posterior,
)
from hetbo.models import squared_exponential

VERSION = 1
"""Rises with every change that makes older digests wrong."""

MOST_EXACT = 300
"""A source with more trials than this has inducing points."""
_FITTED = 500
"""Length-scales are fitted to so many trials at most."""
_INDUCING, _AMONG = 500, 4000


@dataclass(frozen=True, slots=True, eq=False)
class SourceRows:
    """A source's complete trials in its own unit cube.

    Attributes:
        X: Shape `n × c`: parameters in the order of their names, choices in the order of theirs.
        y: Shape `n`: the values, scaled; larger is better.
        noise: Shape `n`: known variances of these values; NaN where they are not known.
        groups: Shape `c`: the position of each column's parameter.
    """

    X: FloatArray
    y: FloatArray
    noise: FloatArray
    groups: IndexArray

    @property
    def key(self) -> str:
        """What a digest of these trials is kept under: a hash of all that it depends on."""
        found = hashlib.blake2b(f"hetbo digest {VERSION} {self.X.shape}".encode(), digest_size=20)
        for array in (self.X, self.y, self.noise, self.groups):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """What is kept of a source: `f(x) = β + k(x, U) a`, its posterior mean.

    Attributes:
        points: Shape `u × c`: `U`, all trials or inducing points.
        weights: Shape `u`: `a`.
        inverse: Shape `c`: `1 / ℓ`.
        variance: `s²`.
        noise: `σ²`.
        mean: `β`.
    """

    points: FloatArray
    weights: FloatArray
    inverse: FloatArray
    variance: float
    noise: float
    mean: float

    @classmethod
    def of(cls, rows: SourceRows) -> "Digest":
        """Digest a source's trials, at least one.

        Args:
            rows: The trials.

        Raises:
            FitError: The trials cannot be modelled.
        """
        rng = np.random.default_rng(0)
        X, y, n = rows.X, rows.y, len(rows.y)
        some = np.sort(rng.permutation(n)[:_FITTED])
        z = most_likely(Evidence(X[some], y[some], rows.noise[some], rows.groups))
        evidence = Evidence(X, y, rows.noise, rows.groups)
        if n <= MOST_EXACT:
            found, _ = exact_posterior(evidence, z)
        else:
            inducing = inducing_points(evidence, z, count=_INDUCING, among=_AMONG, rng=rng)
            found, _ = sparse_posterior(evidence, z, inducing, cautious=False)
        return cls(found.U, found.weights, found.inverse, found.variance, found.noise, found.mean)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the function at `k × c` points."""
        K = squared_exponential(X * self.inverse, self.points * self.inverse, self.variance)
        values: FloatArray = self.mean + K @ self.weights
        return values

    def arrays(self) -> dict[str, FloatArray]:
        """Return the digest as named arrays of plain numbers."""
        return {
            "points": self.points,
            "weights": self.weights,
            "inverse_length_scales": self.inverse,
            "variance_noise_mean": np.array([self.variance, self.noise, self.mean]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> "Digest":
        """Return the digest that `arrays` gave.

        Raises:
            ValueError: These are no arrays of a digest.
        """
        names = ("points", "weights", "inverse_length_scales", "variance_noise_mean")
        try:
            found = [np.asarray(arrays[name], dtype=np.float64) for name in names]
            points, weights, inverse, numbers = found
            variance, noise, mean = numbers.tolist()
        except (KeyError, TypeError) as error:
            raise ValueError(f"no digest: {error!r}") from error
        fits = (
            points.shape == (len(weights), len(inverse))
            and all(np.isfinite(array).all() for array in found)
            and (inverse > 0).all()
            and variance > 0
            and noise >= 0
        )
        if not fits:
            raise ValueError("no digest: its arrays do not fit together")
        return cls(points, weights, inverse, variance, noise, mean)
