"""A space and the trials made in it."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from hetbo._files import checked_header, is_saved, read_json, write_text_atomically
from hetbo.errors import DataError, SpaceError, shown
from hetbo.experiments._fixed import checked_fixed
from hetbo.experiments._importers import FileOptions
from hetbo.experiments._options import TableOptions
from hetbo.experiments._table import Table
from hetbo.experiments._trial import Goal, GoalName, Trial, TrialState
from hetbo.spaces import Space, Value
from hetbo.spaces._names import has_control

if TYPE_CHECKING:
    import pandas as pd
    from optuna.storages import BaseStorage
    from optuna.study import Study

_FORMAT = "hetbo-experiment"
_VERSION = 1


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Experiment:
    """A space and the trials made in it; a past one can serve as a source.

    Args:
        name: How reports and errors call it.
        space: What was tuned.
        trials: What was tried. Each must fit the space.
        goal: 'minimize' or 'maximize'.
        fixed: Known values of parameters that this experiment did not tune, for instance
            `{"depth": 6}` if every trial ran at depth 6. What is neither tuned nor fixed is
            unknown, and learned where it matters.

    Raises:
        DataError: A trial does not fit the space, a parameter is both tuned and fixed, or a name
            holds control characters.
    """

    name: str
    space: Space
    trials: tuple[Trial, ...]
    goal: Goal
    fixed: Mapping[str, Value]

    def __init__(
        self,
        name: str,
        space: Space,
        trials: Iterable[Trial] = (),
        *,
        goal: GoalName,
        fixed: Mapping[str, Value] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"an experiment's name must be a string, not {shown(name)}")
        if has_control(name):
            raise DataError(
                f"the experiment's name {shown(name)} holds a control character, such as a line "
                "end; give another name="
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "goal", Goal.of(goal))
        object.__setattr__(self, "trials", tuple(_fitted(name, space, trials)))
        object.__setattr__(self, "fixed", checked_fixed(name, space, fixed or {}))

    @classmethod
    def trusted(
        cls,
        name: str,
        space: Space,
        trials: Iterable[Trial],
        *,
        goal: GoalName,
        fixed: Mapping[str, Value],
    ) -> Self:
        """Return an experiment whose trials are known to fit its space."""
        experiment = cls(name, space, goal=goal, fixed=fixed)
        object.__setattr__(experiment, "trials", tuple(trials))
        return experiment

    @property
    def complete(self) -> tuple[Trial, ...]:
        """The trials that have a value."""
        return tuple(trial for trial in self.trials if trial.state is TrialState.COMPLETE)

    @property
    def best(self) -> Trial | None:
        """The complete trial with the best value; None if there is none."""
        return max(self.complete, key=lambda t: self.goal.sign * (t.value or 0.0), default=None)

    def called(self, name: str) -> Self:
        """Return this experiment under another name."""
        return type(self).trusted(name, self.space, self.trials, goal=self.goal, fixed=self.fixed)

    def rename(self, names: Mapping[str, str]) -> Self:
        """Return this experiment with parameters renamed from the keys of `names` to its values."""
        tuned = {old: new for old, new in names.items() if old not in self.fixed}
        fixed: dict[str, Value] = {}
        for old, value in self.fixed.items():
            new = names.get(old, old)
            if new in fixed:
                raise SpaceError(f"renaming would give two fixed parameters the name {shown(new)}")
            fixed[new] = value
        return type(self)(
            self.name,
            self.space.rename(tuned),
            [
                replace(t, params={tuned.get(name, name): v for name, v in t.params.items()})
                for t in self.trials
            ],
            goal=self.goal,
            fixed=fixed,
        )

    def drop(self, *names: str) -> Self:
        """Return this experiment without the parameters `names`, as if it never had them."""
        space = self.space.drop(*(name for name in names if name not in self.fixed))
        trials = [replace(t, params={name: t.params[name] for name in space}) for t in self.trials]
        fixed = {name: value for name, value in self.fixed.items() if name not in names}
        return type(self)(self.name, space, trials, goal=self.goal, fixed=fixed)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002  # what the caller calls it
        value: str | None = None,
        goal: GoalName | None = None,
        name: str | None = None,
        delimiter: str | None = None,
        decimal: str = ".",
        encoding: str = "utf-8-sig",
        **options: Unpack[TableOptions],
    ) -> "Experiment":
        """Read an experiment from a file of any format that hetbo, or a package beside it, knows.

        These are CSV, JSON (what `save` wrote, or a list of objects), Optuna's SQLite files and
        journals with one study in them, and those of `hetbo.experiments.IMPORTERS`.

        Args:
            path: The file.
            format: The name of the format; found out from the file's ending if None.
            value: The column of the measured values, if the format does not know it.
            goal: 'minimize' or 'maximize', if the format does not know it.
            name: How reports call the experiment; if None, what the file says, or its name without
                its ending.
            delimiter: What separates cells; if None, found out from the first line.
            decimal: What stands before the decimals of numbers: '.' or ','.
            encoding: The file's encoding.
            **options: How rows become trials; see `from_csv`.

        Raises:
            DataError: The file cannot be read, or a row does not fit; the message names the file,
                the row, the column and the value.
        """
        from hetbo.experiments._reading import read_one, warn_of  # noqa: PLC0415  # needs this class

        text = FileOptions(delimiter=delimiter, decimal=decimal, encoding=encoding)
        found = read_one(Path(path), format, text)
        return warn_of(found, value=value, goal=goal, name=name, **options)

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        value: str,
        goal: GoalName,
        name: str | None = None,
        delimiter: str | None = None,
        decimal: str = ".",
        encoding: str = "utf-8-sig",
        **options: Unpack[TableOptions],
    ) -> "Experiment":
        """Read an experiment from a CSV file whose first line names the columns.

        A row without a value (empty, NaN or infinite) becomes a failed trial. Texts that differ in
        case and blanks only are one choice, with a warning that names them; so are columns pointed
        out that look like a result, such as a runtime, and not like a parameter.

        Args:
            path: The file.
            value: The column of the measured values.
            goal: 'minimize' or 'maximize'.
            name: How reports call the experiment; if None, the file's name without its ending.
            delimiter: What separates cells; if None, found out from the first line.
            decimal: What stands before the decimals of numbers: '.' or ','.
            encoding: The file's encoding.
            **options: How rows become trials, all of them optional:

                - space: What was tuned. If not given it is inferred: print `experiment.space`, edit
                  it, and pass it here. A column that never changes and is not in the space is
                  `fixed`.
                - noise: The column of the values' standard deviations.
                - rename: New names for columns, by their names in the file.
                - drop: Columns to ignore.
                - categorical: Columns whose cells are choices, each understood by itself (`0.5` is
                  a number, `sqrt` a text, `true` a boolean). Without it, a column that mixes
                  numbers with texts is an error.
                - fixed: Known values of parameters that were not tuned.
                - on_invalid: 'raise' stops at the first row that does not fit the space; 'skip'
                  leaves such rows out and warns how many there were.

        Raises:
            DataError: The file cannot be read, or a row does not fit; the message names the file,
                the row, the column and the value.
        """
        from hetbo.experiments._reading import read_one, warn_of  # noqa: PLC0415  # needs this class

        text = FileOptions(delimiter=delimiter, decimal=decimal, encoding=encoding)
        found = read_one(Path(path), "csv", text)
        return warn_of(found, value=value, goal=goal, name=name, **options)

    @classmethod
    def from_dataframe(
        cls,
        frame: "pd.DataFrame",
        *,
        value: str,
        goal: GoalName,
        name: str = "dataframe",
        **options: Unpack[TableOptions],
    ) -> "Experiment":
        """Read an experiment from a pandas DataFrame, one row per trial; see `from_csv`.

        Values keep their types; texts are read as in a CSV file.
        """
        from hetbo.experiments._reading import warn_of  # noqa: PLC0415  # needs this class

        table = Table.from_dataframe(frame, origin=name)
        return warn_of(table, value=value, goal=goal, name=name, **options)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]],
        *,
        value: str,
        goal: GoalName,
        name: str = "records",
        **options: Unpack[TableOptions],
    ) -> "Experiment":
        """Read an experiment from dicts, one per trial; see `from_csv`.

        Values keep their types; texts are read as in a CSV file.
        """
        from hetbo.experiments._reading import warn_of  # noqa: PLC0415  # needs this class

        table = Table.from_records(records, origin=name)
        return warn_of(table, value=value, goal=goal, name=name, **options)

    @classmethod
    def from_optuna(
        cls,
        storage: "str | BaseStorage | None",
        study: "str | Study",
        *,
        name: str | None = None,
        fixed: Mapping[str, Value] | None = None,
        params: Collection[str] | None = None,
        noise: str | None = None,
    ) -> "Experiment":
        """Read an experiment from an Optuna study.

        A parameter's range is the hull of the ranges that its trials had; a parameter that could
        have one value only is `fixed`. Pruned trials become failed ones (they have no final
        value), and so do values that are not finite. Trials that are running become pending;
        trials that wait in the queue are left out. Steps, constraints, intermediate values and
        user attributes have no place in an experiment and stay behind.

        Args:
            storage: The storage or its URL; None if `study` is a study itself.
            study: The study's name, or the study.
            name: How reports call the experiment; if None, the study's name, or that of the
                experiment which `to_optuna` made it from.
            fixed: Known values of parameters that were not tuned.
            params: Which trials to read, by the names of all of their parameters, if the study
                has trials with different sets of them.
            noise: The user attribute of trials that holds the standard deviation of their value.

        Raises:
            DataError: There is no such study, it has several objectives or no trials, or its
                trials have different parameters and `params` does not say which to read.
            MissingOptunaError: Optuna is not installed.
        """
        from hetbo.integrations.optuna import read_study  # noqa: PLC0415  # loads Optuna

        return read_study(storage, study, name=name, fixed=fixed, params=params, noise=noise)

    def to_optuna(
        self,
        storage: "str | BaseStorage | None",
        *,
        study_name: str | None = None,
    ) -> "Study":
        """Write the experiment as a new Optuna study that `from_optuna` reads back exactly.

        Pending trials become running ones, which `study.tell` takes the values of. What Optuna has
        no place for (fixed values, noise) is kept in user attributes whose names start with
        `hetbo:`.

        Args:
            storage: The storage or its URL; None for one in memory.
            study_name: The study's name; if None, the experiment's.

        Returns:
            The study.

        Raises:
            DataError: There is a study of that name already.
            MissingOptunaError: Optuna is not installed.
        """
        from hetbo.integrations.optuna import write_study  # noqa: PLC0415  # loads Optuna

        return write_study(self, storage, study_name)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the trials as a DataFrame: a column per parameter, then value, noise, state.

        Raises:
            DataError: A parameter has the name of one of the last three columns.
        """
        import pandas as pd  # noqa: PLC0415  # pandas takes longer to load than hetbo does

        for column in ("value", "noise", "state"):
            if column in self.space:
                raise DataError(f"{self.name}: two columns would be called {column!r}; use rename")
        rows = [[*t.params.values(), t.value, t.noise, t.state.value] for t in self.trials]
        frame = pd.DataFrame(rows, columns=[*self.space.names, "value", "noise", "state"])
        return frame.astype({"value": float, "noise": float})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment to a JSON file that `load` reads back exactly.

        Raises:
            DataError: There is something else than a saved experiment at that path.
            OSError: The file cannot be written.
        """
        text = json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n"
        write_text_atomically(path, text, only_over=is_saved(_FORMAT))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an experiment that `save` wrote.

        Raises:
            DataError: The file cannot be read or holds something else.
        """
        data = read_json(path)
        try:
            return cls.from_json(data)
        except (DataError, SpaceError) as error:
            raise DataError(f"{path}: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the experiment as plain JSON data."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "name": self.name,
            "goal": self.goal.value,
            "space": self.space.to_json(),
            "fixed": dict(self.fixed),
            "trials": [trial.to_json() for trial in self.trials],
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the experiment that `to_json` wrote.

        Raises:
            DataError: The data does not describe an experiment of a known version.
        """
        match checked_header(data, _FORMAT, _VERSION):
            case {
                "name": str(name),
                "goal": str(goal),
                "space": space,
                "fixed": dict(fixed),
                "trials": list(trials),
            }:
                return cls(
                    name,
                    Space.from_json(space),
                    map(Trial.from_json, trials),
                    goal=Goal.of(goal),
                    fixed=fixed,
                )
            case _:
                raise DataError("this is not a hetbo experiment")

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes receive experiments; a mapping proxy cannot travel by itself.
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        counts = Counter(trial.state.value for trial in self.trials)
        states = ", ".join(f"{counts[state]} {state}" for state in TrialState if counts[state])
        lines = [f"Experiment {self.name!r}: {self.goal}, {len(self.trials)} trials"]
        lines[0] += f" ({states})" if states else ""
        if self.best is not None:
            lines[0] += f", best {self.best.value:g}"
        lines += [f"  {name}: {parameter!r}" for name, parameter in self.space.items()]
        lines += [f"  {name}: fixed at {value!r}" for name, value in self.fixed.items()]
        return "\n".join(lines)


def _fitted(name: str, space: Space, trials: Iterable[Trial]) -> Iterable[Trial]:
    for number, trial in enumerate(trials, start=1):
        try:
            params = space.check(trial.params)
        except SpaceError as error:
            raise DataError(f"{name}, trial {number}: {error}") from None
        yield replace(trial, params=params)


def experiments_in(given: object, name: str) -> list[Experiment]:
    """Return what an argument holds, if that is experiments.

    Args:
        given: The argument.
        name: Its name.

    Raises:
        DataError: It is no list of experiments.
    """
    if isinstance(given, Experiment):
        raise DataError(f"{name} must be a list of experiments: [{shown(given.name)}]")
    if not isinstance(given, Iterable):
        raise DataError(f"{name} must be a list of experiments, not {shown(given)}")
    found = list(given)
    for one in found:
        if not isinstance(one, Experiment):
            raise DataError(f"{name} holds {shown(one)}, which is not an Experiment")
    return found
