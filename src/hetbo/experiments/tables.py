"""From a table to a space and trials, losing nothing without saying so."""

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from hetbo.errors import DataError, DataWarning, HetboError, SpaceError, shown
from hetbo.experiments.cells import outcome, setting, understood
from hetbo.experiments.inference import infer_space
from hetbo.experiments.rows import Row, Table
from hetbo.experiments.trial import Trial, TrialState
from hetbo.spaces import Space, Value
from hetbo.spaces.parameters import checked_choice, choice_key

OnInvalid: TypeAlias = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column of a table is what.

    Attributes:
        value: The column of the measured values.
        noise: The column of their standard deviations, if there is one.
        parameters: The column of each parameter, by the parameter's name.
    """

    value: str
    noise: str | None
    parameters: Mapping[str, str]

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        value: str,
        noise: str | None,
        rename: Mapping[str, str],
        drop: Collection[str],
    ) -> "Layout":
        """Find the columns in a table.

        Raises:
            DataError: A column that was named is not there, or two would get the same name.
        """
        drop = [drop] if isinstance(drop, str) else drop
        for option, names in {
            "value=": [value],
            "noise=": [noise] if noise is not None else [],
            "rename=": list(rename),
            "drop=": list(drop),
        }.items():
            for name in names:
                if name not in table.columns:
                    known = ", ".join(map(shown, table.columns))
                    raise DataError(
                        f"{table.origin} has no column {shown(name)} ({option}); it has {known}"
                    )
        parameters: dict[str, str] = {}
        for column in table.columns:
            name = rename.get(column, column)
            if column in {value, noise} or column in drop:
                continue
            if name in parameters:
                raise DataError(f"{table.origin}: two columns would be called {shown(name)}")
            if column in rename and name in {value, noise}:
                raise DataError(
                    f"{table.origin}: rename= calls column {shown(column)} {shown(name)}, which is "
                    f"the column of the {'value' if name == value else 'noise'}"
                )
            if not name.strip():
                position = table.columns.index(column) + 1
                raise DataError(
                    f"{table.origin}: column {position} has no name; "
                    f"drop=[{column!r}] leaves it out, rename={{{column!r}: ...}} names it"
                )
            parameters[name] = column
        return cls(value, noise, parameters)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a table says: the space, given or inferred, the trials, and what never changed."""

    space: Space
    trials: tuple[Trial, ...]
    fixed: Mapping[str, Value]


def parse_table(
    table: Table, layout: Layout, *, space: Space | None, on_invalid: OnInvalid
) -> Parsed:
    """Turn the rows of a table into trials.

    A row without a value becomes a failed trial.

    Args:
        table: The table.
        layout: Which column is what.
        space: What was tuned; inferred if None.
        on_invalid: 'raise' stops at the first row that does not fit; 'skip' leaves such rows out
            and warns how many there were.

    Raises:
        DataError: A row does not fit, or the columns do not.
    """
    misfits = _Misfits(table.origin, len(table.rows), on_invalid)
    if space is None:
        table = _whole_rows(table, _understood(table, layout), layout, misfits)
        space, fixed = infer_space(_parameter_columns(table, layout), origin=table.origin)
    else:
        fixed = _columns_beside(table, layout, space)
    tuned = {name: column for name, column in layout.parameters.items() if name in space}
    layout = replace(layout, parameters=tuned)
    trials = (_trial(row, table, layout, space, misfits) for row in table.rows)
    kept = tuple(trial for trial in trials if trial is not None)
    misfits.report()
    return Parsed(space, kept, fixed)


class _Misfits:
    """Rows that do not fit: the first one is an error, or all of them are counted."""

    def __init__(self, origin: str, rows: int, on_invalid: str) -> None:
        if on_invalid not in {"raise", "skip"}:
            raise DataError(f"on_invalid={shown(on_invalid)} must be 'raise' or 'skip'")
        self._origin = origin
        self._rows = rows
        self._raise = on_invalid == "raise"
        self._messages: list[str] = []

    def add(self, row: Row, column: str | None, problem: str) -> None:
        where = "" if column is None else f", column {shown(column)}"
        message = f"{row.label}{where}: {problem}"
        if self._raise:
            raise DataError(f"{self._origin}, {message} (on_invalid='skip' leaves such rows out)")
        self._messages.append(message)

    def report(self) -> None:
        if self._messages:
            warnings.warn(
                f"{self._origin}: {len(self._messages)} of {self._rows} rows do not fit and were "
                f"left out; the first is {self._messages[0]}",
                DataWarning,
                stacklevel=5,  # the caller of Experiment.from_...
            )


def _columns_beside(table: Table, layout: Layout, space: Space) -> dict[str, Value]:
    """Return the value of each column that is not in the space, which must never change."""
    for name in space:
        if name not in layout.parameters:
            raise DataError(
                f"{table.origin} has no column for the parameter {shown(name)}; rename= maps a "
                "column to it, and a parameter that was not tuned goes into fixed="
            )
    beside = {name: column for name, column in layout.parameters.items() if name not in space}
    table = _understood(table, replace(layout, parameters=beside))
    fixed: dict[str, Value] = {}
    for name, column in beside.items():
        values = [_plain(row.cells.get(column)) for row in table.rows if row.problem is None]
        if None in values or len(set(map(choice_key, values))) != 1:
            raise DataError(
                f"{table.origin}: the column {shown(column)} is no parameter of the space; "
                "name it in drop=, or map it with rename="
            )
        fixed[name] = values[0]
    return fixed


def _understood(table: Table, layout: Layout) -> Table:
    """Return the table with the texts of each parameter's column understood as a whole."""
    if not table.text:
        return table
    readable = [row for row in table.rows if row.problem is None]
    columns = {
        column: understood([str(row.cells[column]) for row in readable])
        for column in layout.parameters.values()
    }
    typed = iter(
        Row(row.label, {**row.cells, **{column: cells[i] for column, cells in columns.items()}})
        for i, row in enumerate(readable)
    )
    rows = tuple(next(typed) if row.problem is None else row for row in table.rows)
    return replace(table, rows=rows, text=False)


def _whole_rows(raw: Table, table: Table, layout: Layout, misfits: _Misfits) -> Table:
    """Return the table without the rows in which a parameter has no usable value.

    Args:
        raw: The table as it was read, for the messages.
        table: The same table, understood.
        layout: Which column is what.
        misfits: Takes the rows that are left out.

    Raises:
        DataError: No row is left.
    """
    for column in layout.parameters.values():
        if table.rows and all(_plain(row.cells.get(column)) is None for row in table.rows):
            raise DataError(
                f"{table.origin}: the column {shown(column)} has no usable value; name it in drop="
            )
    kept: list[Row] = []
    for raw_row, row in zip(raw.rows, table.rows, strict=True):
        columns = layout.parameters.values()
        gap = next((column for column in columns if _plain(row.cells.get(column)) is None), None)
        if row.problem is not None:
            misfits.add(row, None, row.problem)
        elif gap is not None:
            misfits.add(row, gap, f"{shown(raw_row.cells.get(gap))} is not a usable value")
        else:
            kept.append(row)
    if not kept:
        raise DataError(f"{table.origin} has no row to infer the space from; give the space=")
    return replace(table, rows=tuple(kept))


def _plain(cell: object) -> Value:
    """Return what a cell holds as a plain value; None if that cannot be one."""
    try:
        return checked_choice(cell)
    except SpaceError:
        return None


def _parameter_columns(table: Table, layout: Layout) -> dict[str, list[Value]]:
    """Return the cells of each parameter's column as plain values."""
    return {
        name: [_plain(row.cells.get(column)) for row in table.rows]
        for name, column in layout.parameters.items()
    }


def _trial(row: Row, table: Table, layout: Layout, space: Space, misfits: _Misfits) -> Trial | None:
    if row.problem is not None:
        misfits.add(row, None, row.problem)
        return None
    params: dict[str, Value] = {}
    column = ""
    try:
        for name, column in layout.parameters.items():
            params[name] = setting(row.cells.get(column), space[name], text=table.text)
        column = layout.value
        value = outcome(row.cells.get(column))
        if value is None:
            return Trial(params, state=TrialState.FAILED)
        if layout.noise is None:
            return Trial(params, value)
        column = layout.noise
        return Trial(params, value, noise=outcome(row.cells.get(column)))
    except HetboError as error:
        misfits.add(row, column, str(error))
        return None
