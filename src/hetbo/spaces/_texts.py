"""What a piece of text means: nothing, a number, a boolean, or itself."""

import math
import numbers
import re

from hetbo.spaces._values import Value, as_float

_MISSING = frozenset({"", "nan", "none", "null", "na", "n/a"})
_BOOLEANS = {"true": True, "false": False}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity)", re.I | re.A)
_WHOLE = re.compile(r"[+-]?\d{1,400}", re.A)
_SWAPPED = str.maketrans(",.", ".,")
_MOST_CHARACTERS = 400
"""No number that a float holds is written longer; text that is need not be searched through."""
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s_'\u2019]+(?=\d)")
_POWER = r"(e\s*[-+\u2212]?\d+|\s*[x\u00d7*·]\s*10\s*(\^|\*\*)\s*[-+\u2212]?\d+)"
_DIGITS = rf"(\d+[.,·]?\d*|[.,·]\d+|\d{{1,3}}([.,]\d{{3}})+([.,]\d+)?){_POWER}?"
_LIKE_NUMBER = re.compile(  # \d is a digit of any script
    rf"['\u2019=~≈<>≤≥±\s]*[-+\u2212]?\s*[$€£¥]?\s*(0x[0-9a-f]+|\d+\s*/\s*\d+|{_DIGITS})\s*[%‰$€£¥]?",
    re.I,
)
_WITH_UNIT = re.compile(
    rf"[-+\u2212]?\s*{_DIGITS}\s*(?P<unit>[^\W\d_]{{1,5}}|°\s*[a-z]?|[a-zµμ]{{1,3}}/[a-z]{{1,3}})",
    re.I,
)


def is_missing(cell: object) -> bool:
    """Return whether a cell holds nothing: None, NaN, pandas' NA, or a text such as '' or 'NaN'."""
    if isinstance(cell, str):
        return cell.strip().lower() in _MISSING
    if isinstance(cell, numbers.Real):
        return math.isnan(as_float(cell))
    return cell is None or type(cell).__name__ in {"NAType", "NaTType"}


def number(text: str, decimal: str = ".") -> int | float | None:
    """Return the number that a text says in the plain way of CSV files; None if it says none.

    Python's own int() and float() would also take '1_000' and digits of other scripts, and make
    '1e999' infinite.

    Args:
        text: The text.
        decimal: What stands before the decimals, '.' or ','.
    """
    text = _with_point(text.strip(), decimal)
    if not _NUMBER.fullmatch(text):
        return None
    found = float(text)
    if math.isinf(found) and text[-1].isdigit():
        return None
    return int(text) if _WHOLE.fullmatch(text) else found


def _with_point(text: str, decimal: str) -> str:
    """Return a text with a decimal point; none is left where the decimals have a comma."""
    return text if decimal == "." else text.translate(_SWAPPED)


def is_too_large(cell: object, decimal: str = ".") -> bool:
    """Return whether a cell is a number that no float comes near: '1e999'."""
    if isinstance(cell, str):
        written = _with_point(cell.strip(), decimal)
        return _NUMBER.fullmatch(written) is not None and number(cell, decimal) is None
    return isinstance(cell, numbers.Integral) and math.isinf(as_float(cell))


def boolean(text: str) -> bool | None:
    """Return the boolean that a text says; None if it says none."""
    return _BOOLEANS.get(text.strip().lower())


def looks_like_number(text: str) -> bool:
    """Return whether a text is a number to a reader: '0,5', '1 000', '1_000', '20 %' and so on."""
    text = text.strip()
    if len(text) > _MOST_CHARACTERS:
        return _NUMBER.fullmatch(text) is not None
    return _LIKE_NUMBER.fullmatch(_BETWEEN_DIGITS.sub("", text)) is not None


def unit_of(text: str) -> str | None:
    """Return the unit behind a number, as in '10 °C' and '10ms'; None if there is none."""
    text = text.strip()
    found = None if len(text) > _MOST_CHARACTERS else _WITH_UNIT.fullmatch(text)
    return None if found is None else found["unit"]


def alone(text: str, decimal: str = ".") -> Value:
    """Return what a text means by itself: a number, a boolean, nothing, or the text."""
    if is_missing(text):
        return None
    for meaning in (number(text, decimal), boolean(text)):
        if meaning is not None:
            return meaning
    return text


def means(text: str, choice: Value, decimal: str = ".") -> bool:
    """Return whether a text is a way to write a choice that is not a string itself."""
    match choice:
        case None:
            return is_missing(text)
        case bool():
            return boolean(text) is choice
        case str():
            return False
        case _:
            return number(text, decimal) == choice


def plainly(cell: object, decimal: str = ".") -> str:
    """Return what an error says of a cell that is a number to a reader alone; else nothing."""
    if is_too_large(cell, decimal):
        return "; it is too large for a float"
    if isinstance(cell, str) and looks_like_number(cell):
        example = "1000 or 20.5" if decimal == "." else "1000 or 20,5"
        return f"; write numbers plainly, such as {example}"
    return ""
