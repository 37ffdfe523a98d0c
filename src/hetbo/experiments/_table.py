"""A table of any origin: named columns of cells."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from hetbo.errors import DataError, shown

if TYPE_CHECKING:
    import pandas as pd

    from hetbo.experiments._trial import GoalName


@dataclass(frozen=True, slots=True)
class Style:
    """How the cells of a table are written.

    Attributes:
        text: Whether they come from a text file, where an empty cell is a gap and decimals may
            have a comma.
        decimal: What stands before the decimals in texts, '.' or ','.
    """

    text: bool = False
    decimal: str = "."


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of any origin, one row per trial: what importers make and trials are made from.

    Args:
        origin: How errors call the table: a file's name, for instance.
        columns: The cells of each of the `d` columns, `n` each; None, NaN and pandas' NA are gaps.
        style: How the cells are written.
        name: How reports call the experiment, unless the caller says it; the origin if None.
        value: The column of the measured values, if the format knows it.
        goal: Which way is better, if the format knows it.
        lines: For each row the line on which it ends, if there are lines.
        problems: Why rows cannot be read at all, by their positions.

    Raises:
        DataError: There is no column, a name is no string, or columns differ in length.
    """

    origin: str
    columns: Mapping[str, Sequence[object]]
    style: Style = Style()
    name: str | None = None
    value: str | None = None
    goal: "GoalName | None" = None
    lines: Sequence[int] | None = None
    problems: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_names(self.origin, list(self.columns))
        for name, cells in self.columns.items():
            if len(cells) != len(self):
                raise DataError(
                    f"{self.origin}: the column {shown(name)} has {len(cells)} cells, the first "
                    f"one has {len(self)}"
                )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values())))

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, object]], *, origin: str) -> Self:
        """Return the table of a list of dicts, one per trial; a key that one lacks is a gap.

        Raises:
            DataError: Something is not a dict, or a key is no string.
        """
        rows = list(records)
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                raise DataError(f"{origin}, row {number}: {shown(row)} is not a dict of cells")
        names = dict.fromkeys(name for row in rows for name in row)
        return cls(origin, {name: [row.get(name) for row in rows] for name in names})

    @classmethod
    def from_dataframe(cls, frame: "pd.DataFrame", *, origin: str) -> Self:
        """Return the table of a pandas DataFrame."""
        names = [str(name) for name in frame.columns]
        check_names(origin, names)
        cells = frame.astype(object).where(frame.notna(), None)
        return cls(origin, {name: cells.iloc[:, i].tolist() for i, name in enumerate(names)})

    def label(self, row: int) -> str:
        """Return how an error calls a row, counted from 0."""
        line = "" if self.lines is None else f" (line {self.lines[row]})"
        return f"row {row + 1}{line}"


def check_names(origin: str, names: Sequence[object]) -> None:
    """Check the names of a table's columns.

    Raises:
        DataError: There is none, or one is no string or a duplicate.
    """
    if not names:
        raise DataError(f"{origin} is empty: it names no columns")
    counts = Counter(names)
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise DataError(f"{origin}: column names must be strings, not {shown(name)}")
        if counts[name] > 1:
            raise DataError(f"{origin}: duplicate column {shown(name)} (number {position})")
