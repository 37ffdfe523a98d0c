"""CSV files."""

import csv
import re
from array import array
from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hetbo.errors import DataError, shown
from hetbo.experiments._importers import FileOptions
from hetbo.experiments._table import Style, Table, check_names

if TYPE_CHECKING:
    import _csv

_ROWS_AT_ONCE = 10_000


class CsvImporter:
    """Reads a CSV file whose first line names the columns."""

    suffixes: Collection[str] = (".csv", ".tsv", ".txt")

    def read(self, path: Path, options: FileOptions) -> Iterable[Table]:
        """Return the table in a file.

        Raises:
            DataError: The file cannot be read, or is no table.
        """
        delimiter = options.delimiter
        try:
            with path.open(encoding=options.encoding, newline="") as stream:
                if delimiter is None:
                    delimiter = _most_frequent_delimiter(stream.readline())
                    stream.seek(0)
                return [_table(csv.reader(stream, delimiter=delimiter, strict=True), path, options)]
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from error
        except UnicodeError as error:
            kind = "UTF-8" if options.encoding == "utf-8-sig" else options.encoding
            raise DataError(f"{path.name} is not {kind} text; give its encoding=") from error
        except LookupError as error:  # Python has no such encoding
            raise DataError(f"encoding={shown(options.encoding)}: {error}") from error
        except TypeError as error:
            raise DataError(f"delimiter={shown(delimiter)}: {error}") from error


def _most_frequent_delimiter(first_line: str) -> str:
    return max(",;\t|", key=re.sub('"[^"]*"', "", first_line).count)


def _table(reader: "_csv.Reader", path: Path, options: FileOptions) -> Table:
    origin = path.name
    lines, problems = array("q"), dict[int, str]()
    try:
        names = [name.strip() for name in next(reader, [])]
        check_names(origin, names)
        columns: list[list[str]] = [[] for _ in names]
        rows: list[list[str]] = []
        for cells in chain(reader, [None]):
            if cells is None or len(rows) == _ROWS_AT_ONCE:
                for column, part in zip(columns, zip(*rows, strict=True), strict=bool(rows)):
                    column.extend(map(str.strip, part))
                rows.clear()
            if not cells:
                continue
            if len(cells) != len(names):
                problems[len(lines)] = (
                    f"has {len(cells)} cells where the first line names {len(names)} columns"
                )
            rows.append(cells if len(cells) == len(names) else [""] * len(names))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(
            f"{origin} is not a CSV file that can be read: line {reader.line_num}: {error}"
        ) from error
    return Table(
        origin,
        dict(zip(names, columns, strict=True)),
        Style(text=True, decimal=options.decimal),
        name=path.stem,
        lines=lines,
        problems=problems,
    )
