"""Two-stage transfer surrogates with ranking, TST-R (Wistuba, Schilling and Schmidt-Thieme, 2018).

First one process per experiment, each fitted to its own trials. Then a kernel regression over them:

    mean(x) = Σ_i κ_i μ_i(x) / Σ_i κ_i,   variance(x) = σ_target²(x)
    κ_i = ¾ (1 - (r_i / ρ)²) if r_i <= ρ, else 0;   κ_target = ¾

`r_i` is the share of pairs of the target's trials that the mean of process `i` ranks in another
order than their values, and ρ the bandwidth. With fewer than two trials there is no pair: every
source then counts as much as the target.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hetbo.encoding import Dataset
from hetbo_bench.comparators.base import Quick, Sources, Trials, target_gp
from hetbo_bench.comparators.rgpe import FittedMixture

FloatArray = NDArray[np.float64]
_HIGHEST = 0.75


@dataclass(frozen=True)
class TST(Quick):
    """Two-stage transfer surrogate.

    Attributes:
        bandwidth: Sources that misrank a larger share of pairs do not count.
    """

    bandwidth: float = 0.1

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,  # noqa: ARG002
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,  # noqa: ARG002
    ) -> FittedMixture:
        """Fit each process to its own trials, and weigh them."""
        own, used = Trials.of(data, 0), Sources.of(data)
        with torch.no_grad():
            means = used.gps.posterior(own.X)[0].numpy()
        away = discordant_shares(means, own.y.numpy()) / self.bandwidth
        kernel = _HIGHEST * np.clip(1 - away**2, 0.0, None)
        weights = np.append(kernel, _HIGHEST) / (kernel.sum() + _HIGHEST)
        variances = np.append(np.zeros(len(kernel)), 1.0)
        return FittedMixture(
            data.scales[0], own, used, target_gp(own), weights[:-1], weights[-1], variances
        )


def discordant_shares(means: FloatArray, y: FloatArray) -> FloatArray:
    """Return the shares of pairs of `n` values that each of `s × n` predictions misranks."""
    first, second = np.triu_indices(len(y), k=1)
    if not len(first):
        return np.zeros(len(means))
    wrong = (means[:, first] < means[:, second]) != (y[first] < y[second])
    shares: FloatArray = wrong.mean(axis=1)
    return shares
