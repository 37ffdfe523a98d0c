"""From a CSV file to a study that others can learn from."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import optuna
from optuna.storages import BaseStorage

from hetbo.cli.commands import command
from hetbo.cli.names import check_space, pairs, usable_name, values
from hetbo.cli.output import cut, say, say_command
from hetbo.cli.space_files import read_space_file, toml_lines
from hetbo.cli.storages import check_free, shown_place, storage_at
from hetbo.cli.wording import as_import_options
from hetbo.errors import DataError, HetboError, shown
from hetbo.experiments import Experiment
from hetbo.experiments.rows import csv_table
from hetbo.penalties import penalties_of, penalty_sentence

_GOALS = ("minimize", "maximize")
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a CSV file: the options of `hetbo import`."""

    file: Path
    value: str | None
    goal: str | None
    rename: Sequence[str]
    drop: Sequence[str]
    fixed: Sequence[str]
    noise: str | None
    space: Path | None
    skip_invalid: bool
    delimiter: str | None
    encoding: str


def import_csv(reading: Reading, *, study: str | None, place: str) -> None:
    """Read a CSV file, show what was understood, and store it as a study."""
    if reading.file.is_dir():
        raise DataError(f"cannot read {shown(str(reading.file))}: it is a folder; name a CSV file")
    name = usable_name("--study", reading.file.stem if study is None else study)
    experiment = _read(reading, name)
    with storage_at(place, create=True) as storage:
        check_free(storage, name)
        _write(experiment, storage, name)
    _show(experiment, place)


def _read(reading: Reading, name: str) -> Experiment:
    try:
        columns = csv_table(
            reading.file, delimiter=reading.delimiter, encoding=reading.encoding
        ).columns
        described = None if reading.space is None else read_space_file(reading.space)
        experiment = Experiment.from_csv(
            reading.file,
            value=_value(reading, columns),
            goal=_goal(reading),
            name=name,
            space=None if described is None else described.space,
            noise=reading.noise,
            rename=pairs("--rename", reading.rename, form="OLD=NEW"),
            drop=reading.drop,
            fixed={
                **({} if described is None else described.fixed),
                **values("--fixed", reading.fixed),
            },
            on_invalid="skip" if reading.skip_invalid else "raise",
            delimiter=reading.delimiter,
            encoding=reading.encoding,
        )
    except LookupError as error:  # Python has no such encoding
        raise DataError(f"--encoding {shown(reading.encoding)}: {error}") from error
    except TypeError as error:
        raise DataError(f"--delimiter {shown(reading.delimiter)}: {error}") from error
    except HetboError as error:
        raise DataError(as_import_options(str(error))) from error
    check_space(experiment.space)
    if not experiment.complete:
        raise DataError(f"{reading.file.name}: no row has a value, so there is nothing to learn")
    return experiment


def _value(reading: Reading, columns: Sequence[str]) -> str:
    if reading.value is not None:
        return reading.value
    if "value" in columns:
        return "value"
    listed = ", ".join(cut(column) for column in columns)
    if sys.stdin.isatty():
        say(f"The columns of {reading.file.name}: {listed}")
        return _asked("Which column holds the measured value?", columns)
    raise DataError(f"say with --value which column of {reading.file.name} was measured: {listed}")


def _goal(reading: Reading) -> str:
    if reading.goal is not None:
        return reading.goal
    if sys.stdin.isatty():
        return _asked("Which way is better, minimize or maximize?", _GOALS)
    raise DataError("say with --goal whether to minimize or to maximize the value")


def _asked(question: str, answers: Sequence[str]) -> str:
    while True:
        try:
            answer = input(f"{question} ").strip()
        except EOFError:
            raise DataError("no answer was given, and nothing was stored") from None
        if answer in answers:
            return answer
        say(f"{shown(answer)} is none of them.")


def _write(experiment: Experiment, storage: BaseStorage, name: str) -> None:
    try:
        experiment.to_optuna(storage, study_name=name)
    except BaseException:
        if name in optuna.get_all_study_names(storage):
            optuna.delete_study(study_name=name, storage=storage)
        raise


def _show(experiment: Experiment, place: str) -> None:
    counts = Counter(trial.state.value for trial in experiment.trials)
    failed = f", {counts['failed']} of them failed" if counts["failed"] else ""
    best = "" if experiment.best is None else f", best {experiment.best.value:.6g}"
    say(
        f"{shown(experiment.name)}: {len(experiment.trials)} trials{failed}; "
        f"{experiment.goal}{best}; stored in {shown_place(place)}."
    )
    penalties = penalties_of(experiment)
    if penalties is not None:
        say(
            f"Note: {penalty_sentence(experiment, penalties)} If that stands for a run that "
            "failed, leave the cell empty."
        )
    say("What was tuned, as a start for a space of your own:")
    say("")
    for line in toml_lines(experiment.space, experiment.fixed):
        sys.stdout.write(f"{cut(line, _LONGEST_LINE)}\n")
    say("")
    say("Write space.toml, what you tune today; then:")
    words = ("diff", "--target", "space.toml", "--source", experiment.name)
    say_command(command(*words, place=place))
