"""`hetbo import`: from files of runs to studies that others can learn from."""

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hetbo._sources import Part, named_apart, parts_of, values_in, with_own_names
from hetbo.cli._commands import command
from hetbo.cli._names import check_space, listed, pairs, usable_name, values
from hetbo.cli._option_messages import said_for_import
from hetbo.cli._options import DEFAULT_PLACE, Names, Place, Switch
from hetbo.cli._output import cut, say, say_command
from hetbo.cli._space_files import SpaceFile, read_space_file, toml_lines
from hetbo.errors import DataError, shown
from hetbo.experiments import Experiment, FileOptions, Goal, Table
from hetbo.experiments._reading import experiment_of


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read files: the options of `hetbo import`."""

    files: Sequence[Path]
    format: str | None
    value: str | None
    goal: Goal | None
    rename: Sequence[str]
    drop: Sequence[str]
    categorical: Sequence[str]
    fixed: Sequence[str]
    noise: str | None
    space: Path | None
    skip_invalid: bool
    delimiter: str | None
    decimal: str
    encoding: str


def import_(
    *file: Path,
    study: str | None = None,
    format: str | None = None,  # noqa: A002  # the option's name
    value: str | None = None,
    goal: Goal | None = None,
    rename: Names = None,
    drop: Names = None,
    categorical: Names = None,
    fixed: Names = None,
    noise: str | None = None,
    space: Path | None = None,
    skip_invalid: Switch = False,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8-sig",
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Store the runs in files, each as a study that others can learn from.

    The first line of a CSV file names the columns. A row without a value is a failed trial. What
    was tuned is inferred and shown. On a terminal, what is not said is asked for; elsewhere it is
    an error.

    Args:
        file: CSV files, or others: JSON (experiments, lists of objects), Optuna's files.
        study: The study's name; the file's name without its ending if not given.
        format: The files' format, if their endings do not tell.
        value: The column that was measured; 'value' if there is one.
        goal: Which way is better.
        rename: OLD=NEW for columns whose parameters are called differently today.
        drop: Columns to leave out.
        categorical: Columns whose cells are choices, even if they look like numbers.
        fixed: NAME=VALUE of parameters that all runs had the same and the file does not show.
        noise: The column of the values' standard deviations.
        space: A TOML file of what was tuned, instead of inferring it ('hetbo init --help').
        skip_invalid: Leave out rows that do not fit, and say how many.
        delimiter: What separates cells; found out if not given.
        decimal: What stands before the decimals of numbers: a point or a comma.
        encoding: The file's encoding.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    if not file:
        raise DataError("say which file to import: hetbo import FILE")
    reading = Reading(
        file,
        format,
        value,
        goal,
        rename or [],
        drop or [],
        categorical or [],
        fixed or [],
        noise,
        space,
        skip_invalid,
        delimiter,
        decimal,
        encoding,
    )
    _import(reading, study=study, place=storage)


def _import(reading: Reading, *, study: str | None, place: str) -> None:
    """Read files, show what was understood, and store it as studies, all or none if one is bad."""
    from hetbo.cli._storages import make_room, storage_at

    with said_for_import():
        parts = _parts(reading)
        if study is not None:
            usable_name("--study", study)
            if len(parts) > 1:
                several = listed([part.label for part in parts])
                raise DataError(f"--study names one study, and there are {len(parts)}: {several}")
        values, goals = _values(reading, parts), _goals(reading, parts)
        described = None if reading.space is None else read_space_file(reading.space)
        experiments = with_own_names(
            [
                _read(reading, part, described, value=value, goal=goal, study=study)
                for part, value, goal in zip(parts, values, goals, strict=True)
            ],
            taken=(),
        )
    with storage_at(place, create=True) as storage:
        for experiment in experiments:
            make_room(storage, experiment.name)
        for experiment in experiments:
            experiment.to_optuna(storage, study_name=experiment.name)
    for experiment in experiments:
        _show(experiment, place)
    if len(experiments) == 1:
        told = parts[0].readable
        measured = told.value if values[0] is None and isinstance(told, Table) else values[0]
        _show_space(experiments[0], measured)
    say("Write space.toml, what you tune today; then:")
    names = [experiment.name for experiment in experiments]
    words = ("diff", "--target", "space.toml", "--source", *names)
    say_command(command(*words, place=place))


def _parts(reading: Reading) -> list[Part]:
    """Return the tables and experiments in the files; each file is read once.

    Raises:
        DataError: A file, or a part of one, cannot be read.
    """
    options = FileOptions(
        delimiter=reading.delimiter, decimal=reading.decimal, encoding=reading.encoding
    )
    for file in reading.files:
        if file.is_dir():
            raise DataError(f"cannot read {shown(str(file))}: it is a folder; name the files in it")
    found = [part for file in reading.files for part in parts_of(file, reading.format, options)]
    for part in found:
        _ = part.readable
    return named_apart(found)


def _read(
    reading: Reading,
    part: Part,
    described: SpaceFile | None,
    *,
    value: str | None,
    goal: Goal | None,
    study: str | None,
) -> Experiment:
    """Return the experiment in a part of what was read; what is worth a note is a warning."""
    known = {} if described is None else described.fixed
    made = experiment_of(
        part.readable,
        value=value,
        goal=goal,
        name=study,
        space=None if described is None else described.space,
        noise=reading.noise,
        rename=pairs("--rename", reading.rename, form="OLD=NEW"),
        drop=reading.drop,
        categorical=reading.categorical,
        fixed={**known, **values("--fixed", reading.fixed)},
        on_invalid="skip" if reading.skip_invalid else "raise",
    )
    for note in made.notes:
        warnings.warn(note, stacklevel=1)
    usable_name("--study", made.experiment.name)
    check_space(made.experiment.space)
    if not made.experiment.complete:
        raise DataError(f"{part.label}: no row has a value, so there is nothing to learn")
    return made.experiment


def _values(reading: Reading, parts: Sequence[Part]) -> list[str | None]:
    """Return for each part which column was measured; None if its format knows it."""
    if reading.value is not None:
        return values_in(parts, reading.value)
    value = _common_value(parts)
    unknown = [isinstance(part.found, Table) and part.found.value is None for part in parts]
    return [value if one else None for one in unknown]


def _common_value(parts: Sequence[Part]) -> str:
    """Return which column was measured in tables that do not know it: 'value', or the answer."""
    tables = [part.found for part in parts if isinstance(part.found, Table)]
    unknown = [t for t in tables if t.value is None and "value" not in t.columns]
    if not unknown:
        return "value"
    columns = list(unknown[0].columns)
    names = ", ".join(cut(column) for column in columns)
    if sys.stdin.isatty():
        say(f"The columns of {unknown[0].origin}: {names}")
        return _asked("Which column holds the measured value?", columns)
    raise DataError(f"say with --value which column of {unknown[0].origin} was measured: {names}")


def _goals(reading: Reading, parts: Sequence[Part]) -> list[Goal | None]:
    """Return for each part which way is better; None if its format knows it."""
    if reading.goal is not None:
        return [Goal.of(reading.goal)] * len(parts)
    unknown = [part.readable.goal is None for part in parts]
    if any(unknown) and not sys.stdin.isatty():
        raise DataError("say with --goal whether to minimize or to maximize the value")
    question = "Which way is better, minimize or maximize?"
    goal = Goal.of(_asked(question, list(Goal))) if any(unknown) else None
    return [goal if one else None for one in unknown]


def _asked(question: str, answers: Sequence[str]) -> str:
    while True:
        try:
            answer = input(f"{question} ").strip()
        except EOFError:
            raise DataError("no answer was given, and nothing was stored") from None
        if answer in answers:
            return answer
        say(f"Unknown answer {shown(answer)}; expected one of {', '.join(map(repr, answers))}.")


def _show(experiment: Experiment, place: str) -> None:
    from hetbo.cli._places import shown_place
    from hetbo.experiments._penalties import penalties_of, penalty_sentence

    count = len(experiment.trials)
    counts = Counter(trial.state.value for trial in experiment.trials)
    failed = f", {counts['failed']} of them failed" if counts["failed"] else ""
    best = "" if experiment.best is None else f", best {experiment.best.value:.6g}"
    say(
        f"{shown(experiment.name)}: {count} {'trial' if count == 1 else 'trials'}{failed}; "
        f"{experiment.goal}{best}; stored in {shown_place(place)}."
    )
    penalties = penalties_of(experiment)
    if penalties is not None:
        say(
            f"Note: {penalty_sentence(experiment, penalties)} If that stands for a run that "
            "failed, leave the cell empty."
        )


def _show_space(experiment: Experiment, value: str | None) -> None:
    say("What was tuned, as a start for a space of your own:")
    say("")
    for line in toml_lines(experiment.space, experiment.fixed, goal=experiment.goal, value=value):
        say_command(line)
    say("")
