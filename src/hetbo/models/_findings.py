"""What fitted models say of their trials: predictions of each, sources, learned values."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.spaces import Value

CORRELATIONS: FloatArray = np.linspace(-0.995, 0.995, 399)
"""Where the density of a correlation is told."""

_LEVEL = 0.95
_NOTABLE = 0.3
_LIKELY = 0.8


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Predictions of the target's `n` trials, each made without its own value.

    Attributes:
        observed: Shape `n`: the values, scaled.
        mean: Shape `n`: the predictions' means.
        sd: Shape `n`: the predictions' standard deviations, noise included.
        log_density: Shape `n`: the log densities of the values under the predictions.
    """

    observed: FloatArray
    mean: FloatArray
    sd: FloatArray
    log_density: FloatArray

    @classmethod
    def of(cls, observed: FloatArray, mean: FloatArray, variance: FloatArray) -> "LeaveOneOut":
        """Return normal predictions, with the log densities of the values under them.

        Args:
            observed: Shape `n`: the values, scaled.
            mean: Shape `n`: the predictions' means.
            variance: Shape `n`: the predictions' variances, noise included.
        """
        log_density = -0.5 * ((observed - mean) ** 2 / variance + np.log(2 * np.pi * variance))
        return cls(observed, mean, np.sqrt(variance), log_density)


@dataclass(frozen=True, slots=True)
class SourceUse:
    """What a model makes of each source; both are 0 for a source that it does not use.

    Attributes:
        correlations: Shape `m - 1`: how each source goes along with the target, from -1 to 1.
        signal: Shape `m - 1`: how much of each source's variance is more than noise, from 0 to 1.
    """

    correlations: FloatArray
    signal: FloatArray


@dataclass(frozen=True, slots=True)
class Correlation:
    """How two experiments go along with each other, from -1 to 1.

    Attributes:
        estimate: What the models believe, their prior of agreement included.
        low: The lowest correlation that the trials alone do not rule out at the 95 % level.
        high: The highest such correlation.
    """

    estimate: float
    low: float = -1.0
    high: float = 1.0

    @property
    def known(self) -> bool:
        """Whether the trials rule out that the two agree, or that they contradict each other."""
        return self.low > -_NOTABLE or self.high < _NOTABLE

    def __str__(self) -> str:
        if not self.known:
            return "not known yet"
        return f"between {self.low:+.2f} and {self.high:+.2f}"


@dataclass(frozen=True, slots=True)
class CorrelationDensity:
    """What one model, and its trials, say of the correlation of two experiments.

    Attributes:
        estimate: What the model believes, its prior included.
        density: How likely the trials alone make each of `CORRELATIONS`; adds up to 1.
    """

    estimate: float
    density: FloatArray

    @classmethod
    def unknown(cls, estimate: float = 0.0) -> "CorrelationDensity":
        """Return a correlation that the trials say nothing of."""
        return cls(estimate, np.full(len(CORRELATIONS), 1 / len(CORRELATIONS)))


def pooled_correlation(found: Iterable[tuple[CorrelationDensity, float]]) -> Correlation:
    """Return the correlation of two experiments over several models.

    Args:
        found: What each model says, and its weight.
    """
    density = np.zeros(len(CORRELATIONS))
    estimate = total = 0.0
    for one, weight in found:
        estimate += weight * one.estimate
        total += weight
        density += weight * one.density
    if total == 0.0:
        return Correlation(0.0)
    cumulative = np.cumsum(density) / density.sum()
    tail = (1 - _LEVEL) / 2
    low, high = np.interp([tail, 1 - tail], cumulative, CORRELATIONS).tolist()
    return Correlation(estimate / total, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedNumber:
    """What a fit learned about a number that an experiment did not tune.

    Attributes:
        experiment: The experiment's name.
        parameter: The parameter's name.
        estimate: The most likely value, in natural units.
        low: The lowest value, in natural units, that the trials do not rule out at the 95 % level.
        high: The highest such value.
        positions: The density's places, in natural units.
        density: The density there, on the parameter's scale from 0 to 1.
    """

    experiment: str
    parameter: str
    estimate: float
    low: float
    high: float
    positions: FloatArray
    density: FloatArray

    @property
    def known(self) -> bool:
        """Whether the trials rule out a part of the range that three digits show."""
        ends = zip((self.low, self.high), self.positions[[0, -1]].tolist(), strict=True)
        return any(f"{found:.3g}" != f"{end:.3g}" for found, end in ends)


@dataclass(frozen=True, slots=True)
class LearnedChoice:
    """What a fit learned about a choice, one of a category say, that an experiment did not tune.

    Attributes:
        experiment: The experiment's name.
        parameter: The parameter's name.
        estimate: The most likely choice.
        probabilities: Each choice, and how likely it is.
    """

    experiment: str
    parameter: str
    estimate: Value
    probabilities: tuple[tuple[Value, float], ...]

    @property
    def probability(self) -> float:
        """How likely the most likely choice is."""
        return max(probability for _, probability in self.probabilities)

    @property
    def known(self) -> bool:
        """Whether one choice is likely enough, in whole percents."""
        return round(self.probability, 2) >= _LIKELY


LearnedValue = LearnedNumber | LearnedChoice
