"""Measured values on one scale, where larger is better."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.encoding._compression import Compression
from hetbo.experiments import Goal

_SMALLEST_RELATIVE_SPREAD = 1e-12
_LARGEST = sys.float_info.max
_HUGE = 1e300
"""From here on, sums and differences are taken of quarters, which cannot overflow."""
_LARGEST_NOISE = 1e6
"""On the common scale. A measurement with more noise than this says nothing anyway."""


@dataclass(frozen=True, slots=True)
class OutcomeScale:
    """A reversible scaling of one experiment's values: zero mean, unit spread, larger is better.

    Attributes:
        centre: The value that becomes 0.
        spread: The difference that becomes 1.
        sign: 1 if larger values are better, -1 if smaller ones are.
        compression: What compresses the tail of bad values before they are scaled, if anything
            does. It sees values with their sign, so that larger ones are better.
    """

    centre: float
    spread: float
    sign: int
    compression: Compression | None = None

    @classmethod
    def fit(
        cls, values: Sequence[float] | FloatArray, goal: Goal, *, compressed: bool = False
    ) -> "OutcomeScale":
        """Return the scale of some values.

        No value at all, a single one, or values that are all equal have no spread; they are
        shifted only. So are values that differ by rounding, unless even that is more than 1.

        Args:
            values: Shape `n`, finite.
            goal: Which way is better.
            compressed: Whether the tail of bad values is compressed first.
        """
        y = np.asarray(values, dtype=np.float64)
        if compressed:
            compression = Compression.fit(goal.sign * y)
            if compression is not None:
                y = goal.sign * compression.compress(goal.sign * y)
                return replace(cls.fit(y, goal), compression=compression)
        if y.size == 0:
            return cls(0.0, 1.0, goal.sign)
        # Sums are taken of values of size one, so that 1e300 does not overflow.
        largest = float(np.abs(y).max())
        if largest == 0.0:
            return cls(0.0, 1.0, goal.sign)
        unit = y / largest
        spread = float(unit.std(ddof=1)) if y.size > 1 else 0.0
        if spread <= _SMALLEST_RELATIVE_SPREAD or spread * largest < sys.float_info.min:
            rounding = 0.0 if y.min() == y.max() else largest * _SMALLEST_RELATIVE_SPREAD
            return cls(float(y[0]), max(1.0, rounding), goal.sign)
        spread = min(spread * largest, _LARGEST)
        return cls(float(unit.mean()) * largest, spread, goal.sign)

    def scale(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Return values of the experiment on the common scale."""
        y = np.asarray(values, dtype=np.float64)
        if self.compression is not None:
            y = self.sign * self.compression.compress(self.sign * y)
        part = self._part
        return self.sign * (y * part - self.centre * part) / (self.spread * part)

    def unscale(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return values in the experiment's own units: the inverse of `scale`.

        Values beyond the largest float become the largest float.
        """
        y = self._shifted_back(self.sign * np.asarray(scaled, dtype=np.float64))
        return y if self.compression is None else self.sign * self.compression.expand(self.sign * y)

    def log_slope(self, scaled: Sequence[float] | FloatArray) -> FloatArray:
        """Return the logs of how much a small difference in own units is on the common scale.

        Args:
            scaled: Shape `n`: where, on the common scale.
        """
        z = np.asarray(scaled, dtype=np.float64)
        slope = np.full(z.shape, -np.log(self.spread))
        if self.compression is not None:
            slope += self.compression.log_slope(self.sign * self._shifted_back(self.sign * z))
        return slope

    def scale_noise(
        self, noise: Sequence[float] | FloatArray, scaled: Sequence[float] | FloatArray
    ) -> FloatArray:
        """Return standard deviations of the experiment on the common scale.

        Args:
            noise: Shape `n`: standard deviations in own units.
            scaled: Shape `n`: the values that they belong to, on the common scale.
        """
        slope = self.log_slope(scaled)
        largest = np.exp(np.minimum(np.log(_LARGEST_NOISE) - slope, np.log(_LARGEST)))
        scaled_noise: FloatArray = np.minimum(noise, largest) * np.exp(slope)
        return scaled_noise

    @property
    def _part(self) -> float:
        return 0.25 if max(abs(self.centre), self.spread) > _HUGE else 1.0

    def _shifted_back(self, signed: FloatArray) -> FloatArray:
        part, largest = self._part, _LARGEST / 4
        spread = self.spread * part
        away = np.clip(signed, -2 * largest / spread, 2 * largest / spread) * spread
        shifted: FloatArray = np.clip(away + self.centre * part, -largest, largest) / part
        return shifted
