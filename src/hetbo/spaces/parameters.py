"""The three kinds of parameters. Each is a frozen value that can check what it is given."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from hetbo.errors import SpaceError, shown

Value: TypeAlias = str | int | float | bool | None
"""What a parameter can be set to."""


@dataclass(frozen=True, slots=True)
class Float:
    """A real number between `low` and `high`, both included.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Whether steps of equal ratio, not of equal difference, matter alike.

    Raises:
        SpaceError: A bound is not a finite number, `low` is not below `high`, or a log scale
            would start at or below zero.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _finite_number("Float", "low", self.low))
        object.__setattr__(self, "high", _finite_number("Float", "high", self.high))
        _check_range(self)

    def __repr__(self) -> str:
        return _numeric_repr(self)

    def check(self, value: object) -> float:
        """Return `value` as this parameter stores it.

        Raises:
            SpaceError: The value is not a number between `low` and `high`.
        """
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise SpaceError(f"{shown(value)} is not a number; expected one in {self!r}")
        number = as_float(value)
        if math.isnan(number):
            raise SpaceError(f"nan is not a value of {self!r}")
        _check_inside(self, number)
        return number


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number between `low` and `high`, both included.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Whether steps of equal ratio, not of equal difference, matter alike.

    Raises:
        SpaceError: A bound is not a whole number, `low` is not below `high`, or a log scale
            would start at or below zero.
    """

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _whole_bound("low", self.low))
        object.__setattr__(self, "high", _whole_bound("high", self.high))
        _check_range(self)

    def __repr__(self) -> str:
        return _numeric_repr(self)

    def check(self, value: object) -> int:
        """Return `value` as this parameter stores it; 3.0 is taken as 3.

        Raises:
            SpaceError: The value is not a whole number between `low` and `high`.
        """
        whole = _as_whole(value)
        if whole is None:
            raise SpaceError(f"{shown(value)} is not a whole number; expected one in {self!r}")
        _check_inside(self, whole)
        return whole


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Categorical:
    """One of several choices without an order: texts, numbers, booleans or None.

    `True` and `1` are different choices here, `1` and `1.0` are the same.

    Args:
        choices: The choices, in the order in which they should be shown.

    Raises:
        SpaceError: No choice, a choice twice, or a choice that is none of the allowed types.
    """

    choices: tuple[Value, ...]

    def __init__(self, *choices: Value) -> None:
        if not choices:
            raise SpaceError("Categorical() has no choices; give at least one")
        object.__setattr__(self, "choices", tuple(checked_choice(choice) for choice in choices))
        seen = set[tuple[bool, Value]]()
        for choice in self.choices:
            if choice_key(choice) in seen:
                raise SpaceError(f"Categorical: the choice {shown(choice)} is given twice")
            seen.add(choice_key(choice))

    def __repr__(self) -> str:
        return f"Categorical({', '.join(map(repr, self.choices))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        return self._keys() == other._keys()

    def __hash__(self) -> int:
        return hash(self._keys())

    def check(self, value: object) -> Value:
        """Return the choice that `value` stands for.

        Raises:
            SpaceError: The value is none of the choices.
        """
        return self.choices[self.index(value)]

    def index(self, value: object) -> int:
        """Return the position of `value` among the choices.

        Raises:
            SpaceError: The value is none of the choices.
        """
        try:
            return self._keys().index(choice_key(checked_choice(value)))
        except (SpaceError, ValueError):
            known = ", ".join(map(repr, self.choices))
            raise SpaceError(f"{shown(value)} is none of the choices {known}") from None

    def _keys(self) -> tuple[tuple[bool, Value], ...]:
        return tuple(map(choice_key, self.choices))


Numeric: TypeAlias = Float | Int
"""A parameter with an order and a range."""

Parameter: TypeAlias = Float | Int | Categorical
"""Any parameter."""


def choice_key(choice: Value) -> tuple[bool, Value]:
    """Return what makes two choices the same: 1 and 1.0 are, 1 and True are not."""
    return isinstance(choice, bool), choice


def checked_choice(choice: object) -> Value:
    """Return `choice` as Python's own text, number, boolean or None.

    Numbers of other libraries, NumPy's for example, become Python's, so that choices compare,
    print and store alike.

    Raises:
        SpaceError: It is something else, or a number that is not finite.
    """
    if choice is None or isinstance(choice, bool):
        return choice
    if isinstance(choice, str):
        return str.__str__(choice)
    if isinstance(choice, numbers.Real) and math.isfinite(as_float(choice)):
        return int(choice) if isinstance(choice, numbers.Integral) else float(choice)
    if type(choice).__name__ in {"bool", "bool_"} and hasattr(choice, "item"):
        return bool(choice)
    hint = " (give the choices one by one: Categorical(*choices))" if _is_several(choice) else ""
    raise SpaceError(
        f"Categorical: {shown(choice)} cannot be a choice; "
        f"use a text, a finite number, a boolean or None{hint}"
    )


def _is_several(choice: object) -> bool:
    return isinstance(choice, list | tuple | set | frozenset)


def as_float(number: numbers.Real) -> float:
    """Return the number as a float: an infinite one if it is too large for any other."""
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf


def parameter_to_json(parameter: Parameter) -> dict[str, Any]:
    """Return the parameter as plain JSON data."""
    match parameter:
        case Float(low, high, log=log):
            return {"type": "float", "low": low, "high": high, "log": log}
        case Int(low, high, log=log):
            return {"type": "int", "low": low, "high": high, "log": log}
        case Categorical():
            return {"type": "categorical", "choices": list(parameter.choices)}
        case _:
            assert_never(parameter)


def parameter_from_json(data: object) -> Parameter:
    """Return the parameter that `parameter_to_json` wrote.

    Raises:
        SpaceError: The data does not describe a parameter.
    """
    match data:
        case {"type": "float" | "int" as kind, "low": low, "high": high, **rest}:
            log = rest.pop("log", False)
            if not isinstance(log, bool):
                raise SpaceError(f"log={log!r} must be true or false")
            _reject_extra_keys(rest)
            return Float(low, high, log=log) if kind == "float" else Int(low, high, log=log)
        case {"type": "categorical", "choices": list(choices), **rest}:
            _reject_extra_keys(rest)
            return Categorical(*choices)
        case _:
            raise SpaceError(
                f"{shown(data)} does not describe a parameter; expected a type of 'float', 'int' "
                "(with low and high) or 'categorical' (with a list of choices)"
            )


def _reject_extra_keys(rest: Mapping[object, object]) -> None:
    if rest:
        raise SpaceError(f"unknown key {shown(next(iter(rest)))} in the description of a parameter")


def _numeric_repr(parameter: Numeric) -> str:
    log = ", log=True" if parameter.log else ""
    return f"{type(parameter).__name__}({parameter.low!r}, {parameter.high!r}{log})"


def _finite_number(kind: str, bound: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SpaceError(f"{kind}: {bound}={shown(value)} must be a number")
    number = as_float(value)
    if not math.isfinite(number):
        raise SpaceError(f"{kind}: {bound}={shown(value)} must be finite")
    return number


def _whole_bound(bound: str, value: object) -> int:
    whole = _as_whole(value)
    if whole is None:
        raise SpaceError(f"Int: {bound}={shown(value)} must be a whole number")
    if abs(whole) > 2**53:
        raise SpaceError(
            f"Int: {bound}={shown(value)} must lie within ±2**53, where floats are exact"
        )
    return whole


def _as_whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and as_float(value).is_integer():
        return int(float(value))
    return None


def _check_range(parameter: Numeric) -> None:
    kind, low, high = type(parameter).__name__, parameter.low, parameter.high
    if not isinstance(parameter.log, bool):
        raise SpaceError(f"{kind}: log={parameter.log!r} must be True or False")
    if low >= high:
        raise SpaceError(f"{kind}: low={low!r} must be below high={high!r}")
    if parameter.log and low <= 0:
        raise SpaceError(f"{kind}: low={low!r} must be above 0 on a log scale")
    if not math.isfinite(high / low if parameter.log else high - low):
        raise SpaceError(f"{kind}: the range from {low!r} to {high!r} is too wide for a float")


def _check_inside(parameter: Numeric, value: float) -> None:
    if value < parameter.low:
        raise SpaceError(f"{shown(value)} is below low={parameter.low!r}")
    if value > parameter.high:
        raise SpaceError(f"{shown(value)} is above high={parameter.high!r}")
