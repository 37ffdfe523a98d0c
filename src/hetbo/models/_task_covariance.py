"""The covariance of experiments: its prior, its module, and its gradient in plain NumPy."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel
from gpytorch.priors import Prior
from torch import Tensor
from torch.distributions import constraints
from torch.nn import Module, Parameter

from hetbo._arrays import FloatArray
from hetbo.models._inputs import gather
from hetbo.models._parameter_vector import FitParameter, Slots
from hetbo.models._settings import Settings

SMALLEST_TASK_VARIANCE = 1e-4
_LOG_2PI = math.log(2 * math.pi)


class TaskCovariancePrior(Prior):
    """A prior of the covariance `B` of experiments.

    Each variance has a log-normal density with median 1, and each correlation `r` a density
    proportional to that of a Beta distribution at `(1 + r) / 2`: agreement is likely, disagreement
    possible.

    Args:
        scale: Standard deviation of the logarithm of a variance; None for no such term.
        correlation: The Beta distribution's parameters; None for no such term.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support = constraints.positive_definite
    _validate_args = False

    def __init__(self, scale: float | None, correlation: tuple[float, float] | None) -> None:
        Module.__init__(self)
        self.scale = scale
        self.correlation = correlation
        self._transform = None

    def log_prob(self, matrix: Tensor) -> Tensor:
        """Return the log density, up to the Beta distribution's normalisation, of an `m × m` B."""
        total = matrix.new_zeros(())
        variances = matrix.diagonal()
        if self.scale is not None:
            logs = variances.log()
            constant = math.log(self.scale * math.sqrt(2 * math.pi))
            total = total - (0.5 * (logs / self.scale) ** 2 + logs + constant).sum()
        if self.correlation is not None and len(matrix) > 1:
            a, b = self.correlation
            upper = torch.triu_indices(len(matrix), len(matrix), offset=1)
            r = (matrix / (variances.unsqueeze(-1) * variances).sqrt())[upper[0], upper[1]]
            total = total + ((a - 1) * ((1 + r) / 2).log() + (b - 1) * ((1 - r) / 2).log()).sum()
        return total

    def rsample(self, *_: Any) -> Tensor:  # noqa: ANN401
        """Not available: nothing in hetbo draws from this prior."""
        raise RuntimeError("TaskCovariancePrior has no sampler")

    def expand(self, *_: Any, **__: Any) -> "TaskCovariancePrior":  # noqa: ANN401
        """Return the prior itself: it has no batch shape."""
        return self


class TaskCovariance(Kernel):
    """`B = F Fᵀ + diag(v)`: how far experiments agree. Correlations may be negative.

    Args:
        size: The number `m` of experiments.
        settings: Rank and prior.

    Attributes:
        learned: Whether a fit changes it.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__()
        self.learned = True
        rank = min(settings.task_rank or size, size) if size > 1 else 0
        factor = torch.zeros(size, rank, dtype=torch.float64)
        own = torch.ones(size, dtype=torch.float64)
        if rank:
            factor[:, 0] = 0.8
            own -= 0.8**2
        self.register_parameter("factor", Parameter(factor))
        self.register_parameter("raw_own", Parameter(own))
        self.register_constraint("raw_own", GreaterThan(SMALLEST_TASK_VARIANCE, transform=None))
        self.prior = TaskCovariancePrior(settings.task_scale, settings.task_correlation)
        self.register_prior("covariance_prior", self.prior, _matrix_of)

    @property
    def matrix(self) -> Tensor:
        """The covariance of the experiments, `m × m`."""
        return self.factor @ self.factor.mT + torch.diag(self.raw_own)

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        if self.learned:
            yield FitParameter("factor", self, "factor", log=False)
            yield FitParameter("own", self, "raw_own")

    def in_fit(self, slots: Slots) -> "TaskCovarianceInFit":
        """Return the covariance as a function of the vector of parameters, in plain NumPy."""
        return TaskCovarianceInFit(self, slots)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002
        return gather(self.matrix, x1, x2, diag=diag)


class TaskCovarianceInFit:
    """The covariance of experiments as a function of the vector of parameters, and the way back.

    Args:
        task: The module.
        slots: Where its parameters stand in the vector.

    Attributes:
        matrix: Shape `m × m`: the covariance, after `forward`.
    """

    def __init__(self, task: TaskCovariance, slots: Slots) -> None:
        self.matrix: FloatArray = task.matrix.detach().cpu().numpy()
        self._prior = task.prior
        self._shape = tuple(task.factor.shape)
        self._places = (slots["factor"].where, slots["own"].where) if task.learned else None

    def forward(self, z: FloatArray) -> FloatArray:
        """Return the covariance, keeping what `backward` needs."""
        if self._places is not None:
            factor, own = self._places
            self._factor = z[factor].reshape(self._shape)
            self._own = np.exp(z[own])
            self.matrix = self._factor @ self._factor.T
            self.matrix.flat[:: len(self.matrix) + 1] += self._own
        return self.matrix

    def log_prior(self) -> tuple[float, FloatArray]:
        """Return the log prior of the covariance, 0 if it is not learned, and its derivative."""
        value, dB = task_log_prior(self.matrix, self._prior.scale, self._prior.correlation)
        return (0.0 if self._places is None else value), dB

    def backward(self, dB: FloatArray, grad: FloatArray) -> None:
        """Add the gradient of the parameters to `grad`, from that by the covariance."""
        if self._places is not None:
            factor, own = self._places
            grad[factor] += (2.0 * dB @ self._factor).ravel()
            grad[own] += dB.diagonal() * self._own


def task_log_prior(
    B: FloatArray, scale: float | None, correlation: tuple[float, float] | None
) -> tuple[float, FloatArray]:
    """Return what `TaskCovariancePrior` says of `B`, and its derivative by `B`."""
    # Experiments are few: plain floats take less time than arrays would.
    value, dB = 0.0, np.zeros_like(B)
    rows = B.tolist()
    for i, row in enumerate(rows):
        variance = row[i]
        slope = 0.0
        if scale is not None:
            log = math.log(variance)
            value -= 0.5 * (log / scale) ** 2 + log + math.log(scale) + 0.5 * _LOG_2PI
            slope -= (log / scale**2 + 1.0) / variance
        if correlation is not None:
            a, b = correlation
            for j, covariance in enumerate(row):
                if i == j:
                    continue
                root = math.sqrt(variance * rows[j][j])
                r = covariance / root
                dr = 0.5 * ((a - 1) / (1 + r) - (b - 1) / (1 - r))
                slope -= dr * r / variance
                dB[i, j] = dr / root
                if i < j:
                    value += (a - 1) * math.log((1 + r) / 2) + (b - 1) * math.log((1 - r) / 2)
        dB[i, i] = slope
    return value, dB


def _matrix_of(task: TaskCovariance) -> Tensor:
    return task.matrix
