"""ScaML-GP: scalable meta-learning with Gaussian processes (Tighineanu and others, 2024).

Each source has a process of its own with posterior mean μ_s and covariance Σ_s. A priori

    f_target ~ GP(Σ_s w_s μ_s(x),  Σ_s w_s² Σ_s(x, x') + k(x, x')),   w_s >= 0,

with a squared exponential `k`. The weights, `k` and the noise are MAP estimates given the target's
trials, with the priors of the authors' code: w ~ Gamma(1, 1), lengths ~ LogNormal(½, 1.5),
variance ~ LogNormal(-2, 3), noise ~ LogNormal(-8, 2). Without trials all weights are 1 / s.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo_bench.comparators.base import FittedPrior, Quick, Sources, Trials
from hetbo_bench.comparators.gps import GPs, Kernel, log_normal, maximized, normal_log_density

FloatArray = NDArray[np.float64]
_STEPS = 60
_PRUNED = 1e-3
"""A source does not count in predictions whose weight is below this part of the mean one."""


@dataclass(frozen=True)
class ScaML(Quick):
    """The target as a weighted sum of source posteriors, and a process for the rest."""

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,  # noqa: ARG002
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,  # noqa: ARG002
    ) -> "FittedScaML":
        """Fit each source alone, then the weights and the rest to the target's trials."""
        own, used = Trials.of(data, 0), Sources.of(data)
        gps = used.gps
        count, columns = len(gps.noise), len(own.uses)
        with torch.no_grad():
            means = gps.posterior(own.X)[0]
            covariances = gps.covariance(own.X, own.X)

        def parts(z: Tensor) -> tuple[Tensor, Kernel, Tensor]:
            weights, logs = z[:count], z[count:]
            inverse = torch.where(own.uses, (-logs[:columns]).exp(), 0.0)
            return weights, Kernel(inverse, logs[-2].exp()), logs[-1].exp()

        def log_posterior(z: Tensor) -> Tensor:
            weights, kernel, noise = parts(z)
            lengths, variance, log_noise = z[count:-2], z[-2], z[-1]
            priors = (
                torch.where(own.uses, log_normal(lengths, 0.5, 1.5), 0.0).sum()
                + log_normal(variance, -2.0, 3.0)
                + log_normal(log_noise, -8.0, 2.0)
                - weights.sum()
            )
            covariance = torch.einsum("s,sij->ij", weights**2, covariances)
            covariance = covariance + kernel(own.X, own.X) + noise * torch.eye(len(own.y))
            return normal_log_density(own.y - weights @ means, covariance) + priors

        start = np.concatenate(
            [np.full(count, 1 / max(count, 1)), np.zeros(columns), [math.log(0.1), math.log(1e-3)]]
        )
        low = np.concatenate([np.full(count, 1e-10), np.full(columns + 1, math.log(1e-4))])
        high = np.concatenate([np.full(count, 1e2), np.full(columns + 1, math.log(1e2))])
        bounds = np.stack([np.append(low, math.log(1e-6)), np.append(high, math.log(1e-2))], axis=1)
        found = torch.from_numpy(start)
        if len(own.y):
            found = maximized(log_posterior, start, bounds, steps=_STEPS)
        weights, kernel, noise = parts(found)
        return FittedScaML(data.scales[0], own, noise, used, weights, kernel)


@dataclass(frozen=True, eq=False)
class FittedScaML(FittedPrior):
    """The posterior of the target.

    Attributes:
        used: The sources' processes.
        weights: Shape `s`.
        kernel: The kernel of the rest.
    """

    used: Sources
    weights: Tensor
    kernel: Kernel

    @cached_property
    def _counting(self) -> tuple[Tensor, GPs]:
        """The weights that count, and their processes."""
        which = torch.nonzero(self.weights >= _PRUNED * self.weights.mean()).squeeze(-1)
        return self.weights[which], self.used.gps.only(which)

    def prior_mean(self, X: Tensor) -> Tensor:
        """Return the prior means at `k × d` points."""
        weights, gps = self._counting
        return weights @ gps.posterior(X)[0]

    def prior_covariance(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the prior covariances, `a × b`."""
        weights, gps = self._counting
        both = torch.einsum("s,sij->ij", weights**2, gps.covariance(A, B))
        return both + self.kernel(A, B)

    def prior_variance(self, X: Tensor) -> Tensor:
        """Return the prior variances at `k × d` points."""
        weights, gps = self._counting
        return weights**2 @ gps.posterior(X)[1] + self.kernel.variance

    def source_weights(self) -> FloatArray:
        """Return the sources' weights, at most 1."""
        return self.used.spread(self.weights.clamp(max=1.0).numpy())
