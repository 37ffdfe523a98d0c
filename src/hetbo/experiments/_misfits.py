"""What does not fit in a table: rows that are refused or left out, spellings that are joined."""

from collections.abc import Iterable, Mapping, Sequence

from hetbo.errors import DataError, DataWarning, HetboWarning, shown
from hetbo.experiments._columns import Cells
from hetbo.experiments._table import Table

_MOST_JOINED = 10


class Misfits:
    """Rows that do not fit: the first one is an error, or all of them are left out and counted."""

    def __init__(self, table: Table, on_invalid: str) -> None:
        if on_invalid not in {"raise", "skip"}:
            raise DataError(f"on_invalid={shown(on_invalid)} must be 'raise' or 'skip'")
        self._table = table
        self.skip = on_invalid == "skip"
        self.rows: dict[int, str] = {}

    def add(self, problems: Mapping[int, tuple[str | None, str]]) -> None:
        """Add the column (None for all of them) and the problem of each row that has one.

        Raises:
            DataError: Misfits are errors; it names the first row.
        """
        for row, (column, problem) in sorted(problems.items()):
            where = "" if column is None else f", column {shown(column)}"
            message = f"{self._table.label(row)}{where}: {problem}"
            if not self.skip:
                origin = self._table.origin
                raise DataError(f"{origin}, {message} (on_invalid='skip' leaves such rows out)")
            self.rows[row] = message

    def notes(self) -> list[HetboWarning]:
        """Return a note on the rows that were left out, if there are such."""
        if not self.rows:
            return []
        first = self.rows[min(self.rows)]
        return [
            DataWarning(
                f"{self._table.origin}: {len(self.rows)} of {len(self._table)} rows do not "
                f"fit and were left out; the first is {first}"
            )
        ]


def refused_cell(table: Table, column: str, row: int, problem: str) -> DataError:
    """Return the error that names a column, a row and a problem."""
    return DataError(f"{table.origin}, column {shown(column)}, {table.label(row)}: {problem}")


def check_decimals(table: Table, column: str, cells: Cells, rows: Sequence[int]) -> None:
    """Check that the numbers of a column are written with the decimal mark that was said.

    Raises:
        DataError: They are not.
    """
    found = cells.wrong_decimal()
    if found is not None:
        position, problem = found
        raise refused_cell(table, column, rows[position], problem)


def joined_note(
    table: Table, column: str, others: Mapping[str, Iterable[str]]
) -> list[HetboWarning]:
    """Return a note on the spellings of texts that count as one choice, if there are such."""
    if not others:
        return []
    told = [f"{', '.join(map(shown, texts))} as {shown(k)}" for k, texts in others.items()]
    more = f" and so on, {len(told):,} choices in all" if len(told) > _MOST_JOINED else ""
    joined = f"{'; '.join(told[:_MOST_JOINED])}{more}"
    return [
        HetboWarning(
            f"{table.origin}, column {shown(column)}: texts that differ in case or blanks only "
            f"count as one choice: {joined}"
        )
    ]
