"""The sets of modelling choices: ours, ours for outcomes on one scale, the paper's."""

import math
from dataclasses import dataclass, replace

from hetbo.encoding.dataset import Scaling
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
        scaling: How outcomes should be scaled; see `Dataset.build`.
        noise: Prior of the noise variance.
        noise_per_experiment: Whether each experiment has its own noise.
        mean_per_experiment: Whether each experiment has its own constant mean.
        mean_spread: Standard deviation of the normal prior of the means; infinite for none.
        task_rank: Rank of the task covariance's shared part; None for the number of experiments.
        task_scale: Standard deviation of the logarithm of an experiment's variance, whose prior
            is centred at 1; None for no prior.
        task_correlation: Parameters `a, b` of the Beta prior of `(1 + correlation) / 2`; None for
            no prior.
        single_task_scale: Whether the variance is learned if there is one experiment only.
        block_weight: Prior spread of the logarithm of a block's weight; None if all weights are 1.
        effect_weight: The same for the main effects of a target's parameters and their interplay.
        residual_variance: Prior of an experiment's own, residual variance.
        shortest: No length-scale is shorter, in parts of the cube's diagonal or of its edge.
        shortest_by_diagonal: Whether `shortest` is in parts of the cube's diagonal.
        first_length_scale: Where a fit starts with each length-scale; None for its prior's mode.
        first_noise: Where a fit starts with the noise variance; None for its prior's mode.
        first_task_anywhere: Whether a fit starts with a random task covariance; if not, with one of
            experiments that agree.
        first_value: Where a fit starts with a missing number that is learned, from 0 to 1.
        value_range: Between what a missing number is learned; its range is 0 to 1.
        observed_units: Whether lengths are measured in units of the range that was tried, not of
            the range that is allowed.
        with_slips: Whether a fit has the slips of the authors' code; see `models/slips.py`.
    """

    scaling: Scaling = "per-experiment"
    noise: LogNormal = LogNormal(-4.0, 2.0)
    noise_per_experiment: bool = True
    mean_per_experiment: bool = True
    mean_spread: float = 1.0
    task_rank: int | None = 1
    task_scale: float | None = 0.5
    task_correlation: tuple[float, float] | None = (3.0, 1.5)
    single_task_scale: bool = True
    block_weight: float | None = 1.0
    effect_weight: float = 0.3
    residual_variance: LogNormal = LogNormal(-2.3, 1.0)
    shortest: float = 1 / 12
    shortest_by_diagonal: bool = True
    first_length_scale: float | None = None
    first_noise: float | None = None
    first_task_anywhere: bool = False
    first_value: float = 0.5
    value_range: tuple[float, float] = (0.0, 1.0)
    observed_units: bool = False
    with_slips: bool = False

    def length_scale(self, dimensions: int) -> LogNormal:
        """Return the prior of the length-scales of a kernel over some number of dimensions."""
        return LogNormal(math.sqrt(2) + 0.5 * math.log(dimensions), math.sqrt(3))

    def shortest_length_scale(self, dimensions: int) -> float:
        """Return the shortest length-scale of a kernel over some number of dimensions."""
        return self.shortest * (math.sqrt(dimensions) if self.shortest_by_diagonal else 1.0)


DEFAULT = Settings()

PAPER = replace(
    DEFAULT,
    scaling="pooled",
    noise=LogNormal(-4.0, 1.0),
    noise_per_experiment=False,
    mean_per_experiment=False,
    mean_spread=math.inf,
    task_rank=None,
    task_scale=None,
    task_correlation=None,
    single_task_scale=False,
    block_weight=None,
    shortest=0.1,
    shortest_by_diagonal=False,
    first_length_scale=1.0,
    first_noise=0.01,
    first_task_anywhere=True,
    first_value=0.0,
    value_range=(-2.0, 3.0),
    observed_units=True,
)

PAPER_WITH_SLIPS = replace(PAPER, with_slips=True)

ONE_SCALE = replace(
    DEFAULT,
    scaling="pooled",
    mean_per_experiment=False,
    mean_spread=math.inf,
)

SETTINGS = {
    "default": DEFAULT,
    "one scale": ONE_SCALE,
    "paper": PAPER,
    "paper with slips": PAPER_WITH_SLIPS,
}


def settings_of(settings: Settings | str) -> Settings:
    """Return the settings called `settings`, or the settings themselves.

    Raises:
        FitError: There are no settings of that name.
    """
    if isinstance(settings, Settings):
        return settings
    if settings not in SETTINGS:
        known = ", ".join(map(repr, SETTINGS))
        raise FitError(f"settings={shown(settings)} must be one of {known}")
    return SETTINGS[settings]
