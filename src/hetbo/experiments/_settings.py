"""What was tuned in each row of a table: inferred from its columns, or read into a given space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hetbo.errors import DataError, HetboWarning, SpaceError, shown
from hetbo.experiments._columns import Cells, Reading, one_spelling, read_column
from hetbo.experiments._inference import infer_space
from hetbo.experiments._layout import Layout
from hetbo.experiments._misfits import Misfits, check_decimals, joined_note, refused_cell
from hetbo.experiments._result_columns import suspects
from hetbo.experiments._table import Table
from hetbo.spaces import Parameter, Space, Value
from hetbo.spaces._values import choice_key


@dataclass(frozen=True, slots=True)
class Settings:
    """What was tuned, and the values of the rows that fit, by parameter."""

    space: Space
    rows: Sequence[int]
    columns: Mapping[str, Sequence[Value]]
    fixed: Mapping[str, Value]
    notes: Sequence[HetboWarning]


def inferred(table: Table, layout: Layout, rows: Sequence[int], misfits: Misfits) -> Settings:
    """Return what was tuned, inferred from the rows that have all parameters."""
    rows, columns = _whole_columns(table, layout, rows, misfits)
    notes: list[HetboWarning] = []
    spelled: dict[str, Sequence[Value]] = {}
    for name, column in layout.parameters.items():
        spelled[name], others = one_spelling(columns[name])
        notes += joined_note(table, column, others)
    chosen = [name for name, column in layout.parameters.items() if column in layout.categorical]
    left = f" (without {len(misfits.rows)} rows that do not fit)" if misfits.rows else ""
    space, fixed = infer_space(spelled, origin=f"{table.origin}{left}", categorical=chosen)
    guessed = {layout.parameters[name]: spelled[name] for name in space if name not in chosen}
    notes += suspects(guessed, origin=table.origin)
    stored: dict[str, Sequence[Value]] = {}
    for name, parameter in space.items():
        if parameter.values is None:
            stored[name] = [*map(parameter.check, spelled[name])]
        else:  # few values, many times
            checked = {key: parameter.check(key[1]) for key in set(map(choice_key, spelled[name]))}
            stored[name] = [checked[choice_key(value)] for value in spelled[name]]
    return Settings(space, rows, stored, fixed, notes)


def _whole_columns(
    table: Table, layout: Layout, rows: Sequence[int], misfits: Misfits
) -> tuple[Sequence[int], dict[str, Sequence[Value]]]:
    """Return the rows that have all parameters, and the values of each parameter in them.

    A column is judged by the rows that are kept, and a row is left out for what its columns are:
    so it goes in turns until nothing changes.

    Raises:
        DataError: A column cannot be used, or no row is left.
    """
    understood = {c: Cells.of(table.columns[c], table.style) for c in layout.parameters.values()}
    kept = rows
    while True:
        readings: dict[str, Reading] = {}
        for column, every in understood.items():
            cells = every.at(kept)
            choices = column in layout.categorical
            reading = read_column(column, cells, categorical=choices, lenient=misfits.skip)
            _check_any_value(table, column, cells, reading)
            readings[column] = reading
        problems = {} if _refused(readings) and not misfits.skip else _problems(readings, kept)
        if not problems:
            break
        misfits.add(problems)
        kept = [row for row in kept if row not in problems]
    for column, (position, problem) in _refused(readings).items():
        raise refused_cell(table, column, kept[position], problem)
    if not kept:
        raise DataError(f"{table.origin} has no row to infer the space from; give the space=")
    return kept, {name: readings[column].values for name, column in layout.parameters.items()}


def _refused(readings: Mapping[str, Reading]) -> dict[str, tuple[int, str]]:
    return {c: reading.refusal for c, reading in readings.items() if reading.refusal is not None}


def _problems(
    readings: Mapping[str, Reading], rows: Sequence[int]
) -> dict[int, tuple[str | None, str]]:
    """Return the column and the problem of each row that has one, by the row's position."""
    found: dict[int, tuple[str | None, str]] = {}
    for column, reading in readings.items():
        if reading.refusal is None:
            for position, problem in reading.problems.items():
                found.setdefault(rows[position], (column, problem))
    return found


def _check_any_value(table: Table, column: str, cells: Cells, reading: Reading) -> None:
    if cells.raw and reading.refusal is None and len(reading.problems) == len(cells.raw):
        what = "has no usable value"
        if cells.hold_dates():
            what = "holds dates, times or durations, which no parameter has"
        raise DataError(
            f"{table.origin}: the column {shown(column)} {what}; drop=[{column!r}] leaves it out"
        )


def given(
    table: Table, layout: Layout, space: Space, rows: Sequence[int], misfits: Misfits
) -> Settings:
    """Return the rows that fit a given space."""
    _check_given(table, layout, space)
    columns = {name: layout.parameters[name] for name in space}
    stored: dict[str, Sequence[Value]] = {}
    problems: dict[int, tuple[str | None, str]] = {}
    for name, column in columns.items():
        stored[name], unread = _read(table, column, space[name], rows)
        for position, problem in unread.items():
            problems.setdefault(rows[position], (column, problem))
    misfits.add(problems)
    if problems:
        kept = [i for i, row in enumerate(rows) if row not in problems]
        stored = {name: [values[i] for i in kept] for name, values in stored.items()}
        rows = [rows[i] for i in kept]
    notes: list[HetboWarning] = []
    for name, column in columns.items():
        cells = table.columns[column]
        others: dict[str, dict[str, None]] = {}
        for row, value in zip(rows, stored[name], strict=True):
            cell = cells[row]
            if isinstance(value, str) and isinstance(cell, str) and cell != value:
                others.setdefault(value, {})[cell] = None
        notes += joined_note(table, column, others)
    fixed: dict[str, Value] = {}
    for name, column in layout.parameters.items():
        if name not in space:
            fixed[name], others_beside = _constant(table, layout, column, rows)
            notes += joined_note(table, column, others_beside)
    return Settings(space, rows, stored, fixed, notes)


def _check_given(table: Table, layout: Layout, space: Space) -> None:
    """Check that the columns are those of a given space."""
    for name, parameter in space.items():
        if name not in layout.parameters:
            raise DataError(
                f"{table.origin} has no column for the parameter {shown(name)}; rename= maps a "
                "column to it, and a parameter that was not tuned goes into fixed="
            )
        column = layout.parameters[name]
        if column in layout.categorical and parameter.scale is not None:
            raise DataError(
                f"{table.origin}: categorical= names {shown(column)}, which is a number in the "
                f"space: {parameter!r}"
            )


def _read(
    table: Table, column: str, parameter: Parameter, rows: Sequence[int]
) -> tuple[list[Value], dict[int, str]]:
    """Return the values of a given parameter, and why others do not fit it, by their positions."""
    cells = Cells.of(table.columns[column], table.style).at(rows)
    if parameter.scale is not None:
        check_decimals(table, column, cells, rows)
    values: list[Value] = []
    problems: dict[int, str] = {}
    known: dict[str, Value] = {}
    for position, (cell, kind) in enumerate(zip(cells.raw, cells.kinds, strict=True)):
        value: Value = None
        try:
            if parameter.scale is not None and kind == "number":
                value = parameter.check(cells.meanings[position])
            elif isinstance(cell, str) and cell in known:
                value = known[cell]
            else:
                value = parameter.read(cell, decimal=table.style.decimal)
                if isinstance(cell, str):
                    known[cell] = value
        except SpaceError as error:
            problems[position] = str(error)
        values.append(value)
    return values, problems


def _constant(
    table: Table, layout: Layout, column: str, rows: Sequence[int]
) -> tuple[Value, Mapping[str, Sequence[str]]]:
    """Return the value of a column beside a given space, and its other spellings.

    Raises:
        DataError: The column changes, or has no usable value.
    """
    cells = Cells.of(table.columns[column], table.style).at(rows)
    reading = read_column(column, cells, categorical=column in layout.categorical, lenient=False)
    if reading.refusal is not None and len(set(map(repr, cells.raw))) == 1:
        position, problem = reading.refusal
        raise refused_cell(table, column, rows[position], problem)
    spelled, others = one_spelling(reading.values)
    if reading.problems or len(set(map(choice_key, spelled))) != 1:
        raise DataError(
            f"{table.origin}: the column {shown(column)} is no parameter of the space; "
            "name it in drop=, or map it with rename="
        )
    return spelled[0], others
