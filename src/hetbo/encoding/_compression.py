"""The tail of bad values compressed, so that a model has room to tell good ones apart."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray

_SMALLEST_REACH = 0.5
"""In units of the standard deviation. A search that goes well has most of its trials close to the
best one; the reach must not shrink to the small differences between these."""
_FEWEST = 30
"""With fewer values than this a long tail cannot be told from chance."""
_LARGEST = sys.float_info.max
_HUGE = 1e300
"""From here on, quarters of values are compressed, whose differences cannot overflow."""
_LONG = 2.0
"""A tail of bad values is long if it goes this much further than that of good ones."""


def has_long_bad_tail(groups: Iterable[FloatArray]) -> bool:
    """Return whether bad values go much further from the medians than good ones, all in all.

    Fewer than 30 values cannot tell.

    Args:
        groups: The values of each experiment, finite; larger is better. Each counts in units of its
            own standard deviation; those without a difference do not count.
    """
    centred = []
    for values in groups:
        unit = values / (float(np.abs(values).max(initial=0.0)) or 1.0)
        if unit.size > 1 and np.ptp(unit) > np.finfo(np.float64).eps:
            centred.append((unit - np.median(unit)) / unit.std(ddof=1))
    depths = np.concatenate([np.zeros(0), *centred])
    bad, good = (float((np.maximum(side, 0.0) ** 2).sum()) for side in (-depths, depths))
    return len(depths) >= _FEWEST and bad > _LONG**2 * good


@dataclass(frozen=True, slots=True)
class Compression:
    """A reversible change of values of which larger ones are better.

    A value that is worse than `middle` by `d` becomes one that is worse by
    `reach · log(1 + d / reach)`; better ones stay. Beyond `deepest` the change goes on in a
    straight line.

    Attributes:
        middle: The value from which on values change.
        reach: About how far below it they stay much the same.
        deepest: The largest `d` that was seen.
        part: The part of values that all of these are in units of: 1 unless values are huge.
    """

    middle: float
    reach: float
    deepest: float
    part: float = 1.0

    @classmethod
    def fit(cls, values: FloatArray) -> "Compression | None":
        """Return the change for some values: the worse half comes as near as the better half is.

        The middle is the median, and the reach the root mean square of what the better half is
        above it, or half of the standard deviation if that is more. Values that are all equal, or
        fewer than two, need no change.

        Args:
            values: Shape `n`, finite; larger is better.
        """
        # Squares are taken of values of size one, so that 1e300 does not overflow.
        largest = float(np.abs(values).max(initial=0.0))
        if largest == 0.0:
            return None
        unit = values / largest
        part = 0.25 if largest > _HUGE else 1.0
        largest *= part
        middle = float(np.median(unit))
        # Half of the values are above the median, so the sum is divided by half of their number.
        reach = float(np.sqrt((np.maximum(unit - middle, 0.0) ** 2).mean() * 2))
        reach = max(reach, _SMALLEST_REACH * float(unit.std(ddof=min(unit.size - 1, 1)))) * largest
        deepest = (middle - float(unit.min())) * largest
        # What cannot be told from rounding is no difference.
        if np.ptp(unit) <= np.finfo(np.float64).eps or reach < np.finfo(np.float64).tiny:
            return None
        return cls(_median(values * part), reach, deepest, part)

    def compress(self, values: FloatArray) -> FloatArray:
        """Return the changed values."""
        depth = self._depth(values)
        seen = np.minimum(depth, self.deepest)
        beyond = (depth - seen) * self._last_slope
        lower = self.middle - (self.reach * np.log1p(seen / self.reach) + beyond)
        changed: FloatArray = np.where(depth > 0, lower / self.part, values)
        return changed

    def expand(self, changed: FloatArray) -> FloatArray:
        """Return what the values were: the inverse of `compress`, as far as floats go."""
        depth = self._depth(changed)
        seen = np.minimum(depth, self._deepest_changed)
        room = _LARGEST / 4 * self._last_slope
        beyond = np.minimum(depth - seen, room) / self._last_slope
        lower = self.middle - (self.reach * np.expm1(seen / self.reach) + beyond)
        lowest = -_LARGEST * self.part
        values: FloatArray = np.where(depth > 0, np.maximum(lower, lowest) / self.part, changed)
        return values

    def log_slope(self, changed: FloatArray) -> FloatArray:
        """Return the logs of how much a small difference shrank, at changed values."""
        slope: FloatArray = -np.minimum(self._depth(changed), self._deepest_changed) / self.reach
        return slope

    def _depth(self, values: FloatArray) -> FloatArray:
        """Return how far values are below the middle; 0 for those above."""
        depth: FloatArray = np.maximum(self.middle - values * self.part, 0.0)
        return depth

    @property
    def _deepest_changed(self) -> float:
        return self.reach * float(np.log1p(self.deepest / self.reach))

    @property
    def _last_slope(self) -> float:
        return 1.0 / (1.0 + self.deepest / self.reach)


def _median(values: FloatArray) -> float:
    """Return the median, exactly: not a hair above the values that are equal to it."""
    lower, upper = (float(np.quantile(values, 0.5, method=m)) for m in ("lower", "higher"))
    return lower if lower == upper else lower / 2 + upper / 2
