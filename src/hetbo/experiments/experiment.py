"""A space and the trials made in it."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from hetbo.errors import DataError, SpaceError, shown
from hetbo.experiments.optuna_package import require_optuna
from hetbo.experiments.rows import Table, csv_table, dataframe_table, record_table
from hetbo.experiments.tables import Layout, OnInvalid, parse_table
from hetbo.experiments.trial import Goal, Trial, TrialState
from hetbo.files import read_json, write_text_atomically
from hetbo.spaces import Space, Value
from hetbo.spaces.parameters import checked_choice

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
        DataError: A trial does not fit the space, or a parameter is both tuned and fixed.
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
        goal: Goal | str = Goal.MINIMIZE,
        fixed: Mapping[str, Value] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"an experiment's name must be a text, not {shown(name)}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "goal", Goal.of(goal))
        object.__setattr__(self, "trials", tuple(_fitted(name, space, trials)))
        object.__setattr__(self, "fixed", _checked_fixed(name, space, fixed or {}))

    @property
    def complete(self) -> tuple[Trial, ...]:
        """The trials that have a value."""
        return tuple(trial for trial in self.trials if trial.state is TrialState.COMPLETE)

    @property
    def best(self) -> Trial | None:
        """The complete trial with the best value; None if there is none."""
        return max(self.complete, key=lambda t: self.goal.sign * (t.value or 0.0), default=None)

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
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        value: str,
        goal: Goal | str = Goal.MINIMIZE,
        name: str | None = None,
        space: Space | None = None,
        noise: str | None = None,
        rename: Mapping[str, str] | None = None,
        drop: Collection[str] = (),
        fixed: Mapping[str, Value] | None = None,
        on_invalid: OnInvalid = "raise",
        delimiter: str | None = None,
        encoding: str = "utf-8-sig",
    ) -> Self:
        """Read an experiment from a CSV file whose first line names the columns.

        A row without a value (empty, NaN or infinite) becomes a failed trial.

        Args:
            path: The file.
            value: The column of the measured values.
            goal: 'minimize' or 'maximize'.
            name: How reports call the experiment; if None, the file's name without its ending.
            space: What was tuned. If None it is inferred: print `experiment.space`, edit it, and
                pass it here. A column that never changes and is not in the space is `fixed`.
            noise: The column of the values' standard deviations, if there is one.
            rename: New names for columns, by their names in the file.
            drop: Columns to ignore.
            fixed: Known values of parameters that were not tuned.
            on_invalid: 'raise' stops at the first row that does not fit the space; 'skip' leaves
                such rows out and warns how many there were.
            delimiter: What separates cells; if None, found out from the first line.
            encoding: The file's encoding.

        Raises:
            DataError: The file cannot be read, or a row does not fit; the message names the file,
                the row, the column and the value.
        """
        table = csv_table(path, delimiter=delimiter, encoding=encoding)
        layout = Layout.of(table, value=value, noise=noise, rename=rename or {}, drop=drop)
        return cls._from_table(
            table,
            layout,
            name=Path(path).stem if name is None else name,
            space=space,
            goal=goal,
            fixed=fixed or {},
            on_invalid=on_invalid,
        )

    @classmethod
    def from_dataframe(
        cls,
        frame: "pd.DataFrame",
        *,
        value: str,
        goal: Goal | str = Goal.MINIMIZE,
        name: str = "dataframe",
        space: Space | None = None,
        noise: str | None = None,
        rename: Mapping[str, str] | None = None,
        drop: Collection[str] = (),
        fixed: Mapping[str, Value] | None = None,
        on_invalid: OnInvalid = "raise",
    ) -> Self:
        """Read an experiment from a pandas DataFrame, one row per trial; see `from_csv`."""
        table = dataframe_table(frame, origin=name)
        layout = Layout.of(table, value=value, noise=noise, rename=rename or {}, drop=drop)
        return cls._from_table(
            table,
            layout,
            name=name,
            space=space,
            goal=goal,
            fixed=fixed or {},
            on_invalid=on_invalid,
        )

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]],
        *,
        value: str,
        goal: Goal | str = Goal.MINIMIZE,
        name: str = "records",
        space: Space | None = None,
        noise: str | None = None,
        rename: Mapping[str, str] | None = None,
        drop: Collection[str] = (),
        fixed: Mapping[str, Value] | None = None,
        on_invalid: OnInvalid = "raise",
    ) -> Self:
        """Read an experiment from dicts, one per trial; see `from_csv`."""
        table = record_table(records, origin=name)
        layout = Layout.of(table, value=value, noise=noise, rename=rename or {}, drop=drop)
        return cls._from_table(
            table,
            layout,
            name=name,
            space=space,
            goal=goal,
            fixed=fixed or {},
            on_invalid=on_invalid,
        )

    @classmethod
    def _from_table(
        cls,
        table: Table,
        layout: Layout,
        *,
        name: str,
        space: Space | None,
        goal: Goal | str,
        fixed: Mapping[str, Value],
        on_invalid: OnInvalid,
    ) -> Self:
        parsed = parse_table(table, layout, space=space, on_invalid=on_invalid)
        return cls(name, parsed.space, parsed.trials, goal=goal, fixed={**parsed.fixed, **fixed})

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
        require_optuna()
        from hetbo.experiments.optuna_studies import read_study  # noqa: PLC0415  # loads Optuna

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
        require_optuna()
        from hetbo.experiments.optuna_studies import write_study  # noqa: PLC0415  # loads Optuna

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
        """Write the experiment to a JSON file that `load` reads back exactly."""
        write_text_atomically(path, json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n")

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
        match data:
            case {"format": "hetbo-experiment", "version": version} if version != _VERSION:
                raise DataError(
                    f"this hetbo reads version {_VERSION} of its files, not {shown(version)}"
                )
            case {
                "format": "hetbo-experiment",
                "version": _,
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
                    goal=goal,
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


def _checked_fixed(name: str, space: Space, fixed: Mapping[str, Value]) -> Mapping[str, Value]:
    checked: dict[str, Value] = {}
    for parameter, value in fixed.items():
        if not isinstance(parameter, str) or not parameter.strip():
            raise DataError(f"{name}: {shown(parameter)} cannot be the name of a fixed parameter")
        if parameter in space:
            raise DataError(f"{name}: {parameter!r} is tuned, so it cannot be fixed as well")
        try:
            checked[parameter] = checked_choice(value)
        except SpaceError:
            raise DataError(
                f"{name}: fixed {parameter!r} has no usable value: {shown(value)}"
            ) from None
    return MappingProxyType(checked)
