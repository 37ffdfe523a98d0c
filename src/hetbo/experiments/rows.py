"""Rows of CSV files, DataFrames and lists of dicts, brought into one shape."""

import csv
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hetbo.errors import DataError, shown

if TYPE_CHECKING:
    import _csv

    import pandas as pd


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        label: How an error calls the row.
        cells: The row's cells by column name. A cell that is missing is left out.
        problem: Why the row cannot be read at all, if so.
    """

    label: str
    cells: Mapping[str, object]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with their origin.

    Attributes:
        origin: How an error calls the table: a file name, for instance.
        columns: The names of the columns.
        rows: The rows.
        text: Whether all cells are texts that still have to be understood.
    """

    origin: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    text: bool


def csv_table(path: str | os.PathLike[str], *, delimiter: str | None, encoding: str) -> Table:
    """Read a CSV file whose first line names the columns.

    Args:
        path: The file.
        delimiter: What separates cells; if None, whichever of `, ; tab |` is most frequent in the
            first line.
        encoding: The file's encoding.

    Raises:
        DataError: The file cannot be read or is no table.
    """
    origin = Path(path).name
    try:
        with Path(path).open(encoding=encoding, newline="") as stream:
            if delimiter is None:
                delimiter = _most_frequent_delimiter(stream.readline())
                stream.seek(0)
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            columns, rows = _read_csv(reader, origin)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeError as error:
        kind = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise DataError(f"{origin} is not {kind} text; give its encoding=") from error
    return Table(origin, columns, rows, text=True)


def dataframe_table(frame: "pd.DataFrame", *, origin: str) -> Table:
    """Read a pandas DataFrame; missing entries are left out of their rows."""
    columns = tuple(str(name) for name in frame.columns)
    _check_columns(origin, columns)
    values = frame.astype(object).to_numpy()
    missing = frame.isna().to_numpy()
    rows = tuple(
        Row(
            f"row {number}",
            {
                name: cell
                for name, cell, absent in zip(columns, cells, gaps, strict=True)
                if not absent
            },
        )
        for number, (cells, gaps) in enumerate(zip(values, missing, strict=True), start=1)
    )
    return Table(origin, columns, rows, text=False)


def record_table(records: Iterable[Mapping[str, object]], *, origin: str) -> Table:
    """Read a list of dicts, one per trial."""
    rows = tuple(_record_row(record, number, origin) for number, record in enumerate(records, 1))
    columns = tuple(dict.fromkeys(name for row in rows for name in row.cells))
    _check_columns(origin, columns)
    return Table(origin, columns, rows, text=False)


def _most_frequent_delimiter(first_line: str) -> str:
    return max(",;\t|", key=re.sub('"[^"]*"', "", first_line).count)


def _read_csv(reader: "_csv.Reader", origin: str) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    try:
        columns = tuple(name.strip() for name in next(reader, []))
        _check_columns(origin, columns)
        return columns, tuple(
            _csv_row(columns, cells, number, reader.line_num)
            for number, cells in enumerate((row for row in reader if row), start=1)
        )
    except csv.Error as error:
        raise DataError(
            f"{origin} is not a CSV file that can be read: line {reader.line_num}: {error}"
        ) from error


def _record_row(record: object, number: int, origin: str) -> Row:
    if not isinstance(record, Mapping):
        raise DataError(f"{origin}, row {number}: {shown(record)} is not a dict of cells")
    return Row(f"row {number}", dict(record))


def _csv_row(columns: tuple[str, ...], cells: list[str], number: int, line: int) -> Row:
    label = f"row {number} (line {line})"
    if len(cells) != len(columns):
        problem = f"has {len(cells)} cells where the first line names {len(columns)} columns"
        return Row(label, {}, problem)
    return Row(label, {name: cell.strip() for name, cell in zip(columns, cells, strict=True)})


def _check_columns(origin: str, columns: tuple[str, ...]) -> None:
    if not columns:
        raise DataError(f"{origin} is empty: it names no columns")
    for position, name in enumerate(columns, start=1):
        if not isinstance(name, str):
            raise DataError(f"{origin}: column names must be texts, not {shown(name)}")
        if columns.count(name) > 1:
            raise DataError(f"{origin}: the column {shown(name)} (number {position}) stands twice")
