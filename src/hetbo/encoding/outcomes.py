"""Measured values on one scale, where larger is better."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hetbo.encoding.softening import FloatArray, Softening
from hetbo.experiments import Goal

_SMALLEST_RELATIVE_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class OutcomeScale:
    """A reversible scaling of one experiment's values: zero mean, unit spread, larger is better.

    Attributes:
        centre: The value that becomes 0.
        spread: The difference that becomes 1.
        sign: 1 if larger values are better, -1 if smaller ones are.
        softening: What brings bad values nearer before they are scaled, if anything does. It sees
            values with their sign, so that larger ones are better.
    """

    centre: float
    spread: float
    sign: int
    softening: Softening | None = None

    @classmethod
    def fit(
        cls, values: Sequence[float] | FloatArray, goal: Goal, *, softened: bool = False
    ) -> "OutcomeScale":
        """Return the scale of some values.

        No value at all, a single one, or values that are all equal have no spread; they are
        shifted only.

        Args:
            values: Shape `n`, finite.
            goal: Which way is better.
            softened: Whether bad values are brought nearer first.
        """
        y = np.asarray(values, dtype=np.float64)
        if softened:
            softening = Softening.fit(goal.sign * y)
            if softening is not None:
                y = goal.sign * softening.soften(goal.sign * y)
                return replace(cls.fit(y, goal), softening=softening)
        if y.size == 0:
            return cls(0.0, 1.0, goal.sign)
        # Sums are taken of values of size one, so that 1e300 does not overflow.
        largest = float(np.abs(y).max())
        if largest == 0.0:
            return cls(0.0, 1.0, goal.sign)
        unit = y / largest
        spread = float(unit.std(ddof=1)) if y.size > 1 else 0.0
        if spread <= _SMALLEST_RELATIVE_SPREAD or spread * largest < sys.float_info.min:
            return cls(float(y[0]), 1.0, goal.sign)
        return cls(float(unit.mean()) * largest, spread * largest, goal.sign)

    def scale(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Return values of the experiment on the common scale."""
        y = np.asarray(values, dtype=np.float64)
        if self.softening is not None:
            y = self.sign * self.softening.soften(self.sign * y)
        return self.sign * (y - self.centre) / self.spread

    def unscale(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return values in the experiment's own units: the inverse of `scale`."""
        y = self.sign * np.asarray(scaled, dtype=np.float64) * self.spread + self.centre
        return y if self.softening is None else self.sign * self.softening.harden(self.sign * y)

    def log_slope(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return the logs of how much a small difference in own units is on the common scale.

        Args:
            scaled: Shape `n`: where, on the common scale.
        """
        z = np.asarray(scaled, dtype=np.float64)
        slope = np.full(z.shape, -np.log(self.spread))
        if self.softening is not None:
            slope += self.softening.log_slope(z * self.spread + self.sign * self.centre)
        return slope

    def scale_noise(
        self, noise: Sequence[float] | FloatArray, scaled: Sequence[float] | FloatArray
    ) -> FloatArray:
        """Return standard deviations of the experiment on the common scale.

        Args:
            noise: Shape `n`: standard deviations in own units.
            scaled: Shape `n`: the values that they belong to, on the common scale.
        """
        return np.asarray(noise, dtype=np.float64) * np.exp(self.log_slope(scaled))
