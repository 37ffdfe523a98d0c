"""The target as a weighted sum of its sources' functions plus a Gaussian process of its own.

    y(x) = c + Σ_m w_m f_m(x) + r(x) + noise

`f_m` is what the digest of source `m` predicts, with mean 0 over the target's space. The weights
are normal, `w = b π + δ`: `π` is what the target's trials say of the sources (`_relevance.py`),
`b ~ N(0.8, 0.4²)` how closely the target follows that, `δ_m ~ N(0, s ρ_m)` how it differs from it,
`ρ` the sources' shares in `π`. Weights and `c` have closed forms, so that `y` is a Gaussian process
with

    mean        0.8 φ(x),     φ = Σ_m π_m f_m,
    covariance  0.4² φ(x) φ(x') + s Σ_m ρ_m f_m(x) f_m(x') + 1 + k_r(x, x'),

the first two terms times `(n / 5)²` while the target has `n < 5` trials.

Only `s`, the kernel of `r` and the noise are searched for.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hetbo._arrays import FloatArray, IndexArray
from hetbo.archive._gp import noise_of
from hetbo.archive._library import Library
from hetbo.archive._search import search
from hetbo.errors import FitError
from hetbo.models import (
    DEFAULT,
    Moments,
    inverse_of,
    squared_exponential,
    squared_exponential_slope,
)

_FOLLOWS, _FOLLOWS_SPREAD = 0.8, 0.4
"""The prior of `b`."""
_FEW = 5
"""With fewer trials of the target its weights are taken for surer than they are: they could be of
either sign, and the first trials would go where the sources are worst, to find that out."""
_OWN_WEIGHTS, _OWN_WEIGHTS_SPREAD = 0.3, 1.0
"""The median of `s`, and the standard deviation of its logarithm."""
_RESIDUAL, _RESIDUAL_SPREAD = 0.3, 1.0
"""The same of the variance of `r`."""
_LENGTHS_SPREAD = 0.7
"""The standard deviation of the logarithm of a length-scale of `r` around the sources' median."""
_EVEN = 0.1
"""So much of the sources' shares goes to all sources alike."""
_CONSTANT = 1.0
_JITTER = 1e-8
_SMALLEST_VARIANCE = 1e-9
_SMALLEST, _LARGEST = math.log(1e-4), math.log(20.0)
_FIRST_NOISE = math.log(1e-3)
_SMALLEST_GAIN = 1e-6
_BLOCK = 512


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """What the target tunes.

    Attributes:
        columns: The joint columns.
        groups: For each of them the position of its parameter.
        typical: For each parameter the sources' median length-scale.
    """

    columns: IndexArray
    groups: IndexArray
    typical: FloatArray

    def inverse(self, lengths: FloatArray, d: int) -> FloatArray:
        """Return shape `d`: `1 / ℓ` from length-scales of the parameters, 0 in other columns."""
        inverse = np.zeros(d)
        inverse[self.columns] = 1.0 / lengths[self.groups]
        return inverse

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations of `z = (log s, log variance of r, log ℓ …, log σ²)`."""
        location = [math.log(_OWN_WEIGHTS), math.log(_RESIDUAL), *np.log(self.typical)]
        spread = [_OWN_WEIGHTS_SPREAD, _RESIDUAL_SPREAD, *[_LENGTHS_SPREAD] * len(self.typical)]
        noise = DEFAULT.noise
        return np.array([*location, noise.location]), np.array([*spread, noise.scale])

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × (p + 3)`: the box that is searched."""
        p = len(self.typical)
        shortest = math.log(DEFAULT.shortest_length_scale(p))
        low = [_SMALLEST, _SMALLEST, *[shortest] * p, _SMALLEST]
        return np.array([low, [_LARGEST] * (p + 3)])

    def start(self, warm_start: tuple[float, ...] | None) -> FloatArray:
        """Return where a search for `z` starts."""
        z = self.prior[0]
        z[-1] = _FIRST_NOISE
        if warm_start is not None and len(warm_start) == len(z):
            z = np.array(warm_start)
        return np.clip(z, *self.bounds)


@dataclass(frozen=True, eq=False)
class Weights:
    """What is known of the sources' weights before the target's own part is fitted.

    Attributes:
        combined: Shape `M`: `π`.
        centres: Shape `M`: the means of the sources' functions over the target's space.
    """

    combined: FloatArray
    centres: FloatArray

    @cached_property
    def shares(self) -> FloatArray:
        """Shape `M`: `ρ`, which adds up to 1."""
        sizes, count = np.abs(self.combined), len(self.combined)
        whole = float(sizes.sum())
        told = sizes / whole if whole > 0 else np.full(count, 1.0 / count)
        shares: FloatArray = (1 - _EVEN) * told + _EVEN / count
        return shares


@dataclass(frozen=True, eq=False)
class TargetEvidence:
    """The log posterior of `z` given the target's trials, and its gradient.

    Attributes:
        own: What the target tunes.
        weights: What is known of the sources' weights.
        X: Shape `n × d`: the trials.
        y: Shape `n`.
        known: Shape `n`: known variances of the noise; NaN where it is learned.
        F: Shape `n × M`: the sources' functions at the trials, centred.
        measured: How many of the trials were measured, and are not only believed.
    """

    own: Own
    weights: Weights
    X: FloatArray
    y: FloatArray
    known: FloatArray
    F: FloatArray
    measured: int

    @property
    def doubt(self) -> float:
        """How much of the weights' prior variances counts: all with the first few trials done."""
        return min(1.0, max(self.measured, 1) / _FEW) ** 2

    @cached_property
    def rest(self) -> FloatArray:
        """Shape `n`: the values less their prior means."""
        rest: FloatArray = self.y - _FOLLOWS * (self.F @ self.weights.combined)
        return rest

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What `K` consists of: what stays, what `s` multiplies, squared distances."""
        phi = self.F @ self.weights.combined
        fixed = self.doubt * _FOLLOWS_SPREAD**2 * np.outer(phi, phi) + _CONSTANT
        scaled = self.doubt * (self.F * self.weights.shares) @ self.F.T
        squares = np.zeros((len(self.own.typical), len(phi), len(phi)))
        for c, group in zip(self.own.columns, self.own.groups, strict=True):
            x = self.X[:, c]
            squares[group] += (x[:, np.newaxis] - x) ** 2
        return fixed, scaled, squares

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × (p + 3)`: the box that is searched."""
        return self.own.bounds

    def residual(self, z: FloatArray) -> FloatArray:
        """Return `k_r` at the trials."""
        E = z[1] - 0.5 * np.tensordot(np.exp(-2 * z[2:-1]), self._parts[2], axes=1)
        R: FloatArray = np.exp(E, out=E)
        return R

    def covariance(self, z: FloatArray) -> FloatArray:
        """Return `K`, the noise included."""
        fixed, scaled, _ = self._parts
        return self._with_noise(fixed + math.exp(z[0]) * scaled + self.residual(z), z)

    def _with_noise(self, K: FloatArray, z: FloatArray) -> FloatArray:
        K.flat[:: len(K) + 1] += noise_of(self.known, math.exp(z[-1])) + _JITTER
        return K

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the log posterior and its gradient.

        Raises:
            NotPositiveDefinite: The covariance cannot be factored there.
        """
        fixed, scaled, squares = self._parts
        R = self.residual(z)
        K = self._with_noise(fixed + math.exp(z[0]) * scaled + R, z)
        inverse, half_log = inverse_of(K)
        alpha = inverse @ self.rest
        G = 0.5 * (np.outer(alpha, alpha) - inverse)
        R *= G
        gradient = np.empty_like(z)
        gradient[0] = math.exp(z[0]) * np.vdot(G, scaled)
        gradient[1] = R.sum()
        gradient[2:-1] = np.tensordot(squares, R, axes=2) * np.exp(-2 * z[2:-1])
        gradient[-1] = math.exp(z[-1]) * G.diagonal()[np.isnan(self.known)].sum()
        location, spread = self.own.prior
        t = (z - location) / spread
        value = -0.5 * float(self.rest @ alpha) - half_log - 0.5 * float(t @ t)
        return value, gradient - t / spread

    def most_likely(self, start: FloatArray) -> FloatArray:
        """Return the most likely `z`, searched for from a start.

        Raises:
            FitError: The evidence cannot be computed.
        """
        if len(self.y) == 0:
            return start
        found = search(self, start, ftol=_SMALLEST_GAIN)
        if found is None:
            raise FitError(
                f"the covariance of the target's {len(self.y)} trials cannot be factored; is there "
                "an infinite value among them or in a source?"
            )
        return found[1]


class TargetPosterior:
    """Predictions of the target at fixed hyperparameters.

    Args:
        library: The `M` sources.
        evidence: The target's trials, and what they say.
        z: The hyperparameters.

    Attributes:
        noise: The variance of the target's noise, as it was learned.
        source_weights: Shape `M`: the posterior means of `w`.
    """

    def __init__(self, library: Library, evidence: TargetEvidence, z: FloatArray) -> None:
        self._library, self._evidence = library, evidence
        self.noise = math.exp(z[-1])
        self._variance = math.exp(z[1])
        self._inverse = evidence.own.inverse(np.exp(z[2:-1]), evidence.X.shape[1])
        self._follows_variance = evidence.doubt * _FOLLOWS_SPREAD**2
        self._spread = evidence.doubt * math.exp(z[0]) * evidence.weights.shares
        self._phi = evidence.F @ evidence.weights.combined
        self._root = np.linalg.inv(_cholesky(evidence.covariance(z)))
        self._alpha = self._root.T @ (self._root @ evidence.rest)
        follows = _FOLLOWS + self._follows_variance * float(self._phi @ self._alpha)
        self.source_weights: FloatArray = follows * evidence.weights.combined + self._spread * (
            evidence.F.T @ self._alpha
        )
        # The mean is linear in the sources' covariances: a coefficient for each of their points.
        self._coefficients = np.repeat(self.source_weights, library.sizes) * library.weights
        self._constant = _CONSTANT * float(self._alpha.sum()) + float(
            self.source_weights @ (library.means - evidence.weights.centres)
        )

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of the trials, noise included, each without its own value."""
        precision = (self._root**2).sum(axis=0)
        return self._evidence.y - self._alpha / precision, 1.0 / precision

    def means(self, X: FloatArray) -> FloatArray:
        """Return means alone at `k × d` points."""
        K = self._library.covariances(X)
        means: FloatArray = (
            K @ self._coefficients + self._constant + self._residual(X) @ self._alpha
        )
        return means

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations at `k × d` points."""
        mean, sd = np.empty(len(X)), np.empty(len(X))
        for first in range(0, len(X), _BLOCK):
            block = slice(first, first + _BLOCK)
            parts = self._parts(X[block])
            mean[block] = parts.mean
            sd[block] = np.sqrt(np.maximum(parts.variance, _SMALLEST_VARIANCE))
        return mean, sd

    def __call__(self, X: FloatArray) -> Moments:
        """Return predictions at `k × d` points, with gradients."""
        library, parts = self._library, self._parts(X)
        weights = self._evidence.weights.combined
        pull = parts.explained @ self._root
        # d variance = 2 Σ_m (spread of f_m at x, less what the trials tell of it) d f_m + …
        toward = self._follows_variance * (parts.phi - pull @ self._phi)
        by_function = toward[:, np.newaxis] * weights
        by_function += self._spread * (parts.functions - pull @ self._evidence.F)
        by_variance = np.repeat(2.0 * by_function, library.sizes, axis=1)
        by_variance *= library.weights
        by_variance *= parts.K
        slope = library.slopes(X, parts.K * self._coefficients)
        variance_slope = library.slopes(X, by_variance)
        slope += self._residual_slope(X, parts.residual * self._alpha)
        variance_slope -= 2.0 * self._residual_slope(X, parts.residual * pull)
        sd = np.sqrt(np.maximum(parts.variance, _SMALLEST_VARIANCE))
        sd_slope = variance_slope / (2.0 * sd[:, np.newaxis])
        sd_slope[parts.variance <= _SMALLEST_VARIANCE] = 0.0
        return Moments(parts.mean, sd, slope, sd_slope)

    def _parts(self, X: FloatArray) -> "_Parts":
        evidence = self._evidence
        K = self._library.covariances(X)
        functions = self._library.functions(K) - evidence.weights.centres
        phi = functions @ evidence.weights.combined
        residual = self._residual(X)
        spread = functions * self._spread
        cross = _CONSTANT + residual + spread @ evidence.F.T
        cross += self._follows_variance * np.outer(phi, self._phi)
        variance = _CONSTANT + self._variance + self._follows_variance * phi**2
        variance += np.einsum("km,km->k", spread, functions)
        explained = cross @ self._root.T
        variance -= np.einsum("kn,kn->k", explained, explained)
        mean = _FOLLOWS * phi + cross @ self._alpha
        return _Parts(K, functions, phi, residual, explained, mean, variance)

    def _residual(self, X: FloatArray) -> FloatArray:
        trials = self._evidence.X
        return squared_exponential(X * self._inverse, trials * self._inverse, self._variance)

    def _residual_slope(self, X: FloatArray, weighted: FloatArray) -> FloatArray:
        trials = self._evidence.X
        return squared_exponential_slope(X, trials, self._inverse, weighted)


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What predictions at `k` points consist of."""

    K: FloatArray
    functions: FloatArray
    phi: FloatArray
    residual: FloatArray
    explained: FloatArray
    mean: FloatArray
    variance: FloatArray


def _cholesky(K: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.cholesky(K), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise FitError(
            f"the covariance of the target's {len(K)} trials cannot be factored; are there trials "
            "at the same place with noise=0?"
        ) from error
