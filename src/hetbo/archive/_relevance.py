"""Which sources the target goes along with: a mixture of hypotheses, judged by its trials.

A hypothesis says "the target goes along with this combination of sources". There are `H` of them:

- none of them;
- the mean of all sources: what is left when nothing else is known;
- each source by itself: a good one among a hundred unrelated ones;
- each source with those that go along with it (its *group*): what several agree on has less noise,
  and where most sources are unrelated, those that are related still agree with one another.

Each combination `f` is centred and scaled over the target's space. Under a hypothesis a share `λ`
of the target's variance comes from `f`, the rest from a Gaussian process `r` of the target's own:

    y = c + b f(x) + r(x) + noise,   b ~ N(0.9 √λ, 0.2 λ + 0.02),   r ~ GP(0, 1 - λ).

Its evidence is averaged over a few `λ`, and for each hypothesis over agreement and, less likely
beforehand, contradiction (`-f`). What comes out is one combination: the posterior mean over
hypotheses. With the first trials that is near the mean of all sources; with ten to twenty the
groups of related sources stand out, with twenty to forty a single one.
"""

import math
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.models import CORRELATIONS

_NONE, _OF_ALL = 0.05, 0.3
"""The prior probabilities of no source, and of the mean of all; singles and groups share the
rest."""
_OPPOSITE = 0.1
"""The prior probability that a hypothesis holds with the opposite sign."""
_ALIKE = 0.35
"""Sources whose correlation is smaller are in no group."""
_SHARES = (0.2, 0.5, 0.8, 0.95)
_NOISE, _CONSTANT = 0.01, 1.0
"""The variances of the noise and of `c`."""
_TEMPERED = 0.7
"""The power of the evidence: a stationary `r` is not the truth."""
_FLATTEST = 0.05
"""In units of the sources' standard deviations. What varies less is not made larger."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """Combinations of sources that the target may go along with.

    Attributes:
        weights: Shape `H × M`: the weight of each source, for functions of the target's space with
            mean 0 and standard deviation 1.
        log_prior: Shape `H`.
    """

    weights: FloatArray
    log_prior: FloatArray

    @classmethod
    def of(cls, functions: FloatArray, likeness: FloatArray) -> "Hypotheses":
        """Return the hypotheses about `M` sources.

        Args:
            functions: Shape `k × M`: the sources' functions at points that cover the target's
                space, each with mean 0.
            likeness: Shape `M × M`: how each goes along with each other, from -1 to 1.
        """
        count = functions.shape[1]
        weights = np.concatenate(
            [
                np.zeros((1, count)),
                np.full((1, count), 1.0 / count),
                np.eye(count),
                _groups(likeness),
            ]
        )
        spreads = (functions @ weights.T).std(axis=0)
        each = 0.5 * (1 - _NONE - _OF_ALL) / count
        prior = np.repeat([_NONE, _OF_ALL, each], [1, 1, 2 * count])
        return cls(weights / np.maximum(spreads, _FLATTEST)[:, np.newaxis], np.log(prior))

    def combined(self, F: FloatArray, R: FloatArray, y: FloatArray) -> FloatArray:
        """Return the weights of the sources, averaged over hypotheses, shape `M`.

        Args:
            F: Shape `n × M`: the sources' functions at the target's trials, centred.
            R: Shape `n × n`: the correlations of the target's own part.
            y: Shape `n`: the target's values, scaled.
        """
        odds = self.log_prior + np.log([[1 - _OPPOSITE], [_OPPOSITE]])
        if len(y):
            odds = odds + _TEMPERED * np.stack(self.log_evidence(F, R, y))
        odds = np.exp(odds - odds.max())
        odds /= odds.sum()
        combined: FloatArray = (odds[0] - odds[1]) @ self.weights
        return combined

    def log_evidence(
        self, F: FloatArray, R: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the log evidence of each hypothesis, and of its opposite: shape `H` each.

        The covariances of hypotheses that share `λ` differ by one product of a vector with itself,
        so that one factor serves them all.
        """
        n = len(y)
        f = F @ self.weights.T
        found = np.empty((2, len(_SHARES), f.shape[1]))
        for index, share in enumerate(_SHARES):
            K = (1.0 - share) * R + _CONSTANT
            K.flat[:: n + 1] += _NOISE
            # Of K + v f fᵀ, by the matrix determinant lemma and Sherman and Morrison.
            root = np.linalg.cholesky(K)
            u, w = np.linalg.solve(root, y), np.linalg.solve(root, f)
            v, mean = 0.2 * share + 0.02, 0.9 * math.sqrt(share)
            ff, fy, yy = (w**2).sum(axis=0), w.T @ u, float(u @ u)
            half_log = float(np.log(root.diagonal()).sum()) + 0.5 * np.log1p(v * ff)
            for sign, row in zip((1.0, -1.0), found, strict=True):
                along = fy - sign * mean * ff
                rest = yy - 2.0 * sign * mean * fy + mean**2 * ff
                row[index] = -0.5 * (rest - v * along**2 / (1.0 + v * ff)) - half_log
        agreeing, opposed = np.logaddexp.reduce(found, axis=1) - math.log(len(_SHARES))
        # No source at all explains nothing.
        K = R + _CONSTANT
        K.flat[:: n + 1] += _NOISE
        root = np.linalg.cholesky(K)
        none = -0.5 * float((np.linalg.solve(root, y) ** 2).sum())
        agreeing[0] = opposed[0] = none - float(np.log(root.diagonal()).sum())
        return agreeing, opposed


def _groups(likeness: FloatArray) -> FloatArray:
    """Return for each source the weights of those that go along with it, adding up to 1."""
    alike = np.sign(likeness) * np.maximum(np.abs(likeness) - _ALIKE, 0.0)
    np.fill_diagonal(alike, 0.0)
    # A source counts in its own group as much as the one most like it, and never for nothing.
    alike += np.diag(np.maximum(np.abs(alike).max(axis=1, initial=0.0), _ALIKE))
    groups: FloatArray = alike / np.abs(alike).sum(axis=1, keepdims=True)
    return groups


def correlation_densities(F: FloatArray, R: FloatArray, y: FloatArray) -> FloatArray:
    """Return how likely trials make each correlation of the target with each source.

    Under a correlation `ρ`, `y = c + ρ f(x) + r(x) + noise` with `r ~ GP(0, 1 - ρ²)`.

    Args:
        F: Shape `n × M`: the sources' functions at the trials, in units of their spread.
        R: Shape `n × n`: the correlations of the target's own part.
        y: Shape `n`: the target's values, scaled.

    Returns:
        One row for each of `CORRELATIONS`, one column for each source; columns add up to 1.
    """
    logs = np.empty((len(CORRELATIONS), F.shape[1]))
    for row, correlation in zip(logs, CORRELATIONS, strict=True):
        K = (1.0 - correlation**2) * R + _CONSTANT
        K.flat[:: len(K) + 1] += _NOISE
        root = np.linalg.cholesky(K)
        rest = np.linalg.solve(root, y[:, np.newaxis] - correlation * F)
        row[:] = -0.5 * (rest**2).sum(axis=0) - np.log(root.diagonal()).sum()
    densities: FloatArray = np.exp(_TEMPERED * (logs - logs.max(axis=0)))
    densities /= densities.sum(axis=0)
    return densities
