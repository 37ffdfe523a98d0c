"""ABLR: adaptive Bayesian linear regression (Perrone, Jenatton, Seeger and Archambeau, 2018).

All experiments share the features φ of a neural network of three layers of 50 tanh units; each has
a Bayesian linear regression of its own on them:

    y_t ~ N(Φ_t w_t, 1 / β_t),   w_t ~ N(0, 1 / α_t)
    mean(x) = φ(x)ᵀ m,   variance(x) = φ(x)ᵀ A⁻¹ φ(x),   A = α I + β ΦᵀΦ,   m = β A⁻¹ Φᵀ y

The network and all α and β maximize the sum of the experiments' log marginal likelihoods, by
L-BFGS. What an experiment lacks stands at its centre.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo_bench.comparators.base import CENTRE, FittedComparator, Quick, Trials
from hetbo_bench.comparators.gps import maximized

FloatArray = NDArray[np.float64]
Network: TypeAlias = Sequence[tuple[Tensor, Tensor]]
"""The weights and the offsets of each layer."""

_UNITS, _LAYERS = 50, 3
_FIRST_STEPS, _LATER_STEPS = 200, 30
_BOUND = 10.0
"""How large the logarithms of the precisions can become."""


@dataclass(frozen=True)
class ABLR(Quick):
    """Bayesian linear regressions on the features of one network."""

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,
    ) -> "FittedABLR":
        """Train the network and the regressions on the trials of all experiments."""
        every = [Trials.of(data, at) for at in range(len(data.names))]
        columns = len(every[0].uses)
        longest = max(len(trials.y) for trials in every)
        X = torch.full((len(every), longest, columns), CENTRE, dtype=torch.float64)
        y = torch.zeros(X.shape[:2], dtype=torch.float64)
        present = torch.zeros(X.shape[:2], dtype=torch.bool)
        for at, trials in enumerate(every):
            count = len(trials.y)
            X[at, :count], y[at, :count], present[at, :count] = trials.X, trials.y, True

        def log_posterior(z: Tensor) -> Tensor:
            network, alpha, beta = _parts(z, columns, len(every))
            features = _features(network, X) * present.unsqueeze(-1)
            return log_evidence(features, y, present.sum(-1), alpha, beta).sum()

        z = _start(rng, columns, len(every)) if warm_start is None else np.array(warm_start)
        limits = np.full((len(z), 2), [-np.inf, np.inf])
        limits[-2 * len(every) :] = [-_BOUND, _BOUND]
        steps = _FIRST_STEPS if warm_start is None else _LATER_STEPS
        found = maximized(log_posterior, z, limits, steps=steps)
        return FittedABLR(data.scales[0], every[0], tuple(every[1:]), tuple(found.tolist()))


def log_evidence(
    features: Tensor, y: Tensor, counts: Tensor, alpha: Tensor, beta: Tensor
) -> Tensor:
    """Return `log N(y; 0, I / β + Φ Φᵀ / α)` of each of `t` regressions.

    Args:
        features: Shape `t × n × u`, 0 in rows that are no trials.
        y: Shape `t × n`, 0 in such rows.
        counts: Shape `t`: how many trials there are.
        alpha: Shape `t`.
        beta: Shape `t`.
    """
    mean, factor = _regression(features, y, alpha, beta)
    rest = (y.unsqueeze(-1) - features @ mean).square().sum((-2, -1))
    fit = beta * rest + alpha * mean.square().sum((-2, -1))
    units = features.shape[-1]
    logs = units * alpha.log() + counts * (beta / (2 * math.pi)).log()
    return 0.5 * (logs - fit) - factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _regression(features: Tensor, y: Tensor, alpha: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """Return the means of the weights, `t × u × 1`, and the Cholesky factors of `A`."""
    identity = torch.eye(features.shape[-1], dtype=features.dtype)
    scale = beta[..., None, None]
    A = alpha[..., None, None] * identity + scale * (features.mT @ features)
    factor = torch.linalg.cholesky(A)
    return torch.cholesky_solve(scale * (features.mT @ y.unsqueeze(-1)), factor), factor


def _shapes(columns: int) -> Iterator[tuple[int, int]]:
    for layer in range(_LAYERS):
        yield (columns if layer == 0 else _UNITS), _UNITS


def _start(rng: np.random.Generator, columns: int, experiments: int) -> FloatArray:
    parts = []
    for inputs, outputs in _shapes(columns):
        parts += [rng.normal(scale=math.sqrt(2 / (inputs + outputs)), size=inputs * outputs)]
        parts += [np.zeros(outputs)]
    return np.concatenate([*parts, np.zeros(experiments), np.full(experiments, math.log(100.0))])


def _parts(z: Tensor, columns: int, experiments: int) -> tuple[Network, Tensor, Tensor]:
    network, at = [], 0
    for inputs, outputs in _shapes(columns):
        weights = z[at : at + inputs * outputs].reshape(inputs, outputs)
        at += inputs * outputs
        network.append((weights, z[at : at + outputs]))
        at += outputs
    return network, z[at : at + experiments].exp(), z[at + experiments :].exp()


def _features(network: Network, X: Tensor) -> Tensor:
    X = 2 * X - 1
    for weights, offsets in network:
        X = torch.tanh(X @ weights + offsets)
    return X


@dataclass(frozen=True, eq=False)
class FittedABLR(FittedComparator):
    """The target's regression.

    Attributes:
        others: The sources' trials.
        warm_start: The network's weights, and the logarithms of all α and β.
    """

    others: tuple[Trials, ...]
    warm_start: tuple[float, ...]

    @cached_property
    def _trained(self) -> tuple[Network, Tensor, Tensor]:
        z = torch.tensor(self.warm_start, dtype=torch.float64)
        return _parts(z, len(self.target.uses), len(self.others) + 1)

    def _regression(self, experiment: int, trials: Trials) -> tuple[Tensor, Tensor, Tensor]:
        """Return an experiment's features, the mean of its weights, and the Cholesky factor."""
        network, alpha, beta = self._trained
        features = _features(network, trials.X)
        mean, factor = _regression(features, trials.y, alpha[experiment], beta[experiment])
        return features, mean.squeeze(-1), factor

    @cached_property
    def _own(self) -> tuple[Tensor, Tensor, Tensor]:
        return self._regression(0, self.target)

    def predict(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances at `k × d` points."""
        _, mean, factor = self._own
        features = _features(self._trained[0], X)
        solved = torch.linalg.solve_triangular(factor, features.mT, upper=False)
        return features @ mean, solved.square().sum(0)

    def trials_covariance(self) -> tuple[Tensor, Tensor]:
        """Return the prior of the target's values: mean 0, and their covariance."""
        _, alpha, beta = self._trained
        features = self._own[0]
        identity = torch.eye(len(features), dtype=features.dtype)
        covariance = features @ features.mT / alpha[0] + identity / beta[0]
        return torch.zeros_like(self.target.y), covariance

    def condition(self, X: FloatArray, y: FloatArray) -> "FittedABLR":
        """Return the regression on more trials, with the same parameters."""
        return replace(self, target=self.extended_target(X, y))

    def source_weights(self) -> FloatArray:
        """Return how the target's regression correlates with each source's at that one's trials."""
        own = self._own[1]
        found = np.zeros(len(self.others))
        for at, trials in enumerate(self.others):
            features, mean, _ = self._regression(at + 1, trials)
            pair = torch.stack([features @ own, features @ mean])
            if len(trials.y) > 1 and bool((pair.std(-1) > 0).all()):
                found[at] = float(torch.corrcoef(pair)[0, 1])
        return found
