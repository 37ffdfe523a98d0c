"""The mean and the noise, as GPyTorch modules.

GPyTorch's `_GaussianLikelihoodBase` is not public; no other likelihood takes a noise model.
"""

from collections.abc import Iterator
from typing import Any

import torch
from gpytorch.constraints import GreaterThan
from gpytorch.likelihoods.gaussian_likelihood import _GaussianLikelihoodBase
from gpytorch.likelihoods.noise_models import Noise
from gpytorch.means import Mean
from gpytorch.priors import NormalPrior
from linear_operator.operators import DiagLinearOperator
from torch import Tensor
from torch.nn import Parameter

from hetbo.models._inputs import position_in, split_inputs
from hetbo.models._parameter_vector import FitParameter
from hetbo.models._priors import log_normal_prior
from hetbo.models._settings import Settings

SMALLEST_NOISE = 1e-4
SMALLEST_KNOWN_NOISE = 1e-6


class ExperimentMeans(Mean):
    """A constant mean: one per experiment, or one for all.

    Args:
        size: The number `m` of experiments.
        settings: Whether experiments share their mean, and the prior.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__()
        self.spread = settings.mean_spread
        count = size if settings.mean_per_experiment else 1
        self.register_parameter("constants", Parameter(torch.zeros(count, dtype=torch.float64)))
        if self.spread < float("inf"):
            prior = NormalPrior(
                torch.tensor(0.0, dtype=torch.float64),
                torch.tensor(self.spread, dtype=torch.float64),
            )
            self.register_prior("constants_prior", prior, "constants")

    def forward(self, X: Tensor) -> Tensor:
        """Return the mean of each input."""
        return self.constants.expand(self.constants.shape)[position_in(X, len(self.constants))]


class _ExperimentNoiseModel(Noise):
    """The noise variance of each input: its known one, or its experiment's."""

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__()
        self.prior = settings.noise
        count = size if settings.noise_per_experiment else 1
        start = torch.full((count,), self.prior.mode, dtype=torch.float64)
        self.register_parameter("raw_noise", Parameter(start))
        self.register_constraint("raw_noise", GreaterThan(SMALLEST_NOISE, transform=None))
        self.register_prior("noise_prior", log_normal_prior(self.prior), "raw_noise")

    def forward(self, *params: Any, **_: Any) -> DiagLinearOperator:  # noqa: ANN401
        X = params[0] if torch.is_tensor(params[0]) else params[0][0]
        known = split_inputs(X)[2]
        learned = self.raw_noise[position_in(X, len(self.raw_noise))]
        return DiagLinearOperator(
            torch.where(known >= 0, known.clamp_min(SMALLEST_KNOWN_NOISE), learned)
        )


class ExperimentNoise(_GaussianLikelihoodBase):
    """Gaussian noise: each trial's known variance, or one learned per experiment, or for all.

    Args:
        size: The number `m` of experiments.
        settings: Whether experiments share their noise, and the prior.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__(noise_covar=_ExperimentNoiseModel(size, settings))

    @property
    def noise(self) -> Tensor:
        """The learned noise variances."""
        return self.noise_covar.raw_noise

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        yield FitParameter("noise", self.noise_covar, "raw_noise", self.noise_covar.prior)
