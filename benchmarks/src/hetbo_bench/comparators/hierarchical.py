"""A hierarchical Gaussian process, the sequential one of Tighineanu and others (2022).

Experiments form a chain that ends with the target, and each adds a process of its own:

    f_0 ~ GP(0, k_0),   f_l = f_(l-1) + δ_l,   δ_l ~ GP(0, k_l),   f_target = f_L

so that trials of experiments i and j have the covariance Σ_(l <= min(i, j)) k_l(x, x'). The
parameters of `k_l` are fitted level by level, to the trials of experiment l given those below it.

It is exact, and made for a few experiments: of an archive it takes the ten sources whose own
processes misrank the fewest pairs of the target's trials, the best one right below the target.
Level l depends on the parameters that its experiment tuned.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo_bench.comparators.base import FittedPrior, Quick, Sources, Trials
from hetbo_bench.comparators.gps import GPs, Kernel
from hetbo_bench.comparators.tst import discordant_shares

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Hierarchical(Quick):
    """A chain of processes.

    Attributes:
        most: How many sources are taken at most.
    """

    most: int = 10

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,  # noqa: ARG002
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,  # noqa: ARG002
    ) -> "FittedHierarchy":
        """Fit the levels one after the other, the target's last."""
        own, used = Trials.of(data, 0), Sources.of(data)
        with torch.no_grad():
            wrong = discordant_shares(used.gps.posterior(own.X)[0].numpy(), own.y.numpy())
        taken = np.argsort(wrong, kind="stable")[: self.most][::-1]
        chain = Chain()
        for position in taken.tolist():
            present = used.gps.present[position]
            source = Trials(
                used.gps.X[position][present],
                used.gps.y[position][present],
                used.gps.kernel.inverse[position] > 0,
            )
            chain = chain.extended(source)
        last = chain.extended(own)
        return FittedHierarchy(
            data.scales[0], own, last.noises[-1], used, chain, last.kernels[-1], tuple(taken)
        )


@dataclass(frozen=True, eq=False)
class Chain:
    """Fitted levels, the first one at the bottom.

    Attributes:
        trials: Each level's trials.
        kernels: Each level's kernel, without its constant of variance 1.
        noises: The variance of each level's noise.
    """

    trials: tuple[Trials, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    noises: tuple[Tensor, ...] = ()

    def extended(self, trials: Trials) -> "Chain":
        """Return the chain with one more level on top, fitted to its trials."""
        with torch.no_grad():
            mean, base = self.mean(trials.X), self.covariance(trials.X, trials.X)
        present = torch.ones((1, len(trials.y)), dtype=torch.bool)
        fitted = GPs.fit(
            trials.X[None], (trials.y - mean)[None], present, trials.uses[None], base=base[None]
        )
        kernel = Kernel(fitted.kernel.inverse[0], fitted.kernel.variance[0])
        return Chain(
            (*self.trials, trials), (*self.kernels, kernel), (*self.noises, fitted.noise[0])
        )

    @cached_property
    def _rows(self) -> Tensor:
        return torch.cat([trials.X for trials in self.trials])

    @cached_property
    def _level(self) -> Tensor:
        """Shape `n`: the level of each row."""
        counts = torch.tensor([len(trials.y) for trials in self.trials])
        return torch.repeat_interleave(torch.arange(len(counts)), counts)

    def _prior(self, A: Tensor, levels: Tensor) -> Tensor:
        """Return the prior covariances of points above all levels with all rows, `a × n`.

        Args:
            A: Shape `a × d`.
            levels: Shape `a`: the points' own levels.
        """
        lower = torch.minimum(levels[:, None], self._level)
        parts = (
            (kernel(A, self._rows) + 1.0) * (lower >= at) for at, kernel in enumerate(self.kernels)
        )
        return torch.stack([*parts]).sum(0)

    @cached_property
    def _given(self) -> tuple[Tensor, Tensor]:
        """The inverse Cholesky factor of the rows' covariance, and their whitened values."""
        noise = torch.stack(self.noises)[self._level]
        factor = torch.linalg.cholesky(self._prior(self._rows, self._level) + torch.diag(noise))
        identity = torch.eye(len(factor), dtype=factor.dtype)
        root = torch.linalg.solve_triangular(factor, identity, upper=False)
        return root, root @ torch.cat([trials.y for trials in self.trials])

    def _explained(self, X: Tensor) -> Tensor:
        top = torch.full((len(X),), len(self.kernels))
        return self._prior(X, top) @ self._given[0].mT

    def mean(self, X: Tensor) -> Tensor:
        """Return the posterior means of the highest level at `k × d` points."""
        if not self.kernels:
            return torch.zeros(len(X), dtype=X.dtype)
        return self._explained(X) @ self._given[1]

    def covariance(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the posterior covariances of the highest level, `a × b`."""
        if not self.kernels:
            return torch.zeros((len(A), len(B)), dtype=A.dtype)
        prior = torch.stack([kernel(A, B) + 1.0 for kernel in self.kernels]).sum(0)
        return prior - self._explained(A) @ self._explained(B).mT

    def variance(self, X: Tensor) -> Tensor:
        """Return the posterior variances of the highest level at `k × d` points."""
        if not self.kernels:
            return torch.zeros(len(X), dtype=X.dtype)
        prior = sum(kernel.variance + 1.0 for kernel in self.kernels)
        return prior - self._explained(X).square().sum(-1)


@dataclass(frozen=True, eq=False)
class FittedHierarchy(FittedPrior):
    """The posterior of the target at the top of a chain.

    Attributes:
        used: The sources' processes.
        chain: The levels of the sources.
        kernel: The target's kernel, without its constant.
        taken: Which of the `s` sources make up the chain, the lowest first.
    """

    used: Sources
    chain: Chain
    kernel: Kernel
    taken: tuple[int, ...]

    def prior_mean(self, X: Tensor) -> Tensor:
        """Return the prior means at `k × d` points."""
        return self.chain.mean(X)

    def prior_covariance(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the prior covariances, `a × b`."""
        return self.chain.covariance(A, B) + self.kernel(A, B) + 1.0

    def prior_variance(self, X: Tensor) -> Tensor:
        """Return the prior variances at `k × d` points."""
        return self.chain.variance(X) + self.kernel.variance + 1.0

    def source_weights(self) -> FloatArray:
        """Return the prior correlations of the levels with the target; 0 for other sources."""
        variances = np.array([float(k.variance) + 1.0 for k in (*self.chain.kernels, self.kernel)])
        below = np.cumsum(variances)
        weights = np.zeros(len(self.used.positions))
        weights[list(self.taken)] = np.sqrt(below[:-1] / below[-1])
        return self.used.spread(weights)
