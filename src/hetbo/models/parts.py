"""The mean, the noise and the imputation, as GPyTorch modules."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from gpytorch import Module
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.likelihoods.gaussian_likelihood import _GaussianLikelihoodBase
from gpytorch.likelihoods.noise_models import Noise
from gpytorch.means import Mean
from gpytorch.priors import NormalPrior
from linear_operator.operators import DiagLinearOperator
from torch import Tensor
from torch.nn import Parameter

from hetbo.models.kernels import split_inputs
from hetbo.models.priors import log_normal_prior
from hetbo.models.settings import Settings

SMALLEST_NOISE = 1e-4
SMALLEST_KNOWN_NOISE = 1e-6
LOGIT_SPREAD = 1.0


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
        return self.constants.expand(self.constants.shape)[_index(X, len(self.constants))]


class _ExperimentNoiseModel(Noise):
    """The noise variance of each input: its known one, or its experiment's."""

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__()
        self.prior = settings.noise
        count = size if settings.noise_per_experiment else 1
        first = self.prior.mode if settings.first_noise is None else settings.first_noise
        start = torch.full((count,), first, dtype=torch.float64)
        self.register_parameter("raw_noise", Parameter(start))
        self.register_constraint("raw_noise", GreaterThan(SMALLEST_NOISE, transform=None))
        self.register_prior("noise_prior", log_normal_prior(self.prior), "raw_noise")

    def forward(self, *params: Any, **_: Any) -> DiagLinearOperator:  # noqa: ANN401
        X = params[0] if torch.is_tensor(params[0]) else params[0][0]
        known = split_inputs(X)[2]
        learned = self.raw_noise[_index(X, len(self.raw_noise))]
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


@dataclass(frozen=True, slots=True)
class Gap:
    """A parameter that an experiment neither tunes nor fixes.

    Attributes:
        experiment: The experiment's position.
        parameter: The parameter's name.
        columns: The columns that encode it: one for a number, one per choice for a category.
        numeric: Whether it is a number.
    """

    experiment: int
    parameter: str
    columns: tuple[int, ...]
    numeric: bool


class Imputation(Module):
    """The values of what experiments miss: a number in the unit interval, a category's simplex.

    A missing category is a point in the simplex of its choices, given by logits.

    Args:
        gaps: What is missing where.
        start: Shape `m × d`: the values that fill the gaps at first, or for good.
        learned: Whether the values are learned with the other parameters.
        value_range: Between what numbers are learned.
    """

    def __init__(
        self,
        gaps: Sequence[Gap],
        start: Tensor,
        *,
        learned: bool,
        value_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.gaps = tuple(gaps)
        self.numeric = tuple(gap for gap in gaps if gap.numeric)
        self.categorical = tuple(gap for gap in gaps if not gap.numeric)
        missing = torch.zeros(start.shape, dtype=torch.bool)
        for gap in gaps:
            missing[gap.experiment, list(gap.columns)] = True
        self.register_buffer("missing", missing)
        self.register_buffer("start", torch.where(missing, start, 0.0))
        self.learned = learned
        if not learned:
            return
        values = torch.tensor(
            [float(start[gap.experiment, gap.columns[0]]) for gap in self.numeric],
            dtype=torch.float64,
        )
        self.register_parameter("raw_values", Parameter(values))
        self.register_constraint("raw_values", Interval(*value_range, transform=None))
        width = sum(len(gap.columns) for gap in self.categorical)
        self.register_parameter("logits", Parameter(torch.zeros(width, dtype=torch.float64)))
        if width:
            prior = NormalPrior(
                torch.tensor(0.0, dtype=torch.float64),
                torch.tensor(LOGIT_SPREAD, dtype=torch.float64),
            )
            self.register_prior("logits_prior", prior, "logits")

    def table(self) -> Tensor:
        """Return the values that fill the gaps, `m × d`; 0 where nothing is missing."""
        if not self.learned:
            return self.start
        cells = [gap.experiment * self.start.shape[1] + gap.columns[0] for gap in self.numeric]
        parts = [self.raw_values]
        position = 0
        for gap in self.categorical:
            logits = self.logits[position : position + len(gap.columns)]
            parts.append(logits.softmax(-1))
            cells += [gap.experiment * self.start.shape[1] + column for column in gap.columns]
            position += len(gap.columns)
        index = torch.tensor(cells, dtype=torch.long, device=self.start.device)
        flat = torch.zeros_like(self.start).reshape(-1)
        return flat.index_put((index,), torch.cat(parts)).reshape(self.start.shape)

    def forward(self, X: Tensor) -> Tensor:
        """Return the inputs with their gaps filled."""
        points, experiment, _ = split_inputs(X)
        filled = torch.where(self.missing[experiment], self.table()[experiment], points)
        return torch.cat([filled, X[..., -2:]], dim=-1)


def _index(X: Tensor, count: int) -> Tensor:
    experiment = split_inputs(X)[1]
    return experiment if count > 1 else torch.zeros_like(experiment)
