"""From what an importer found to an experiment: one path for every format."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from hetbo.errors import DataError, HetboError, HetboWarning, SpaceError, shown
from hetbo.experiments._experiment import Experiment
from hetbo.experiments._importers import FileOptions, Found, importer_for
from hetbo.experiments._layout import Layout
from hetbo.experiments._options import OnInvalid, TableOptions
from hetbo.experiments._table import Table
from hetbo.experiments._tables import parse_table
from hetbo.experiments._trial import Goal, GoalName
from hetbo.spaces import Space, Value

_CALLER_OF_A_READER = 3
_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class Made:
    """An experiment, and what its reader's caller should be warned of."""

    experiment: Experiment
    notes: Sequence[HetboWarning] = ()


def read_all(path: Path, format: str | None, options: FileOptions) -> list[Found]:  # noqa: A002
    """Return what a file holds: tables, experiments, and errors for parts that cannot be read.

    Raises:
        DataError: The file cannot be read, or holds nothing.
    """
    try:
        found = [*importer_for(path, format).read(path, options)]
    except HetboError:
        raise
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:  # an importer of another package
        raise DataError(f"cannot read {path}: {type(error).__name__}: {error}") from error
    if not found:
        raise DataError(f"{path} holds no experiment")
    for part in found:
        if not isinstance(part, Table | Experiment | DataError):
            raise DataError(
                f"cannot read {path}: its importer yields {shown(part)}; expected a Table, an "
                "Experiment, or a DataError"
            )
    return found


def read_one(path: Path, format: str | None, options: FileOptions) -> Table | Experiment:  # noqa: A002
    """Return the one table or experiment that a file holds.

    Raises:
        DataError: The file cannot be read, or holds several.
    """
    found = read_all(path, format, options)
    if len(found) != 1:
        names = [part.name for part in found if not isinstance(part, DataError) and part.name]
        listed = ", ".join(map(shown, names[:_MOST_LISTED]))
        raise DataError(
            f"{path} holds {len(found)} experiments{f': {listed}' if listed else ''}; "
            "hetbo.read_sources reads all of them"
        )
    if isinstance(found[0], DataError):
        raise found[0]
    return found[0]


def warn_of(
    found: Table | Experiment,
    *,
    value: str | None,
    goal: GoalName | None,
    name: str | None,
    **options: Unpack[TableOptions],
) -> Experiment:
    """Return the experiment in what was found; the caller of the caller is warned."""
    made = experiment_of(found, value=value, goal=goal, name=name, **options)
    for note in made.notes:
        warnings.warn(note, stacklevel=_CALLER_OF_A_READER)
    return made.experiment


def experiment_of(
    found: Table | Experiment,
    *,
    value: str | None = None,
    goal: GoalName | None = None,
    name: str | None = None,
    space: Space | None = None,
    noise: str | None = None,
    rename: Mapping[str, str] | None = None,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    fixed: Mapping[str, Value] | None = None,
    on_invalid: OnInvalid = "raise",
) -> Made:
    """Return the experiment in a table, or an experiment with its parameters renamed or dropped.

    Raises:
        DataError: Something does not fit; see `Experiment.from_csv`.
    """
    if isinstance(found, Experiment):
        told = {"space": space, "noise": noise, "categorical": categorical or None}
        for option, given in told.items():
            if given is not None:
                raise DataError(
                    f"{found.name}: {option}= has no meaning for an experiment that knows its space"
                )
        return Made(
            _changed(found, goal, name=name, rename=rename or {}, drop=drop, fixed=fixed or {})
        )
    value = found.value if value is None else value
    # What a format says is about its own column.
    of_another = found.value not in (None, value) and value in list(found.columns)
    known_goal = None if of_another else found.goal
    if goal is not None and known_goal is not None and Goal.of(goal) is not Goal.of(known_goal):
        raise DataError(
            f"{found.origin}: goal={shown(str(goal))}, but its format says {known_goal}; leave out "
            "goal="
        )
    goal = known_goal if goal is None else goal
    if value is None:
        listed = ", ".join(map(shown, [*found.columns][:_MOST_LISTED]))
        raise DataError(f"{found.origin}: say with value= which column was measured: {listed}")
    if goal is None:
        raise DataError(f"{found.origin}: say with goal= whether to 'minimize' or to 'maximize'")
    goal = Goal.of(goal)
    layout = Layout.of(
        found, value=value, noise=noise, rename=rename or {}, drop=drop, categorical=categorical
    )
    parsed = parse_table(found, layout, space=space, on_invalid=on_invalid)
    experiment = Experiment.trusted(
        found.name or found.origin if name is None else name,
        parsed.space,
        parsed.trials,
        goal=goal,
        fixed={**parsed.fixed, **(fixed or {})},
    )
    return Made(experiment, parsed.notes)


def _changed(
    found: Experiment,
    goal: GoalName | None,
    *,
    name: str | None,
    rename: Mapping[str, str],
    drop: Collection[str],
    fixed: Mapping[str, Value],
) -> Experiment:
    if goal is not None and Goal.of(goal) is not found.goal:
        raise DataError(
            f"{found.name}: goal={shown(str(goal))}, but it was made to {found.goal}; leave out "
            "goal="
        )
    try:
        changed = found.drop(*([drop] if isinstance(drop, str) else drop)).rename(rename)
    except SpaceError as error:
        raise DataError(f"{found.name}: {error}") from None
    if name is None and not fixed:
        return changed
    return Experiment(
        changed.name if name is None else name,
        changed.space,
        changed.trials,
        goal=changed.goal,
        fixed={**changed.fixed, **fixed},
    )
