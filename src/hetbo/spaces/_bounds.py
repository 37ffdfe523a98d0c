"""What can be a bound of a range."""

import math
import numbers
from collections.abc import Mapping
from typing import Any

from hetbo.errors import SpaceError, shown
from hetbo.spaces._parameter import refuse_unknown_keys
from hetbo.spaces._values import as_float


def read_range(kind: str, data: Mapping[str, Any]) -> tuple[Any, Any, bool]:
    """Return the bounds and the scale in a parameter's JSON.

    Raises:
        SpaceError: The data does not describe a range.
    """
    match data:
        case {"low": low, "high": high, **rest}:
            log = rest.pop("log", False)
            if not isinstance(log, bool):
                raise SpaceError(f"log={log!r} must be true or false")
            refuse_unknown_keys(rest)
            return low, high, log
        case _:
            raise SpaceError(
                f"{shown(data)} does not describe a parameter of type {kind!r}; "
                "expected low and high"
            )


def finite_bound(bound: str, value: object) -> float:
    """Return a bound of a `Float`.

    Raises:
        SpaceError: It is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SpaceError(f"Float: {bound}={shown(value)} must be a number")
    found = as_float(value)
    if not math.isfinite(found):
        raise SpaceError(f"Float: {bound}={shown(value)} must be finite")
    return found


def whole_bound(bound: str, value: object) -> int:
    """Return a bound of an `Int`.

    Raises:
        SpaceError: It is not a whole number, or none that floats hold exactly.
    """
    whole = as_whole(value)
    if whole is None:
        raise SpaceError(f"Int: {bound}={shown(value)} must be a whole number")
    if abs(whole) > 2**53:
        raise SpaceError(
            f"Int: {bound}={shown(value)} must lie within ±2**53, where floats are exact"
        )
    return whole


def as_whole(value: object) -> int | None:
    """Return a whole number as an int, 3.0 as 3; None if it is something else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and as_float(value).is_integer():
        return int(float(value))
    return None
