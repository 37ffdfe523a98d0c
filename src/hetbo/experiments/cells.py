"""What a single cell of a table means."""

import math
import numbers
import re
from collections.abc import Sequence

from hetbo.errors import DataError, SpaceError, shown
from hetbo.spaces import Categorical, Parameter, Value
from hetbo.spaces.parameters import as_float

_MISSING = frozenset({"", "nan", "none", "null", "na", "n/a"})
_BOOLEANS = {"true": True, "false": False}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity)", re.I | re.A)


def is_missing(cell: object) -> bool:
    """Tell whether a cell holds nothing: None, NaN, pandas' NA, or a text such as '' or 'NaN'."""
    if isinstance(cell, str):
        return cell.lower() in _MISSING
    if isinstance(cell, numbers.Real):
        return math.isnan(as_float(cell))
    return cell is None or type(cell).__name__ in {"NAType", "NaTType"}


def outcome(cell: object) -> float | None:
    """Return the number in a value's cell; None if it is missing, NaN or infinite.

    Raises:
        DataError: The cell holds something else than a number.
    """
    if is_missing(cell):
        return None
    number = _number(cell) if isinstance(cell, str) else cell
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        comma = isinstance(cell, str) and _number(cell.replace(",", ".", 1)) is not None
        hint = "; write decimals with a point" if comma else ""
        raise DataError(f"{shown(cell)} is not a number{hint}")
    value = as_float(number)
    return value if math.isfinite(value) else None


def setting(cell: object, parameter: Parameter, *, text: bool) -> Value:
    """Return the value that a parameter's cell stands for.

    Args:
        cell: The cell.
        parameter: What the cell must fit.
        text: Whether the cell is a text that still has to be understood.

    Raises:
        SpaceError: The cell does not fit the parameter.
    """
    if not text or not isinstance(cell, str):
        return parameter.check(cell)
    if not isinstance(parameter, Categorical):
        number = _number(cell)
        if number is None:
            raise SpaceError(f"{shown(cell)} is not a number; expected one in {parameter!r}")
        return parameter.check(number)
    for choice in parameter.choices:
        if isinstance(choice, str) and choice == cell:
            return choice
    for choice in parameter.choices:
        if _means(cell, choice):
            return choice
    return parameter.check(cell)


def understood(cells: Sequence[str]) -> list[Value]:
    """Return the texts of one column as what they all are: integers, floats or booleans.

    If they are not all of one such kind they stay texts. An empty cell becomes None; so does a
    word such as 'NA' in a column that otherwise holds numbers, booleans or nothing, while among
    texts it is a text like any other.
    """
    present = [cell for cell in cells if not is_missing(cell)]
    if not present:
        return [None] * len(cells)
    if all(_number(cell) is not None for cell in present):
        return [None if is_missing(cell) else _number(cell) for cell in cells]
    if all(cell.lower() in _BOOLEANS for cell in present):
        return [None if is_missing(cell) else _BOOLEANS[cell.lower()] for cell in cells]
    return [cell or None for cell in cells]


def _number(text: str) -> int | float | None:
    # Python's own int() and float() would also take '1_000' and digits of other scripts.
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if re.fullmatch(r"[+-]?\d{1,400}", text) else float(text)


def _means(text: str, choice: Value) -> bool:
    match choice:
        case None:
            return text.lower() in _MISSING
        case bool():
            return _BOOLEANS.get(text.lower()) is choice
        case str():
            return False
        case _:
            return _number(text) == choice
