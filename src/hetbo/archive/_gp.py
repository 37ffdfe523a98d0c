"""A Gaussian process over one experiment's trials, in plain NumPy: exact, or by inducing points.

Symbols of this folder: `n` trials, `c` columns of one experiment, `p` its parameters, `d` columns
of the joint cube, `k` points, `M` sources, `u` inducing points. The covariance is

    k(x, x') = s² exp(-½ Σ_c ((x_c - x'_c) / ℓ_c)²),

with noise of variance `σ²` and a constant mean `β` whose prior is normal with variance 1. Columns
of one parameter share a length-scale `ℓ`. Priors are those of `hetbo.models`' settings.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from hetbo._arrays import BoolArray, FloatArray, IndexArray
from hetbo.archive._search import search
from hetbo.errors import FitError
from hetbo.models import (
    DEFAULT,
    LeaveOneOut,
    inverse_of,
    squared_exponential,
    squared_exponential_slope,
)

_LOG_2PI = math.log(2 * math.pi)
_JITTER = 1e-8
_INDUCING_JITTER = 1e-7
_SMALLEST_KNOWN_NOISE = 1e-6
_LEAST_LEFT = 1e-5
"""A row whose variance the chosen ones explain up to this part needs no inducing point."""
_BEST = 0.5
"""So much of the inducing points is the best trials, where it matters most."""
_BLOCK = 2048
_MOST_LEVERAGE = 1.0 - 1e-9
_LOG_LIMITS = (math.log(1e-3), math.log(1e3))
_LOG_SMALLEST_NOISE = math.log(1e-4)
_SMALLEST_GAIN = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The log posterior of `z = (log ℓ_1 … log ℓ_p, log s², log σ²)` given trials.

    Attributes:
        X: Shape `n × c`.
        y: Shape `n`.
        known: Shape `n`: variances of the noise, NaN where it is learned.
        groups: Shape `c`: the position of each column's parameter.
    """

    X: FloatArray
    y: FloatArray
    known: FloatArray
    groups: IndexArray

    @property
    def parameters(self) -> int:
        """The number `p` of parameters."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Return the means and the standard deviations of `z` under the log-normal priors."""
        p = self.parameters
        lengths = DEFAULT.length_scale(p)
        spread = DEFAULT.task_scale or 1.0
        location = [lengths.location] * p + [0.0, DEFAULT.noise.location]
        scale = [lengths.scale] * p + [spread, DEFAULT.noise.scale]
        return np.array(location), np.array(scale)

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × (p + 2)`: the box that is searched."""
        p = self.parameters
        low, high = _LOG_LIMITS
        shortest = math.log(DEFAULT.shortest_length_scale(p))
        return np.array([[shortest] * p + [low, _LOG_SMALLEST_NOISE], [high] * (p + 2)])

    def first(self) -> FloatArray:
        """Return the most likely `z` under the prior densities of `exp(z)`."""
        location, scale = self.prior()
        return np.clip(location - scale**2, *self.bounds)

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the log posterior and its gradient.

        Raises:
            NotPositiveDefinite: The covariance cannot be factored there.
        """
        p, n = self.parameters, len(self.y)
        learned: BoolArray = np.isnan(self.known)
        noise = float(np.exp(z[-1]))
        S = self.X * np.exp(-z[:p])[self.groups]
        E = squared_exponential(S, S, float(np.exp(z[-2])))
        K = E.copy()
        K.flat[:: n + 1] += noise_of(self.known, noise) + _JITTER
        inverse, half_log = inverse_of(K)
        beta, alpha = _mean_and_weights(inverse, self.y)
        value = (
            -0.5 * float((self.y - beta) @ alpha) - half_log - 0.5 * n * _LOG_2PI - 0.5 * beta**2
        )
        G = np.multiply.outer(alpha, alpha)
        G -= inverse
        G *= 0.5
        gradient = np.empty_like(z)
        gradient[-1] = noise * G.diagonal()[learned].sum()
        E *= G
        rows = E.sum(axis=1)
        gradient[-2] = rows.sum()
        by_column = 2.0 * (rows @ (S * S) - np.einsum("ij,ij->j", S, E @ S))
        gradient[:p] = np.bincount(self.groups, weights=by_column, minlength=p)
        location, scale = self.prior()
        t = (z - location) / scale
        # The density of a log-normal variable, of which z is the logarithm.
        return value - 0.5 * float(t @ t) - float(z.sum()), gradient - t / scale - 1.0


def noise_of(known: FloatArray, learned: float) -> FloatArray:
    """Return the variances of the noise: known ones, and the learned one elsewhere."""
    return np.where(np.isnan(known), learned, np.maximum(known, _SMALLEST_KNOWN_NOISE))


def noise_shown(known: FloatArray, learned: float) -> float:
    """Return the standard deviation of the noise that trials show beyond what was assumed.

    The logarithm of the variance is searched for, so that what is assumed beforehand is the median
    of its prior. Without trials there is nothing to show any.
    """
    if len(known) == 0:
        return 0.0
    shown = float(noise_of(known, learned).mean())
    return math.sqrt(max(shown - math.exp(DEFAULT.noise.location), 0.0))


def most_likely(evidence: Evidence, warm_start: FloatArray | None = None) -> FloatArray:
    """Return the most likely `z`, from a warm start, or from a wiggly and a smooth start.

    Raises:
        FitError: The evidence cannot be computed.
    """
    smooth = evidence.first()
    smooth[: evidence.parameters] += 1.5
    smooth[-1] = math.log(0.1)
    starts = [evidence.first(), smooth] if warm_start is None else [warm_start]
    low, high = evidence.bounds
    results = (search(evidence, np.clip(start, low, high), ftol=_SMALLEST_GAIN) for start in starts)
    found = [result for result in results if result is not None]
    if not found:
        raise FitError("the covariance of a source's trials cannot be factored")
    return max(found, key=lambda result: result[0])[1]


@dataclass(frozen=True, slots=True, eq=False)
class GPPosterior:
    """`mean(x) = β + k(x, U) a` and `variance(x) = s² - |R k(U, x)|²`.

    Attributes:
        U: Shape `u × c`: all trials, or inducing points.
        inverse: Shape `c`: `1 / ℓ`.
        variance: `s²`.
        noise: `σ²`.
        mean: `β`.
        weights: Shape `u`: `a`.
        root: Shape `r × u`: `R`.
    """

    U: FloatArray
    inverse: FloatArray
    variance: float
    noise: float
    mean: float
    weights: FloatArray
    root: FloatArray

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at `k × c` points."""
        K = squared_exponential(X * self.inverse, self.U * self.inverse, self.variance)
        P = K @ self.root.T
        variance = self.variance - np.einsum("ij,ij->i", P, P)
        return self.mean + K @ self.weights, np.maximum(variance, 0.0)

    def moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return means and variances at `k × c` points, and their gradients, `k × c` each."""
        K = squared_exponential(X * self.inverse, self.U * self.inverse, self.variance)
        P = K @ self.root.T
        variance = self.variance - np.einsum("ij,ij->i", P, P)
        by_mean, by_variance = (
            squared_exponential_slope(X, self.U, self.inverse, weighted)
            for weighted in (K * self.weights, -2.0 * K * (P @ self.root))
        )
        return self.mean + K @ self.weights, np.maximum(variance, 0.0), by_mean, by_variance


def exact_posterior(evidence: Evidence, z: FloatArray) -> tuple[GPPosterior, LeaveOneOut]:
    """Return the posterior given all trials, and predictions of each from the others.

    Args:
        evidence: The trials.
        z: The logarithms of length-scales, variance and noise.
    """
    X, y, groups = evidence.X, evidence.y, evidence.groups
    noise = noise_of(evidence.known, math.exp(z[-1]))
    inverse_scales, variance = np.exp(-z[:-2])[groups], float(np.exp(z[-2]))
    K = squared_exponential(X * inverse_scales, X * inverse_scales, variance)
    K.flat[:: len(K) + 1] += noise + _JITTER
    root = solve_triangular(np.linalg.cholesky(K), np.eye(len(K)), lower=True)
    inverse = root.T @ root
    beta, weights = _mean_and_weights(inverse, y)
    variances = 1.0 / inverse.diagonal()
    posterior = GPPosterior(X, inverse_scales, variance, float(np.exp(z[-1])), beta, weights, root)
    return posterior, LeaveOneOut.of(y, y - weights * variances, variances)


def sparse_posterior(
    evidence: Evidence, z: FloatArray, inducing: FloatArray, *, cautious: bool
) -> tuple[GPPosterior, LeaveOneOut]:
    """Return the posterior given all trials by inducing points, in `O(n u²)`.

    The trials' covariance is taken for `Q + Λ`, `Q = K_fu K_uu⁻¹ K_uf`, with the noise on the
    diagonal, `Λ = σ²` (Titsias 2009), or with it the variance that inducing points do not explain,
    `Λ = σ² + diag(K_ff - Q)` (Snelson and Ghahramani 2006). The former predicts better where there
    is little noise, the latter says how well: trials between inducing points make the former far
    too sure. Then `a = Σ K_uf Λ⁻¹ (y - β)`, and the variance is `k - k_u (K_uu⁻¹ - Σ) k_u`, with
    `Σ = (K_uu + K_uf Λ⁻¹ K_fu)⁻¹`.

    Args:
        evidence: The trials.
        z: The logarithms of length-scales, variance and noise.
        inducing: Shape `u × c`: the inducing points.
        cautious: Whether variance that inducing points do not explain counts as noise.
    """
    X, y, groups = evidence.X, evidence.y, evidence.groups
    noise = noise_of(evidence.known, math.exp(z[-1]))
    inverse_scales, variance = np.exp(-z[:-2])[groups], float(np.exp(z[-2]))
    count = len(inducing)
    S = inducing * inverse_scales
    K = squared_exponential(S, S, variance)
    K.flat[:: count + 1] += _INDUCING_JITTER * variance
    L = np.linalg.cholesky(K)
    B = np.eye(count)
    sums = np.zeros((count, 2))
    ones = along = 0.0
    for first in range(0, len(X), _BLOCK):
        block = slice(first, first + _BLOCK)
        V = solve_triangular(
            L, squared_exponential(S, X[block] * inverse_scales, variance), lower=True
        )
        beyond = np.maximum(variance - np.einsum("ij,ij->j", V, V), 0.0)
        precision = 1.0 / (noise[block] + cautious * beyond + _JITTER)
        weighted = V * precision
        B += weighted @ V.T
        sums += weighted @ np.column_stack([y[block], np.ones(len(y[block]))])
        ones += float(precision.sum())
        along += float(precision @ y[block])
    # Of the inverse covariance H, by Woodbury: 1ᵀH1 and 1ᵀHy, which give the mean.
    half = np.linalg.cholesky(B)
    c = solve_triangular(half, sums, lower=True)
    beta = (along - float(c[:, 1] @ c[:, 0])) / (ones - float(c[:, 1] @ c[:, 1]) + 1.0)
    eigenvalues, vectors = np.linalg.eigh(B)
    rest = vectors.T @ (sums[:, 0] - beta * sums[:, 1])
    weights = solve_triangular(L, vectors @ (rest / eigenvalues), lower=True, trans=1)
    told = eigenvalues > 1.0 + 1e-6  # directions that the trials say anything of
    root = np.sqrt(1.0 - 1.0 / eigenvalues[told])[:, np.newaxis] * vectors[:, told].T
    root = root @ solve_triangular(L, np.eye(count), lower=True)
    posterior = GPPosterior(
        inducing, inverse_scales, variance, float(np.exp(z[-1])), beta, weights, root
    )
    left_out = [np.empty((2, 0))]
    for first in range(0, len(X), _BLOCK):
        block = slice(first, first + _BLOCK)
        k = squared_exponential(S, X[block] * inverse_scales, variance)
        V = solve_triangular(L, k, lower=True)
        beyond = np.maximum(variance - np.einsum("ij,ij->j", V, V), 0.0)
        own_noise = noise[block] + cautious * beyond + _JITTER
        V = solve_triangular(half, V, lower=True)
        own = np.minimum(np.einsum("ij,ij->j", V, V) / own_noise, _MOST_LEVERAGE)
        mean = (beta + weights @ k - own * y[block]) / (1.0 - own)
        left_out.append(np.stack([mean, own_noise / (1.0 - own)]))
    return posterior, LeaveOneOut.of(y, *np.concatenate(left_out, axis=1))


def inducing_points(
    evidence: Evidence, z: FloatArray, *, count: int, among: int, rng: np.random.Generator
) -> FloatArray:
    """Return the best trials, and others that explain the rest well.

    Args:
        evidence: The trials.
        z: The logarithms of length-scales, variance and noise.
        count: How many points to return at most.
        among: How many trials to choose the others from.
        rng: What draws these.
    """
    X, y = evidence.X, evidence.y
    best = np.argsort(-y, kind="stable")[: int(count * _BEST)]
    drawn = np.sort(rng.permutation(len(y))[:among])
    scaled = X * np.exp(-z[:-2])[evidence.groups]
    return X[inducing_rows(scaled, count, first=best, among=drawn)]


def inducing_rows(X: FloatArray, count: int, *, first: IndexArray, among: IndexArray) -> IndexArray:
    """Return rows that explain the others well: each next one is the least explained so far.

    Args:
        X: Shape `n × c`: points in units of length-scales.
        count: How many rows to return at most.
        first: Rows that are taken in any case, as far as they tell anything new.
        among: The rows to choose the others from.
    """
    rows = np.concatenate([first, among])
    S = X[rows]
    left = np.ones(len(rows))
    forced = list(range(len(first)))
    F = np.zeros((count, len(rows)))
    chosen: list[int] = []
    while len(chosen) < min(count, len(rows)):
        if forced:
            i = forced.pop(0)
            if left[i] < _LEAST_LEFT:
                continue
        else:
            i = int(left.argmax())
            if left[i] < _LEAST_LEFT:
                break
        k = squared_exponential(S[i : i + 1], S)[0]
        step = len(chosen)
        F[step] = (k - F[:step, i] @ F[:step]) / math.sqrt(left[i])
        left -= F[step] ** 2
        left[i] = -1.0
        chosen.append(i)
    found: IndexArray = rows[np.array(chosen, dtype=np.intp)]
    return found


def _mean_and_weights(inverse: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return the most likely mean `β`, and `K⁻¹ (y - β)`."""
    h = inverse.sum(axis=1)
    beta = float(h @ y) / (float(h.sum()) + 1.0)
    return beta, inverse @ (y - beta)
