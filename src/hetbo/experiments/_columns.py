"""What the cells of a column mean: each by itself, then all together."""

import datetime as dt
import math
import numbers
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self, TypeAlias, assert_never

from hetbo.errors import shown
from hetbo.experiments._table import Style
from hetbo.spaces import Value
from hetbo.spaces._names import folded, has_control
from hetbo.spaces._texts import (
    boolean,
    is_missing,
    is_too_large,
    looks_like_number,
    number,
    plainly,
    unit_of,
)
from hetbo.spaces._values import as_float, checked_choice

_OF_NUMPY_OR_PANDAS = frozenset({"datetime64", "timedelta64", "Period"})
_MOST_REMEMBERED = 4096
_IN_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}([.,]\d{3})+\s*", re.A)

Kind: TypeAlias = Literal["gap", "word", "number", "almost", "boolean", "text", "object"]
"""What a cell is, seen by itself. A word, such as 'NA' or 'inf', is a gap among numbers and a text
among texts. What is almost a number is one to a reader, but not written plainly. An object is none
of these, a date for instance."""

_NUMERIC = frozenset[Kind]({"number", "almost"})
_TEXTS = frozenset[Kind]({"boolean", "text"})


@dataclass(frozen=True, slots=True)
class Cells:
    """The `n` cells of a column, each understood by itself.

    Attributes:
        raw: The cells as they were.
        kinds: What each cell is.
        meanings: The number, the boolean or the text in each cell; None if it has none.
        style: How the cells are written.
    """

    raw: Sequence[object]
    kinds: Sequence[Kind]
    meanings: Sequence[Value]
    style: Style

    @classmethod
    def of(cls, raw: Sequence[object], style: Style) -> Self:
        """Understand each cell of a column."""
        known: dict[str, tuple[Kind, Value]] = {}
        kinds: list[Kind] = []
        meanings: list[Value] = []
        for cell in raw:
            if isinstance(cell, str):
                found = known.get(cell)
                if found is None:
                    found = _understood_text(cell, style)
                    if len(known) < _MOST_REMEMBERED:
                        known[cell] = found
            else:
                found = _understood(cell)
            kinds.append(found[0])
            meanings.append(found[1])
        return cls(raw, kinds, meanings, style)

    def at(self, rows: Sequence[int]) -> "Cells":
        """Return the cells of some rows."""
        if len(rows) == len(self.raw):
            return self
        return Cells(
            [self.raw[row] for row in rows],
            [self.kinds[row] for row in rows],
            [self.meanings[row] for row in rows],
            self.style,
        )

    def wrong_decimal(self) -> tuple[int, str] | None:
        """Return why a column of numbers shows that decimals are written in another way, if so.

        Returns:
            The position of a cell that shows it, and what to do.
        """
        other = _other_decimal(self)
        if other is None:
            return None
        first = self.kinds.index("almost")
        return first, f"{shown(self.raw[first])} is not a number; {_use(other, self)}"

    def hold_dates(self) -> bool:
        """Return whether all cells that hold something are dates, times or durations."""
        held = [cell for cell in self.raw if not is_missing(cell)]
        dates = (dt.date, dt.time, dt.timedelta)
        return bool(held) and all(
            isinstance(cell, dates) or type(cell).__name__ in _OF_NUMPY_OR_PANDAS for cell in held
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What the cells of a column mean together.

    Attributes:
        values: What each cell means; None where it has no usable value.
        problems: Why cells cannot be used, by their positions.
        refusal: Why the column as a whole cannot be used, if so, with the position of a cell that
            shows it.
    """

    values: Sequence[Value]
    problems: Mapping[int, str]
    refusal: tuple[int, str] | None


def read_column(column: str, cells: Cells, *, categorical: bool, lenient: bool) -> Reading:
    """Return what the cells of one column mean together.

    Texts are read as numbers or booleans if all of them are such. Numbers that are not written
    plainly, or stand beside texts, are never made choices unless that was asked for.

    Args:
        column: The column's name.
        cells: Its cells.
        categorical: Whether the cells are choices, each to be understood by itself.
        lenient: Whether cells that are no numbers, where most are, are problems of their rows and
            not of the whole column.
    """
    counts = Counter(cells.kinds)
    usable = _usable({*counts}, cells.style, categorical=categorical)
    strange = {*counts} - usable - {"gap", "word", "object"}
    texts = "text" in usable and not categorical
    values = list(cells.meanings)
    problems: dict[int, str] = {}
    if not usable.issuperset(counts) or None in values or (texts and counts["boolean"]):
        for position, (cell, kind) in enumerate(zip(cells.raw, cells.kinds, strict=True)):
            if kind not in usable:
                values[position] = None
            elif texts and isinstance(cell, str):
                values[position] = _text(cell)
            if kind in strange:
                problems[position] = (
                    f"{shown(cell)} is not a number, as most of the column's cells are"
                )
            elif values[position] is None:
                control = isinstance(cell, str) and has_control(cell)
                why = ": it holds a control character, such as a line end" if control else ""
                problems[position] = f"{shown(cell)} is not a usable value{why}"
    refusal = None
    if strange:
        other = _other_decimal(cells)
        most = 2 * counts["number"] > sum(counts[kind] for kind in _NUMERIC | _TEXTS)
        if not (lenient and most) or other is not None:
            first = next(i for i, kind in enumerate(cells.kinds) if kind in strange)
            refusal = first, _why(column, cells, first, most=most, other=other)
    elif texts:
        refusal = _one_unit(column, cells)
    return Reading(values, problems, refusal)


def outcomes(cells: Cells) -> tuple[list[float | None], dict[int, str]]:
    """Return the measured numbers in a column, and why others cannot be read, by their positions.

    A gap, NaN and what is infinite, or too large for a float, are None.
    """
    values: list[float | None] = []
    problems: dict[int, str] = {}
    for position, (kind, meaning) in enumerate(zip(cells.kinds, cells.meanings, strict=True)):
        values.append(None)
        match kind:
            case "number":
                values[-1] = float(meaning or 0)
            case "gap" | "word":
                pass
            case "almost" | "boolean" | "text" | "object":
                cell, decimal = cells.raw[position], cells.style.decimal
                if not is_too_large(cell, decimal):
                    problems[position] = f"{shown(cell)} is not a number{plainly(cell, decimal)}"
            case _:
                assert_never(kind)
    return values, problems


def one_spelling(values: Sequence[Value]) -> tuple[Sequence[Value], dict[str, list[str]]]:
    """Return values where texts that differ in case and blanks only are spelled alike.

    Returns:
        The values, and the other spellings of each text that has some. The most frequent spelling
        stands for all of them, the first one if several are.
    """
    counts = Counter(value for value in values if isinstance(value, str))
    alike: dict[str, list[str]] = {}
    for text in counts:
        alike.setdefault(folded(text), []).append(text)
    if len(alike) == len(counts):
        return values, {}
    chosen = {key: max(texts, key=counts.__getitem__) for key, texts in alike.items()}
    others = {
        chosen[key]: [text for text in texts if text != chosen[key]]
        for key, texts in alike.items()
        if len(texts) > 1
    }
    spelled = {text: chosen[folded(text)] for text in counts}
    return [spelled[v] if isinstance(v, str) else v for v in values], others


def _understood(cell: object) -> tuple[Kind, Value]:
    """Return what a cell is that is no text."""
    if isinstance(cell, bool) or type(cell).__name__ in {"bool", "bool_"}:
        return "boolean", bool(cell)
    if isinstance(cell, Decimal) and not cell.is_snan():
        cell = float(cell)
    if is_too_large(cell):
        return "almost", None
    if isinstance(cell, numbers.Real) and math.isfinite(as_float(cell)):
        return "number", checked_choice(cell)
    return ("gap" if isinstance(cell, numbers.Real) or is_missing(cell) else "object"), None


def _understood_text(text: str, style: Style) -> tuple[Kind, Value]:
    found = number(text, style.decimal)
    if found is not None:
        return ("word", _text(text)) if math.isinf(found) else ("number", found)
    if is_missing(text):
        return ("gap", None) if style.text and not text else ("word", _text(text))
    truth = boolean(text)
    if truth is not None:
        return "boolean", truth
    return "almost" if looks_like_number(text) else "text", _text(text)


def _text(text: str) -> str | None:
    """Return a text as a plain string; None if it cannot be a value."""
    return None if has_control(text) else str.__str__(text)


def _usable(kinds: set[Kind], style: Style, *, categorical: bool) -> frozenset[Kind]:
    """Return which kinds of cells a column may hold that has cells of some kinds."""
    if categorical and kinds & (_NUMERIC | _TEXTS):
        words = frozenset[Kind]({"word"} if kinds & {"almost", "text"} else ())
        return _NUMERIC | _TEXTS | words
    if kinds & _NUMERIC:
        return frozenset({"number"})
    if kinds & _TEXTS == {"boolean"} or (style.text and "text" not in kinds):
        return frozenset({"boolean"})
    return frozenset({"boolean", "text", "word"})


def _other_decimal(cells: Cells) -> str | None:
    """Return the decimal mark by which all numbers of a text file can be read, if by one alone."""
    style = cells.style
    if not style.text or "almost" not in cells.kinds:
        return None
    other = "," if style.decimal == "." else "."
    texts = [
        cell
        for cell, kind in zip(cells.raw, cells.kinds, strict=True)
        if kind in _NUMERIC and isinstance(cell, str)
    ]
    return other if texts and all(number(text, other) is not None for text in texts) else None


def _use(decimal: str, cells: Cells) -> str:
    """Return how to read numbers with another decimal mark, which may group thousands instead."""
    marked = [cell for cell in cells.raw if isinstance(cell, str) and decimal in cell]
    thousands = all(map(_IN_THOUSANDS.fullmatch, marked))
    if decimal == ",":
        remedy = "decimal=',' reads decimal commas"
        return f"{remedy} (commas that group thousands have to go: 1000)" if thousands else remedy
    remedy = "leave out decimal=',' to read decimal points"
    return f"{remedy} (points that group thousands have to go: 1000)" if thousands else remedy


def _one_unit(column: str, cells: Cells) -> tuple[int, str] | None:
    """Return why numbers that all have the same unit are refused; None if the cells are others."""
    held = {cell: i for i, cell in reversed([*enumerate(cells.raw)]) if isinstance(cell, str)}
    texts = [cell for cell in held if not is_missing(cell)]
    units = {unit_of(text) for text in texts}
    if len(texts) < 2 or len(units) > 1 or None in units:  # noqa: PLR2004
        return None
    first = min(held[text] for text in texts)
    return first, (
        f"{shown(cells.raw[first])} is a number with a unit, as are all cells; write the numbers "
        f"alone, or categorical=[{column!r}] takes each cell as a choice"
    )


def _why(column: str, cells: Cells, first: int, *, most: bool, other: str | None) -> str:
    """Return why a column that holds more than plain numbers is refused, and what to do."""
    strange = cells.raw[first]
    choices = f"categorical=[{column!r}] takes each cell as a choice"
    if other is not None:
        return f"{shown(strange)} is not a number; {_use(other, cells)}, or {choices}"
    hint = plainly(strange, cells.style.decimal)
    if hint:
        return f"{shown(strange)} is not a plain number{hint}, or {choices}"
    skip = ", or on_invalid='skip' leaves such rows out" if most else ""
    written = next(c for c, kind in zip(cells.raw, cells.kinds, strict=True) if kind in _NUMERIC)
    return (
        f"{shown(strange)} is not a number, and {shown(written)} is one; "
        f"correct the cells, or {choices}{skip}"
    )
