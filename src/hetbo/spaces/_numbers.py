"""Real and whole numbers within a range."""

import math
import numbers
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from hetbo.errors import SpaceError, shown
from hetbo.spaces._bounds import as_whole, finite_bound, read_range, whole_bound
from hetbo.spaces._parameter import Difference, Parameter
from hetbo.spaces._texts import number, plainly
from hetbo.spaces._values import Value, as_float

if TYPE_CHECKING:
    from hetbo.spaces._axes import Axis


@dataclass(frozen=True, slots=True, repr=False)
class Numeric(Parameter):
    """A number between `low` and `high`, both included.

    Attributes:
        low: The smallest value.
        high: The largest value.
        log: Whether steps of equal ratio, not of equal difference, matter alike.
    """

    family = "a number"
    low: float
    high: float
    log: bool = field(default=False, kw_only=True)

    @abstractmethod
    def check(self, value: object) -> float:
        """Return `value` as this parameter stores it.

        Raises:
            SpaceError: The value is not a number between `low` and `high`.
        """

    @property
    def scale(self) -> "Numeric":
        """This parameter: its values are numbers."""
        return self

    @property
    def summary(self) -> str:
        """The range in a few words."""
        return f"{self.low:g} … {self.high:g}{' log' if self.log else ''}"

    def covers(self, value: Value) -> bool:
        """Return whether a number lies within the range."""
        return self.accepts(value) and self.low <= float(value or 0) <= self.high

    def read(self, cell: object, *, decimal: str = ".") -> float:
        """Return the number that a cell of a table stands for.

        Raises:
            SpaceError: The cell is not a number of the range.
        """
        if not isinstance(cell, str):
            return self.check(cell)
        found = number(cell, decimal)
        if found is None:
            hint = plainly(cell, decimal)
            raise SpaceError(f"{shown(cell)} is not a number; expected one in {self!r}{hint}")
        return self.check(found)

    def accepts(self, value: Value) -> bool:
        """Return whether a value is a number."""
        return isinstance(value, int | float) and not isinstance(value, bool)

    def merge(
        self,
        others: Sequence[Parameter],
        *,
        fixed: Sequence[Value],
        tried: Iterable[Value],
        of_target: bool,
    ) -> "Numeric":
        """Return the hull of all ranges and fixed values: whole if all of them are."""
        every = [self, *(p.scale for p in others if p.scale is not None)]
        held = [value for value in fixed if isinstance(value, int | float)]
        log = self.log if of_target else any(p.log for p in every)
        lows = [*(p.low for p in every), *held]
        low, high = min(lows), max([*(p.high for p in every), *held])
        if log and low <= 0:
            # A source went down to zero or below on a linear scale. Its positive trials keep their
            # place; the others stand at the low end, which `JointSpace.describe` says.
            seen = (value for value in tried if isinstance(value, int | float))
            low = min(value for value in (*lows, *seen) if value > 0)
        if all(isinstance(p, Int) for p in every) and all(v == int(v) for v in held):
            return Int(int(low), int(high), log=log)
        return Float(low, high, log=log)

    def differences(self, before: Parameter, tried: Sequence[Value]) -> Iterable[Difference]:
        """Yield how this range, the target's, differs from that of a source."""
        old = before.scale
        if old is None:
            return
        if before.kind != self.kind:
            yield "retyped", "compared as numbers"
        if (old.low, old.high) != (self.low, self.high):
            outside = sum(not self.covers(value) for value in tried)
            yield (
                "re-ranged",
                f"{self._move(old)}; the source's trials outside of it ({outside}) still count"
                if outside
                else f"{self._move(old)}; all of the source's trials lie inside",
            )
        if old.log != self.log:
            scale = "log" if self.log else "linear"
            clipped = self.log and old.low <= 0
            low_end = " (zero and below stand at its low end)" if clipped else ""
            yield "re-scaled", f"compared on the target's {scale} scale{low_end}"

    def axis(self, tuned: Sequence[Parameter]) -> "Axis":
        """Return where the numbers lie in the unit cube: on this scale, in one column."""
        from hetbo.spaces._axes import NumberAxis  # noqa: PLC0415  # loads NumPy

        return NumberAxis.of(self, [p.scale for p in tuned if p.scale is not None])

    def to_json(self) -> dict[str, Any]:
        """Return the parameter as plain JSON data, without its kind."""
        return {"low": self.low, "high": self.high, "log": self.log}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the parameter that `to_json` wrote.

        Raises:
            SpaceError: The data does not describe one.
        """
        low, high, log = read_range(cls.kind, data)
        return cls(low, high, log=log)

    def __repr__(self) -> str:
        log = ", log=True" if self.log else ""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}{log})"

    def _move(self, before: "Numeric") -> str:
        if self.low <= before.low and self.high >= before.high:
            return "wider"
        if self.low >= before.low and self.high <= before.high:
            return "narrower"
        if self.low > before.high or self.high < before.low:
            return "moved away"
        return "moved"

    def _check_range(self) -> None:
        kind, low, high = type(self).__name__, self.low, self.high
        if not isinstance(self.log, bool):
            raise SpaceError(f"{kind}: log={self.log!r} must be True or False")
        if low >= high:
            raise SpaceError(f"{kind}: low={low!r} must be below high={high!r}")
        if self.log and low <= 0:
            raise SpaceError(f"{kind}: low={low!r} must be above 0 on a log scale")
        if not math.isfinite(high / low if self.log else high - low):
            raise SpaceError(f"{kind}: the range from {low!r} to {high!r} is too wide for a float")

    def _check_inside(self, value: float) -> None:
        if value < self.low:
            raise SpaceError(f"{shown(value)} is below low={self.low!r}")
        if value > self.high:
            raise SpaceError(f"{shown(value)} is above high={self.high!r}")


@dataclass(frozen=True, slots=True, repr=False)
class Float(Numeric):
    """A real number between `low` and `high`, both included.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Whether steps of equal ratio, not of equal difference, matter alike.

    Raises:
        SpaceError: A bound is not a finite number, `low` is not below `high`, or a log scale
            would start at or below zero.
    """

    kind = "float"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", finite_bound("low", self.low))
        object.__setattr__(self, "high", finite_bound("high", self.high))
        self._check_range()

    @property
    def values(self) -> None:
        """None: the values are real numbers."""
        return

    def check(self, value: object) -> float:
        """Return `value` as this parameter stores it.

        Raises:
            SpaceError: The value is not a number between `low` and `high`.
        """
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise SpaceError(f"{shown(value)} is not a number; expected one in {self!r}")
        found = as_float(value)
        if math.isnan(found):
            raise SpaceError(f"nan is not a value of {self!r}")
        self._check_inside(found)
        return found

    def neighbours(self, value: Value) -> Sequence[Value]:  # noqa: ARG002  # it has none
        """Return nothing: a search follows the gradient."""
        return ()


@dataclass(frozen=True, slots=True, repr=False)
class Int(Numeric):
    """A whole number between `low` and `high`, both included.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Whether steps of equal ratio, not of equal difference, matter alike.

    Raises:
        SpaceError: A bound is not a whole number, `low` is not below `high`, or a log scale
            would start at or below zero.
    """

    kind = "int"
    low: int
    high: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", whole_bound("low", self.low))
        object.__setattr__(self, "high", whole_bound("high", self.high))
        self._check_range()

    @property
    def values(self) -> range:
        """All whole numbers of the range."""
        return range(self.low, self.high + 1)

    @property
    def summary(self) -> str:
        """The range in a few words."""
        return f"int {self.low:g} … {self.high:g}{' log' if self.log else ''}"

    def check(self, value: object) -> int:
        """Return `value` as this parameter stores it; 3.0 is taken as 3.

        Raises:
            SpaceError: The value is not a whole number between `low` and `high`.
        """
        whole = as_whole(value)
        if whole is None:
            raise SpaceError(f"{shown(value)} is not a whole number; expected one in {self!r}")
        self._check_inside(whole)
        return whole

    def neighbours(self, value: Value) -> Sequence[int]:
        """Return the numbers one, two, four and so on away: next to `value`, and far from it."""
        centre = self.check(value)
        widths = [2**k for k in range((self.high - self.low).bit_length())]
        steps = [centre + sign * width for width in widths for sign in (-1, 1)]
        return [step for step in steps if self.low <= step <= self.high]
