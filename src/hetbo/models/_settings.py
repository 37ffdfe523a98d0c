"""The sets of modelling choices: for outcomes of any scales, and for outcomes on one scale."""

import math
from dataclasses import dataclass, replace

from hetbo.errors import FitError, shown


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal prior.

    Attributes:
        location: The mean of the logarithm.
        scale: The standard deviation of the logarithm.
    """

    location: float
    scale: float

    @property
    def mode(self) -> float:
        """The most likely value."""
        return math.exp(self.location - self.scale**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a model assumes before it has seen data.

    Attributes:
        noise: Prior of the noise variance.
        noise_per_experiment: Whether each experiment has its own noise.
        mean_per_experiment: Whether each experiment has its own constant mean.
        mean_spread: Standard deviation of the normal prior of the means; infinite for none.
        task_rank: Rank of the task covariance's shared part; None for the number of experiments.
        task_scale: Standard deviation of the logarithm of an experiment's variance, whose prior
            is centred at 1; None for no prior.
        task_correlation: Parameters `a, b` of the Beta prior of `(1 + correlation) / 2`; None for
            no prior.
        block_weight: Prior spread of the logarithm of a block's weight; None if all weights are 1.
        effect_weight: The same for the main effects of a target's parameters and their interplay.
        residual_variance: Prior of an experiment's own, residual variance.
        shortest: No length-scale is shorter, in parts of the cube's diagonal.
    """

    noise: LogNormal = LogNormal(-4.0, 2.0)
    noise_per_experiment: bool = True
    mean_per_experiment: bool = True
    mean_spread: float = 1.0
    task_rank: int | None = 1
    task_scale: float | None = 0.5
    task_correlation: tuple[float, float] | None = (3.0, 1.5)
    block_weight: float | None = 1.0
    effect_weight: float = 0.3
    residual_variance: LogNormal = LogNormal(-2.3, 1.0)
    shortest: float = 1 / 12

    def length_scale(self, dimensions: int) -> LogNormal:
        """Return the prior of the length-scales of a kernel over some number of dimensions."""
        return LogNormal(math.sqrt(2) + 0.5 * math.log(dimensions), math.sqrt(3))

    def shortest_length_scale(self, dimensions: int) -> float:
        """Return the shortest length-scale of a kernel over some number of dimensions."""
        return self.shortest * math.sqrt(dimensions)


DEFAULT = Settings()

ONE_SCALE = replace(
    DEFAULT,
    mean_per_experiment=False,
    mean_spread=math.inf,
)

SETTINGS = {"default": DEFAULT, "one scale": ONE_SCALE}


def settings_of(settings: Settings | str) -> Settings:
    """Return the settings called `settings`, or the settings themselves.

    Raises:
        FitError: There are no settings of that name.
    """
    if isinstance(settings, Settings):
        return settings
    if settings not in SETTINGS:
        known = ", ".join(map(repr, SETTINGS))
        raise FitError(f"unknown settings {shown(settings)}; expected one of {known}")
    return SETTINGS[settings]
