"""What the comparators have in common: trials as tensors, predictions with gradients."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hetbo.encoding import Dataset, OutcomeScale
from hetbo.models import FittedDefaults, LeaveOneOut, Moments, SourceUse
from hetbo_bench.comparators.gps import GPs

FloatArray = NDArray[np.float64]

CENTRE = 0.5
"""Where a parameter stands that an experiment lacks."""
_MOST_TRIALS = 300
"""A source of more trials is thinned: an exact process takes the cube of their number."""
_SMALLEST_VARIANCE = 1e-9
_AT_ONCE = 2048
"""Predictions are made for so many points at once: a hundred sources would fill the memory."""


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of one experiment; those with the same content are equal.

    Attributes:
        X: Shape `n × d`, what is missing at its centre.
        y: Shape `n`, standardised, larger is better.
        uses: Shape `d`: which columns the experiment tuned, or knows the value of.
    """

    X: Tensor
    y: Tensor
    uses: Tensor

    @cached_property
    def _content(self) -> tuple[bytes, ...]:
        return tuple(part.numpy().tobytes() for part in (self.X, self.y, self.uses))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trials) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @classmethod
    def of(cls, data: Dataset, position: int) -> "Trials":
        """Return the trials of the experiment at a position; 0 is the target."""
        own = data.experiment == position
        X = np.nan_to_num(data.X[own], nan=CENTRE)
        y, uses = data.y[own], ~data.missing[position]
        return cls(torch.from_numpy(X), torch.from_numpy(y.copy()), torch.from_numpy(uses))


@dataclass(frozen=True, eq=False)
class Sources:
    """The processes of the sources that have trials.

    Attributes:
        gps: The processes.
        positions: Shape `s`: which of the `m - 1` sources each belongs to.
        count: `m - 1`.
    """

    gps: GPs
    positions: NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, data: Dataset) -> "Sources":
        """Return the processes of a data set's sources; the same sources are fitted once."""
        every = [_thinned(Trials.of(data, at)) for at in range(1, len(data.names))]
        positions = np.array([at for at, own in enumerate(every) if len(own.y)], dtype=np.intp)
        gps = _fitted(tuple(every[at] for at in positions), len(data.encoder.columns))
        return cls(gps, positions, len(every))

    def spread(self, weights: FloatArray) -> FloatArray:
        """Return weights of the processes as weights of all sources, 0 for those without trials."""
        every = np.zeros(self.count)
        every[self.positions] = weights
        return every


@lru_cache(maxsize=4)
def _fitted(sources: tuple[Trials, ...], columns: int) -> GPs:
    longest = max((len(source.y) for source in sources), default=0)
    X = torch.full((len(sources), longest, columns), CENTRE, dtype=torch.float64)
    y = torch.zeros(X.shape[:2], dtype=torch.float64)
    present = torch.zeros(X.shape[:2], dtype=torch.bool)
    uses = torch.zeros((len(sources), columns), dtype=torch.bool)
    for at, source in enumerate(sources):
        count = len(source.y)
        X[at, :count], y[at, :count], present[at, :count] = source.X, source.y, True
        uses[at] = source.uses
    return GPs.fit(X, y, present, uses)


def _thinned(trials: Trials) -> Trials:
    if len(trials.y) <= _MOST_TRIALS:
        return trials
    rows = torch.from_numpy(np.random.default_rng(0).permutation(len(trials.y))[:_MOST_TRIALS])
    return Trials(trials.X[rows], trials.y[rows], trials.uses)


def target_gp(trials: Trials) -> GPs:
    """Return the Gaussian process of a single experiment."""
    present = torch.ones((1, len(trials.y)), dtype=torch.bool)
    return GPs.fit(trials.X[None], trials.y[None], present, trials.uses[None])


class Quick:
    """What a surrogate inherits whose fit takes seconds."""

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:  # noqa: ARG002
        """Return 0: nobody has to be warned."""
        return 0.0


@dataclass(frozen=True, eq=False)
class FittedComparator(FittedDefaults):
    """A fitted surrogate whose predictions PyTorch differentiates.

    Attributes:
        scale: How the target's values are scaled.
        target: The target's trials.
    """

    scale: OutcomeScale
    target: Trials

    @abstractmethod
    def predict(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances, without noise, at `k × d` points, each of shape `k`."""

    @abstractmethod
    def trials_covariance(self) -> tuple[Tensor, Tensor]:
        """Return the prior means of the target's `n` values, and their `n × n` covariance."""

    @abstractmethod
    def source_weights(self) -> FloatArray:
        """Return how far each of the `m - 1` sources goes along with the target, from -1 to 1."""

    @abstractmethod
    def condition(self, X: FloatArray, y: FloatArray) -> Self:
        """Return predictions as if `y` had been measured at points of the target."""

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at `k × d` points, with gradients."""
        points = self._points(X).requires_grad_()
        mean, variance = self.predict(points)
        sd = variance.clamp_min(_SMALLEST_VARIANCE).sqrt()
        (slope,) = torch.autograd.grad(mean.sum(), points, retain_graph=True)
        (sd_slope,) = torch.autograd.grad(sd.sum(), points)
        unused = ~self.target.uses
        slope[:, unused] = sd_slope[:, unused] = 0.0
        return Moments(mean.detach().numpy(), sd.detach().numpy(), slope.numpy(), sd_slope.numpy())

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone."""
        points = self._points(X)
        with torch.no_grad():
            starts = range(0, max(len(points), 1), _AT_ONCE)
            parts = [self.predict(points[at : at + _AT_ONCE]) for at in starts]
        mean, variance = (torch.cat(both) for both in zip(*parts, strict=True))
        return mean.numpy(), variance.clamp_min(_SMALLEST_VARIANCE).sqrt().numpy()

    def _points(self, X: FloatArray) -> Tensor:
        return torch.from_numpy(np.where(self.target.uses.numpy(), X, CENTRE))

    def extended_target(self, X: FloatArray, y: FloatArray) -> Trials:
        """Return the target's trials and more of them."""
        own = self.target
        more = torch.from_numpy(np.asarray(y, dtype=np.float64))
        return Trials(torch.cat([own.X, self._points(X)]), torch.cat([own.y, more]), own.uses)

    @property
    def observed(self) -> FloatArray:
        """The scaled values of the target's trials."""
        return self.target.y.numpy()

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value."""
        with torch.no_grad():
            mean, covariance = self.trials_covariance()
        return leave_one_out(self.observed, mean.numpy(), covariance.numpy())

    def sources(self) -> SourceUse:
        """Return what the surrogate makes of each source."""
        weights = self.source_weights()
        return SourceUse(weights, np.ones_like(weights))


@dataclass(frozen=True, eq=False)
class FittedPrior(FittedComparator):
    """A posterior of the target, from a prior that sources make.

    Attributes:
        noise: The variance of the noise.
    """

    noise: Tensor

    @abstractmethod
    def prior_mean(self, X: Tensor) -> Tensor:
        """Return the prior means at `k × d` points."""

    @abstractmethod
    def prior_covariance(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the prior covariances, `a × b`."""

    @abstractmethod
    def prior_variance(self, X: Tensor) -> Tensor:
        """Return the prior variances at `k × d` points."""

    @cached_property
    def _given(self) -> tuple[Tensor, Tensor]:
        """The inverse Cholesky factor of the trials' covariance, and their whitened values."""
        mean, covariance = self.trials_covariance()
        factor = torch.linalg.cholesky(covariance)
        identity = torch.eye(len(factor), dtype=factor.dtype)
        root = torch.linalg.solve_triangular(factor, identity, upper=False)
        return root, root @ (self.target.y - mean)

    def trials_covariance(self) -> tuple[Tensor, Tensor]:
        """Return the prior means of the target's values, and their covariance."""
        X = self.target.X
        noise = self.noise * torch.eye(len(X), dtype=X.dtype)
        return self.prior_mean(X), self.prior_covariance(X, X) + noise

    def predict(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances at `k × d` points."""
        root, whitened = self._given
        explained = self.prior_covariance(X, self.target.X) @ root.mT
        mean = self.prior_mean(X) + explained @ whitened
        return mean, self.prior_variance(X) - explained.square().sum(-1)

    def condition(self, X: FloatArray, y: FloatArray) -> Self:
        """Return the posterior given more trials, with the same parameters."""
        return replace(self, target=self.extended_target(X, y))


def leave_one_out(y: FloatArray, mean: FloatArray, covariance: FloatArray) -> LeaveOneOut:
    """Return the leave-one-out predictions of `n` jointly normal values."""
    precision = np.linalg.inv(covariance)
    variance = 1 / precision.diagonal()
    return LeaveOneOut.of(y, y - (precision @ (y - mean)) * variance, variance)
