"""The paper's models in its settings, as the authors' runs had them.

They are hetbo's models with other priors, starts and units: those are set after a model is built.
"""

import math

import numpy as np
import torch
from gpytorch.constraints import GreaterThan, Interval

from hetbo.encoding import Dataset
from hetbo.models import (
    CommonGP,
    ConditionalGP,
    ImputedGP,
    LogNormal,
    ParameterVector,
    Settings,
    TargetGP,
    TransferGP,
    TransferKernel,
)
from hetbo_bench.analysis.estimates import FloatArray
from hetbo_bench.paper.presence import PresenceBlockKernel

PAPER = Settings(
    noise=LogNormal(-4.0, 1.0),
    noise_per_experiment=False,
    mean_per_experiment=False,
    mean_spread=math.inf,
    task_rank=None,
    task_scale=None,
    task_correlation=None,
    block_weight=None,
)
"""What hetbo's settings can say of the paper's."""

_FIRST_LENGTH_SCALE, _SHORTEST_LENGTH_SCALE = 1.0, 0.1
_FIRST_NOISE = 0.01
_FIRST_VALUE, _VALUES = 0.0, (-2.0, 3.0)
"""Missing numbers start at the low end of their range, and may leave it."""
_SMALLEST_WIDTH = 1e-4
"""A range smaller than this, in the joint cube, is none to measure lengths in."""
_SMALLEST_UNIT = 1e-5
"""In the joint cube. Squared distances in smaller units of length would be rounding errors."""


class RandomTaskStart(ParameterVector):
    """A vector whose first start has a random task covariance."""

    def first(self, rng: np.random.Generator) -> FloatArray:
        """Return the model's parameters with a task covariance drawn at random."""
        z = self.read()
        for name in ("factor", "own"):
            if name in self.slots:
                z[self.slots[name].where] = self.drawn(name, rng)
        return np.clip(z, *self.bounds)


class _AsPublished(TransferGP):
    """A model whose parameters start, and are bounded, as in the paper's runs."""

    def parameter_vector(self) -> ParameterVector:
        """Return the vector of parameters that a fit searches."""
        # Without trials of the target only the start says whether it goes along with the sources
        # or against them; a random one would toss a coin.
        tried = bool((self.data.experiment == 0).any())
        return (RandomTaskStart if tried else ParameterVector)(self.fit_parameters())

    def _adjust(self, value: float = 0.0) -> None:
        """Set what hetbo's settings do not have.

        Args:
            value: Where a missing number counts as tried.
        """
        shared, noise = self.covar_module.shared, self.likelihood.noise_covar
        with torch.no_grad():
            for block in shared.blocks:
                block.raw_lengthscale.fill_(_FIRST_LENGTH_SCALE)
                shortest = GreaterThan(_SHORTEST_LENGTH_SCALE, transform=None)
                block.register_constraint("raw_lengthscale", shortest)
                block.widths.copy_(_observed_widths(self.data, value)[block.columns])
            noise.raw_noise.fill_(_FIRST_NOISE)
            if self.imputation.learned:
                self.imputation.raw_values.fill_(_FIRST_VALUE)
                between = Interval(*_VALUES, transform=None)
                self.imputation.register_constraint("raw_values", between)
        # Without sources the variance stays at 1.
        shared.task.learned = len(shared.task.raw_own) > 1


def _observed_widths(data: Dataset, value: float) -> torch.Tensor:
    """Return the units of length, shape `d`: the range that was tried, not the one allowed."""
    low, high = data.encoder.bounds()
    if len(data.y):
        X = np.where(np.isnan(data.X), value, data.X)
        low, high = X.min(axis=0), X.max(axis=0)
        high = np.where(high - low > _SMALLEST_WIDTH, high, low)
    return torch.from_numpy(np.where(high > low, np.maximum(high - low, _SMALLEST_UNIT), 1.0))


class PaperTargetGP(_AsPublished, TargetGP):
    """Vanilla in the paper's settings."""

    def __init__(self, data: Dataset) -> None:
        super().__init__(data, settings=PAPER)
        self._adjust()


class PaperCommonGP(_AsPublished, CommonGP):
    """The common parameters only, in the paper's settings."""

    def __init__(self, data: Dataset) -> None:
        super().__init__(data, settings=PAPER)
        self._adjust()


class PaperConditionalGP(_AsPublished, ConditionalGP):
    """The conditional kernel in the paper's settings, as the paper writes it.

    Args:
        data: The trials.
        presence: Whether to add, as the authors' code does, the kernel over present blocks.
    """

    def __init__(self, data: Dataset, *, presence: bool = False) -> None:
        super().__init__(data, settings=PAPER)
        if presence:
            plain = self.covar_module.shared
            shared = PresenceBlockKernel(list(plain.blocks), plain.present, PAPER)
            self.covar_module = TransferKernel(shared, None)
        self._adjust()


class PaperImputedGP(_AsPublished, ImputedGP):
    """Missing parameters at the centre of their range, or learned, in the paper's settings.

    Args:
        data: The trials.
        learned: Whether missing values are learned.
    """

    def __init__(self, data: Dataset, *, learned: bool = True) -> None:
        super().__init__(data, settings=PAPER, learned=learned)
        self._adjust(_FIRST_VALUE if learned else 0.5)
