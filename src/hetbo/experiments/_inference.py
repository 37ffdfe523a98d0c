"""Guessing a space from the values that were tried."""

import math
from collections.abc import Collection, Mapping, Sequence

from hetbo.errors import DataError, SpaceError, shown
from hetbo.spaces import Categorical, Float, Int, Parameter, Space, Value
from hetbo.spaces._values import choice_key

_LOG_FROM_RATIO = 1e3 * (1 - 1e-9)  # to a float, 17 / 0.017 is less than a thousand
_MANY_TEXTS = 20


def infer_space(
    columns: Mapping[str, Sequence[Value]], *, origin: str, categorical: Collection[str] = ()
) -> tuple[Space, dict[str, Value]]:
    """Guess what was tuned, and how, from the values of each column.

    Whole numbers give an Int, other numbers a Float, both over the range that was seen, on a log
    scale if it spans three decades or more; everything else gives a Categorical. A column that
    never changes was not tuned: it is a known, fixed value.

    Args:
        columns: The values of each column, all present.
        origin: How an error calls the table.
        categorical: The columns whose values are choices, even if they are numbers.

    Returns:
        The space, and the value of each column that never changes.

    Raises:
        DataError: Nothing was tuned, or a column looks like an identifier.
    """
    parameters: dict[str, Parameter] = {}
    fixed: dict[str, Value] = {}
    for name, values in columns.items():
        distinct = list({choice_key(value): value for value in values}.values())
        if len(distinct) == 1:
            fixed[name] = distinct[0]
            continue
        try:
            chosen = name in categorical
            parameters[name] = Categorical(*distinct) if chosen else _infer(distinct)
        except SpaceError as error:
            remedy = f"drop=[{name!r}], or categorical=[{name!r}] if these are choices"
            raise DataError(f"{origin}, column {shown(name)}: {error}; {remedy}") from None
        if not chosen and _look_like_identifiers(parameters[name], len(distinct), len(values)):
            raise DataError(
                f"{origin}, column {shown(name)} has {len(distinct)} different texts in "
                f"{len(values)} rows; name it in drop= or give the space="
            )
    if not parameters:
        raise DataError(
            f"{origin}: no column but that of the value takes more than one value, so what was "
            "tuned cannot be inferred; give the space="
        )
    return Space.from_mapping(parameters), fixed


def _infer(values: Sequence[Value]) -> Parameter:
    # A bool is an int to Python; here it is a category.
    if any(isinstance(value, bool | str) or value is None for value in values):
        if {choice_key(value) for value in values} == {(True, True), (True, False)}:
            return Categorical(False, True)  # noqa: FBT003
        return Categorical(*values)
    numbers = [value for value in values if isinstance(value, int | float)]
    low, high = min(numbers), max(numbers)
    log = low > 0 and _LOG_FROM_RATIO <= high / low < math.inf
    if all(isinstance(number, int) for number in numbers):
        return Int(int(low), int(high), log=log)
    return Float(low, high, log=log)


def _look_like_identifiers(parameter: Parameter, distinct: int, rows: int) -> bool:
    return parameter.scale is None and distinct > _MANY_TEXTS and 2 * distinct > rows
