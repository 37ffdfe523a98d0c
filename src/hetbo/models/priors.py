"""Priors that GPyTorch does not have."""

import math
from typing import Any, ClassVar

import torch
from gpytorch.priors import LogNormalPrior, Prior
from torch import Tensor
from torch.distributions import constraints
from torch.nn import Module

from hetbo.models.settings import LogNormal


def log_normal_prior(prior: LogNormal) -> LogNormalPrior:
    """Return the prior as GPyTorch's, in double precision."""
    return LogNormalPrior(
        torch.tensor(prior.location, dtype=torch.float64),
        torch.tensor(prior.scale, dtype=torch.float64),
    )


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
