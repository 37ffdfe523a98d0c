"""From a table to a space and trials, losing nothing without saying so."""

from collections.abc import Mapping
from dataclasses import dataclass

from hetbo.errors import HetboWarning
from hetbo.experiments._columns import Cells, outcomes
from hetbo.experiments._layout import Layout
from hetbo.experiments._misfits import Misfits, check_decimals
from hetbo.experiments._options import OnInvalid
from hetbo.experiments._settings import given, inferred
from hetbo.experiments._table import Table
from hetbo.experiments._trial import Trial, TrialState
from hetbo.spaces import Space, Value


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a table says.

    Attributes:
        space: What was tuned, given or inferred.
        trials: The trials; they fit the space.
        fixed: The value of each column that never changes.
        notes: What the caller should be warned of.
    """

    space: Space
    trials: tuple[Trial, ...]
    fixed: Mapping[str, Value]
    notes: tuple[HetboWarning, ...]


def parse_table(
    table: Table, layout: Layout, *, space: Space | None, on_invalid: OnInvalid
) -> Parsed:
    """Turn the rows of a table into trials.

    Each cell is understood once; whole columns of meanings then become values and trials. A row
    without a value becomes a failed trial.

    Args:
        table: The table.
        layout: Which column is what.
        space: What was tuned; inferred if None, from the rows that are not left out.
        on_invalid: 'raise' stops at the first row that does not fit; 'skip' leaves such rows out
            and notes how many there were.

    Raises:
        DataError: A row does not fit, or the columns do not.
    """
    misfits = Misfits(table, on_invalid)
    measured = _measured(table, layout, misfits)
    if space is None:
        found = inferred(table, layout, list(measured), misfits)
    else:
        found = given(table, layout, space, list(measured), misfits)
    names = found.space.names
    columns = [found.columns[name] for name in names]
    settings = zip(*columns, strict=True) if columns else ()
    trials = [
        Trial.trusted(dict(zip(names, setting, strict=True)), *measured[row])
        for row, setting in zip(found.rows, settings, strict=True)
    ]
    return Parsed(found.space, tuple(trials), found.fixed, (*misfits.notes(), *found.notes))


def _measured(
    table: Table, layout: Layout, misfits: Misfits
) -> dict[int, tuple[float | None, float | None, TrialState]]:
    """Return value, noise and state of each row where they can be read."""
    rows = [row for row in range(len(table)) if row not in table.problems]
    noise = [] if layout.noise is None else [layout.noise]
    read: list[list[float | None]] = []
    problems: dict[int, tuple[str | None, str]] = {
        row: (None, problem) for row, problem in table.problems.items()
    }
    for column in (layout.value, *noise):
        cells = Cells.of(table.columns[column], table.style).at(rows)
        check_decimals(table, column, cells, rows)
        values, unread = outcomes(cells)
        for position, problem in unread.items():
            # The noise of a trial without a value does not matter.
            if not read or read[0][position] is not None:
                problems.setdefault(rows[position], (column, problem))
        read.append(values)
    if noise:
        for row, value, deviation in zip(rows, *read, strict=True):
            if value is not None and deviation is not None and deviation < 0:
                problem = f"noise={deviation!r} must be a standard deviation of at least 0"
                problems.setdefault(row, (noise[0], problem))
    misfits.add(problems)
    deviations = read[1] if noise else [None] * len(rows)
    return {
        row: (None, None, TrialState.FAILED)
        if value is None
        else (value, deviation, TrialState.COMPLETE)
        for row, value, deviation in zip(rows, read[0], deviations, strict=True)
        if row not in problems
    }
