"""What a parameter can be set to: plain texts, numbers, booleans and None."""

import math
import numbers
from typing import TypeAlias

from hetbo.errors import SpaceError, shown
from hetbo.spaces._names import check_text

Value: TypeAlias = str | int | float | bool | None
"""What a parameter can be set to."""


def choice_key(choice: Value) -> tuple[bool, Value]:
    """Return what makes two choices the same: 1 and 1.0 are, 1 and True are not."""
    return isinstance(choice, bool), choice


def checked_choice(choice: object) -> Value:
    """Return `choice` as Python's own string, number, boolean or None.

    Numbers of other libraries, NumPy's for example, become Python's, so that choices compare,
    print and store alike.

    Raises:
        SpaceError: It is something else, a number that is not finite, or a string with control
            characters.
    """
    if choice is None or isinstance(choice, bool):
        return choice
    if isinstance(choice, str):
        check_text("the string", choice)
        return str.__str__(choice)
    if isinstance(choice, numbers.Real) and math.isfinite(as_float(choice)):
        return int(choice) if isinstance(choice, numbers.Integral) else float(choice)
    if type(choice).__name__ in {"bool", "bool_"} and hasattr(choice, "item"):
        return bool(choice)
    several = isinstance(choice, list | tuple | set | frozenset)
    hint = " (give the choices one by one: Categorical(*choices))" if several else ""
    raise SpaceError(
        f"Categorical: {shown(choice)} cannot be a choice; "
        f"use a string, a finite number, a boolean or None{hint}"
    )


def as_float(number: numbers.Real) -> float:
    """Return the number as a float: an infinite one if it is too large for any other."""
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf
