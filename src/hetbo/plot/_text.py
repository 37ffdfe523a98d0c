"""Numbers and texts of users, as charts and pages show them: short and on one line."""

import math
from collections.abc import Iterable
from html import escape

from hetbo.errors import printable
from hetbo.spaces import Value

NOTHING = "\N{EN DASH}"
"""What stands where there is nothing to show."""
_LONGEST_LABEL = 40
_LONGEST_EXACT = 400
_LONGEST_LIST = 600
_LARGEST_PLAIN, _SMALLEST_PLAIN = 1e7, 1e-4


def label(text: str, longest: int = _LONGEST_LABEL) -> str:
    """Return a text on one line, cut if it is long; not escaped yet.

    Args:
        text: Any text, of any length.
        longest: How many characters the label may have.
    """
    # Cut first: a text may have a million characters. Escaped control codes make it longer.
    line = printable(text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def quoted(name: str) -> str:
    """Return a name as a sentence shows it: in quotes, cut if it is long."""
    return f"'{label(name)}'"


def number(value: float, digits: int = 5) -> str:
    """Return a number with some significant digits, in plain notation unless that is long."""
    if not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) < _LARGEST_PLAIN:
        return str(value)
    size = abs(value)
    if size == 0:
        return "0"
    if not _SMALLEST_PLAIN <= size < _LARGEST_PLAIN:
        return f"{value:.{digits}g}"
    places = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown_value(value: Value) -> str:
    """Return a parameter's value as tables and charts show it; not escaped yet."""
    if isinstance(value, str):
        return label(value) if value.strip() else repr(label(value))
    if isinstance(value, bool) or value is None:
        return str(value)
    return number(value)


def exact(value: Value) -> str:
    """Return a value with all its digits; a very long text is cut, and says so."""
    if isinstance(value, str) and len(value) > _LONGEST_EXACT:
        return f"{label(value, _LONGEST_EXACT)} ({len(value)} characters)"
    return repr(value)


def plotly(text: str) -> str:
    """Return a text that stands for itself in a chart: Plotly reads tags and entities in labels."""
    return escape(text, quote=False)


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: '1 trial', '2 trials'."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def listed(names: Iterable[str]) -> str:
    """Return names with commas between, cut if they are many."""
    return label(", ".join(map(label, names)), _LONGEST_LIST)
