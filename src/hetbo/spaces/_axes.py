"""Where the values of a joint parameter lie in the unit cube."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.spaces._numbers import Int, Numeric
from hetbo.spaces._parameter import Parameter
from hetbo.spaces._values import Value


class Axis(ABC):
    """Where the values of a joint parameter lie in its `c` columns of the unit cube.

    An experiment's own parameter may have a part of the joint values only.
    """

    @abstractmethod
    def positions(self, values: Sequence[Value]) -> FloatArray:
        """Return where `n` joint values lie, shape `n × c`."""

    @abstractmethod
    def nearest(self, own: Parameter, positions: FloatArray) -> list[Value]:
        """Return the values of an experiment's parameter that are nearest to `n × c` positions."""

    @abstractmethod
    def bounds(self, own: Parameter) -> FloatArray:
        """Return the lowest and the highest position of an experiment's values, shape `2 × c`."""

    def cells(self, own: Parameter) -> tuple[FloatArray, FloatArray] | None:  # noqa: ARG002
        """Return the `k + 1` edges and `k` middles of the cells that `k` values have in one column.

        None if values have no cells: real numbers, and values with columns of their own.
        """
        return None

    def numbers(self, positions: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return the numbers at positions, not rounded; None if values are not numbers."""
        return None


@dataclass(frozen=True, slots=True)
class NumberAxis(Axis):
    """Numbers on a scale, in one column.

    An integer stands in the middle of a cell of its own, and all cells are equally wide (on the
    scale), so that rounding a uniform position favours none of them.
    """

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, joint: Numeric, tuned: Sequence[Numeric]) -> "NumberAxis":
        """Return the axis of a joint parameter that was merged from others."""
        whole = [p for p in (joint, *tuned) if isinstance(p, Int)]
        low = min([joint.low, *(p.low - 0.5 for p in whole if not joint.log or p.low > 0)])
        return cls(low, max([joint.high, *(p.high + 0.5 for p in whole)]), joint.log)

    def positions(self, values: Sequence[Value]) -> FloatArray:
        """Return where numbers lie, shape `n × 1`."""
        return self._position(np.array(values, dtype=np.float64))[:, np.newaxis]

    def nearest(self, own: Parameter, positions: FloatArray) -> list[Value]:
        """Return the numbers of an experiment's range that are nearest to positions."""
        numbers, scale = self.numbers(positions[:, 0]), _range_of(own)
        if isinstance(scale, Int):
            below = np.floor(numbers)  # adding a half would round what lies beyond 2**52
            # A hair below a whole number the difference is rounded to 1.
            whole = below + np.minimum(np.floor(2.0 * (numbers - below)), 1.0)
            return [int(number) for number in np.clip(whole, scale.low, scale.high)]
        return [float(number) for number in np.clip(numbers, scale.low, scale.high)]

    def bounds(self, own: Parameter) -> FloatArray:
        """Return the lowest and the highest position of a range; an integer's whole cell."""
        scale = _range_of(own)
        half = 0.5 if isinstance(scale, Int) else 0.0
        edges = np.array([scale.low - half, scale.high + half])
        return self._position(edges)[:, np.newaxis]

    def cells(self, own: Parameter) -> tuple[FloatArray, FloatArray] | None:
        """Return the edges and the middles of an integer's cells."""
        scale = _range_of(own)
        if not isinstance(scale, Int):
            return None
        middles = np.arange(scale.low, scale.high + 1, dtype=np.float64)
        edges = np.concatenate([middles - 0.5, middles[-1:] + 0.5])
        return self._position(edges), self._position(middles)

    def numbers(self, positions: FloatArray) -> FloatArray:
        """Return the numbers at positions, not rounded."""
        if self.log:
            return np.asarray(self.low * np.exp(positions * math.log(self.high / self.low)))
        return self.low + positions * (self.high - self.low)

    def _position(self, value: FloatArray) -> FloatArray:
        inside = np.clip(value, self.low, self.high)
        if self.log:
            unit = np.log(inside / self.low) / math.log(self.high / self.low)
        else:
            unit = (inside - self.low) / (self.high - self.low)
        return np.clip(unit, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ChoiceAxis(Axis):
    """Choices without an order: each has a column of its own, in which it is 1 and others are 0."""

    joint: Parameter

    def positions(self, values: Sequence[Value]) -> FloatArray:
        """Return one row for each value, with a 1 in its column."""
        positions = np.zeros((len(values), len(self.joint.values or ())))
        positions[np.arange(len(values)), [self.joint.index(value) for value in values]] = 1.0
        return positions

    def nearest(self, own: Parameter, positions: FloatArray) -> list[Value]:
        """Return the experiment's choices with the largest positions."""
        choices = own.values or ()
        at = [self.joint.index(choice) for choice in choices]
        return [choices[i] for i in positions[:, at].argmax(axis=1)]

    def bounds(self, own: Parameter) -> FloatArray:
        """Return 0 and 1; a choice that the experiment does not have is 0 in both."""
        highest = self.positions(own.values or ()).max(axis=0)
        return np.array([np.zeros_like(highest), highest])


def _range_of(own: Parameter) -> Numeric:
    if own.scale is None:
        raise TypeError(f"{own!r} is not a number")  # merging has refused it
    return own.scale
