"""Measured values on one scale, where larger is better."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hetbo.experiments import Goal

FloatArray = npt.NDArray[np.float64]

_SMALLEST_RELATIVE_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class OutcomeScale:
    """A reversible scaling of one experiment's values: zero mean, unit spread, larger is better.

    Attributes:
        centre: The value that becomes 0.
        spread: The difference that becomes 1.
        sign: 1 if larger values are better, -1 if smaller ones are.
    """

    centre: float
    spread: float
    sign: int

    @classmethod
    def fit(cls, values: Sequence[float] | FloatArray, goal: Goal) -> "OutcomeScale":
        """Return the scale of some values.

        No value at all, a single one, or values that are all equal have no spread; they are
        shifted only.

        Args:
            values: Shape `n`, finite.
            goal: Which way is better.
        """
        y = np.asarray(values, dtype=np.float64)
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
        return self.sign * (np.asarray(values, dtype=np.float64) - self.centre) / self.spread

    def scale_noise(self, noise: Sequence[float] | FloatArray) -> FloatArray:
        """Return standard deviations of the experiment on the common scale."""
        return np.asarray(noise, dtype=np.float64) / self.spread

    def unscale(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return values in the experiment's own units: the inverse of `scale`."""
        return self.sign * np.asarray(scaled, dtype=np.float64) * self.spread + self.centre

    def unscale_noise(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return standard deviations in the experiment's own units."""
        return np.asarray(scaled, dtype=np.float64) * self.spread
