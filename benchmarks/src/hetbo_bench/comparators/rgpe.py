"""RGPE: ranking-weighted Gaussian process ensembles (Feurer, Letham and Bakshy, 2018).

One process per source and one for the target, each fitted to its own trials:

    mean(x) = Σ_i w_i μ_i(x),   variance(x) = Σ_i w_i² σ_i²(x)

`w_i` is the probability that process `i` misranks the fewest pairs of the target's trials,

    L_i = Σ_j Σ_k 1[(f_i(x_j) < f_i(x_k)) ≠ (y_j < y_k)],

over draws of `f_i` at the target's trials; ties share. The target's process is drawn at `x_j` from
its leave-one-out prediction, and compared there with the values `y_k` of the others. Against
dilution a source is dropped whose median loss is above the 95th percentile of the target's.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo.models import LeaveOneOut
from hetbo_bench.comparators.base import (
    FittedComparator,
    Quick,
    Sources,
    Trials,
    leave_one_out,
    target_gp,
)
from hetbo_bench.comparators.gps import GPs

FloatArray = NDArray[np.float64]
_DILUTION = 0.95
_JITTER = 1e-8


@dataclass(frozen=True)
class RGPE(Quick):
    """Ranking-weighted ensemble.

    Attributes:
        draws: How many draws the weights are made from.
    """

    draws: int = 256

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,  # noqa: ARG002
    ) -> "FittedMixture":
        """Fit each process to its own trials, and weigh them."""
        own, used = Trials.of(data, 0), Sources.of(data)
        target = target_gp(own)
        with torch.no_grad():
            mean = used.gps.posterior(own.X)[0].numpy()
            covariance = used.gps.covariance(own.X, own.X).numpy()
            alone = leave_one_out(own.y.numpy(), np.zeros(len(own.y)), target.gram[0].numpy())
        weights = ranking_weights(mean, covariance, alone, self.draws, rng)
        return FittedMixture(
            data.scales[0], own, used, target, weights[:-1], weights[-1], weights**2
        )


def ranking_weights(
    mean: FloatArray,
    covariance: FloatArray,
    target: LeaveOneOut,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the weights of `s` sources and, last, of the target.

    Args:
        mean: Shape `s × n`: the sources' means at the target's trials.
        covariance: Shape `s × n × n`.
        target: The target's leave-one-out predictions.
        draws: How many draws to make.
        rng: Where draws come from.
    """
    y, count = target.observed, mean.shape[1]
    root = np.linalg.cholesky(covariance + _JITTER * np.eye(count))
    f = mean[..., np.newaxis] + root @ rng.standard_normal((*mean.shape, draws))
    below = y[:, np.newaxis] < y
    losses = np.array(
        [((own[:, np.newaxis] < own) != below[..., np.newaxis]).sum(axis=(0, 1)) for own in f]
    ).reshape(len(mean), draws)
    alone = target.mean + target.sd * rng.standard_normal((draws, count))
    wrong = (alone[..., np.newaxis] < y) != below
    wrong[:, np.arange(count), np.arange(count)] = False
    losses = np.vstack([losses, wrong.sum(axis=(1, 2))]).astype(np.float64)
    dropped = np.median(losses[:-1], axis=1) > np.quantile(losses[-1], _DILUTION)
    losses[:-1][dropped] = np.inf
    best = losses == losses.min(axis=0)
    weights: FloatArray = (best / best.sum(axis=0)).mean(axis=1)
    return weights


@dataclass(frozen=True, eq=False)
class FittedMixture(FittedComparator):
    """A weighted sum of the processes of sources and target.

    Attributes:
        used: The sources' processes.
        own: The target's.
        weights: Shape `s`: the sources' weights in the mean.
        own_weight: The target's.
        variance_weights: Shape `s + 1`: the weights in the variance, the target's last.
    """

    used: Sources
    own: GPs
    weights: FloatArray
    own_weight: float
    variance_weights: FloatArray

    def predict(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances at `k × d` points."""
        mean, variance = (found[0] for found in self.own.posterior(X))
        mean, variance = self.own_weight * mean, self.variance_weights[-1] * variance
        which = np.flatnonzero((self.weights != 0) | (self.variance_weights[:-1] != 0))
        if len(which):
            means, variances = self.used.gps.only(torch.from_numpy(which)).posterior(X)
            mean = mean + torch.from_numpy(self.weights[which]) @ means
            variance = variance + torch.from_numpy(self.variance_weights[which]) @ variances
        return mean, variance

    def trials_covariance(self) -> tuple[Tensor, Tensor]:
        """Return the prior of the target's values under its own process."""
        return torch.zeros_like(self.target.y), self.own.gram[0]

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials; the sources' need not leave any out."""
        alone = super().leave_one_out()
        X = self.target.X.numpy()
        others, spread = replace(
            self, own_weight=0.0, variance_weights=np.append(self.variance_weights[:-1], 0.0)
        ).values(X)
        mean = others + self.own_weight * alone.mean
        variance = spread**2 + self.variance_weights[-1] * alone.sd**2
        return LeaveOneOut.of(alone.observed, mean, variance)

    def condition(self, X: FloatArray, y: FloatArray) -> "FittedMixture":
        """Return the mixture whose target's process has more trials."""
        target = self.extended_target(X, y)
        count = len(self.target.y)
        return replace(
            self, target=target, own=self.own.extended(target.X[count:], target.y[count:])
        )

    def source_weights(self) -> FloatArray:
        """Return the sources' weights."""
        return self.used.spread(self.weights)
