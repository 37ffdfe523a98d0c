"""What `--source` names: studies, by name or pattern, here or elsewhere, and files of runs."""

import glob
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import optuna
from optuna.storages import BaseStorage

from hetbo._sources import (
    Part,
    content_of,
    copies_sentence,
    fitting,
    left_out_sentence,
    named_apart,
    parts_of,
    place_and_names,
    unusable_error,
    with_own_names,
    without_copies,
)
from hetbo.cli._backoff import UnavailableError
from hetbo.cli._names import check_space, listed, usable_name
from hetbo.cli._option_messages import as_init_options
from hetbo.cli._places import portable, shown_place
from hetbo.cli._space_files import SpaceFile
from hetbo.cli._storages import check_free, storage_at, study_in
from hetbo.errors import DataError, DataWarning, HetboError, shown
from hetbo.experiments import Experiment, FileOptions, GoalName
from hetbo.experiments._reading import experiment_of
from hetbo.integrations.optuna import experiments_to_learn_from
from hetbo.joint._notes import asked_renaming, shares_nothing

_REMEDY = "--skip-unusable"


@dataclass(frozen=True, slots=True)
class Source:
    """A past experiment that was named.

    Attributes:
        place: The storage that it is in; None if that is the command's own.
        study: The name of its study.
        experiments: What it holds: several experiments if its trials have several spaces.
        new: Whether it comes from a file, and is no study yet.
    """

    place: str | None
    study: str
    experiments: tuple[Experiment, ...]
    new: bool = False


def read_sources(
    given: Sequence[str],
    described: SpaceFile | None,
    *,
    goal: GoalName | None = None,
    place: str,
    sharing: bool = False,
    skip_unusable: bool = False,
) -> list[Source]:
    """Return the past experiments that were named, without copies.

    Args:
        given: STUDY or PLACE::STUDY, each a name or a pattern; files, folders, patterns of files.
        described: What is tuned today; None if nothing is, and sources need not fit it.
        goal: Which way is better in files that do not say it.
        place: The command's own storage.
        sharing: Whether sources that share no parameter with today's space are unusable.
        skip_unusable: Whether sources that cannot be read, or do not fit what is tuned today, are
            left out with a warning.

    Raises:
        DataError: A source cannot be used, or none is left.
    """
    unusable: list[tuple[str, str]] = []
    read: list[tuple[str, Source]] = []
    value = "value" if described is None or described.value is None else described.value
    for label, source in _found(given, value, goal, place):
        if isinstance(source, HetboError):
            unusable.append((label, str(source)))
        else:
            read.append((label, source))
    if described is not None:
        read, unfitting = _fitting(read, described, sharing=sharing)
        unusable += unfitting
    count = len(unusable) + len(read)
    if unusable and (not skip_unusable or not read):
        raise unusable_error(unusable, count, _REMEDY)
    if unusable:
        warnings.warn(left_out_sentence(unusable, count), DataWarning, stacklevel=2)
    return _without_copies(read)


def experiments_of(sources: Sequence[Source]) -> list[Experiment]:
    """Return what the sources hold, under names that differ."""
    return with_own_names([e for source in sources for e in source.experiments])


def check_storable(storage: BaseStorage, sources: Sequence[Source]) -> list[Source]:
    """Return the sources from files that have to be stored: all but those that are there already.

    Raises:
        DataError: There is another study of the same name, or one cannot be stored.
    """
    names = set(optuna.get_all_study_names(storage))
    missing: list[Source] = []
    for source in sources:
        if not source.new:
            continue
        usable_name("the name of a source", source.study)
        check_space(source.experiments[0].space)
        if source.study in names:
            stored = experiments_to_learn_from(study_in(storage, source.study))
            if [*map(content_of, stored)] != [*map(content_of, source.experiments)]:
                check_free(storage, source.study)
        else:
            missing.append(source)
    return missing


def read_stored(
    storage: BaseStorage | None, sources: Sequence[tuple[str | None, str]]
) -> list[Experiment]:
    """Return the experiments in some studies; each storage is opened once.

    Args:
        storage: The command's own storage; None if there is none yet.
        sources: The storage (None if it is the command's own) and the name of each.

    Raises:
        DataError: A source is not there, or has no complete trial.
    """
    found: list[Experiment] = []
    for place, studies in groupby(sources, key=lambda source: source[0]):
        names = [name for _, name in studies]
        if place is not None:
            with storage_at(place) as other:
                found += _experiments_in(other, names)
        elif storage is None:
            raise DataError(f"the source {shown(names[0])} needs a storage to be read from")
        else:
            found += _experiments_in(storage, names)
    return with_own_names(found)


def _experiments_in(storage: BaseStorage, names: Sequence[str]) -> list[Experiment]:
    return [e for name in names for e in experiments_to_learn_from(study_in(storage, name))]


def _found(
    given: Sequence[str], value: str, goal: GoalName | None, place: str
) -> Iterator[tuple[str, Source | HetboError]]:
    """Yield what was named, and why parts of it cannot be read."""
    files: list[str] = []
    with ExitStack() as stack:
        storage: BaseStorage | None = None
        names: Sequence[str] = ()
        here = [text for text in given if place_and_names(text)[1] is None]
        if here:
            try:
                storage = stack.enter_context(storage_at(place))
            except DataError:
                if not all(map(_is_file, here)):
                    raise
            else:
                names = optuna.get_all_study_names(storage)
        for text in dict.fromkeys(given):
            elsewhere, wanted = place_and_names(text)
            if wanted is not None:
                yield from _elsewhere(elsewhere, wanted)
            elif storage is not None and (_matching(names, text) or not _is_file(text)):
                yield from _studies(storage, text, None, "")
            else:
                files.append(text)
    yield from _from_files(files, value, goal)


def _elsewhere(place: str, wanted: str) -> Iterator[tuple[str, Source | HetboError]]:
    known = portable(place)
    try:
        with storage_at(place) as storage:
            yield from _studies(storage, wanted, known, f"{shown_place(place)}::")
    except UnavailableError:
        raise
    except DataError as error:
        yield f"{shown_place(place)}::{wanted}", error


def _studies(
    storage: BaseStorage, wanted: str, place: str | None, label: str
) -> Iterator[tuple[str, Source | HetboError]]:
    for name in _matching(optuna.get_all_study_names(storage), wanted) or [wanted]:
        found: Source | HetboError
        try:
            experiments = experiments_to_learn_from(study_in(storage, name))
            found = Source(place, name, tuple(experiments))
        except UnavailableError:
            raise
        except HetboError as error:
            found = error
        yield f"{label}{name}", found


def _matching(names: Sequence[str], wanted: str) -> list[str]:
    """Return the name that is wanted, or all that fit it as a pattern."""
    if wanted in names:
        return [wanted]
    return sorted(name for name in names if fnmatchcase(name, wanted))


def _is_file(text: str) -> bool:
    return (bool(text.strip()) and Path(text).exists()) or bool(glob.glob(text, recursive=True))  # noqa: PTH207  # absolute


def _from_files(
    files: Sequence[str], value: str, goal: GoalName | None
) -> Iterator[tuple[str, Source | HetboError]]:
    """Yield what files hold; the measured value is called as in the target's file, or 'value'."""
    parts = [part for text in files for part in parts_of(text, None, FileOptions())]
    read: list[tuple[str, Experiment]] = []
    for part in named_apart(parts):
        try:
            experiment = _read(part, value, goal)
        except HetboError as error:
            yield part.label, error
        else:
            read.append((part.label, experiment))
    apart = with_own_names([experiment for _, experiment in read])
    for (label, _), experiment in zip(read, apart, strict=True):
        yield label, Source(None, experiment.name, (experiment,), new=True)


def _read(part: Part, value: str, goal: GoalName | None) -> Experiment:
    found = part.readable
    if isinstance(found, Experiment):
        made = experiment_of(found)
    else:
        value = found.value or value
        if value not in found.columns:
            names = listed(list(found.columns))
            raise DataError(
                f"{found.origin} has no column {shown(value)} for the measured value, it has "
                f"{names}; store it with 'hetbo import --value COLUMN', or say value = "
                "in the file of today's space"
            )
        made = experiment_of(found, value=value, goal=found.goal or goal)
    for note in made.notes:
        warnings.warn(as_init_options(str(note)), type(note), stacklevel=2)
    if not made.experiment.complete:
        raise DataError(f"{part.label}: no row has a value, so there is nothing to learn")
    return made.experiment


def _fitting(
    read: Sequence[tuple[str, Source]], described: SpaceFile, *, sharing: bool
) -> tuple[list[tuple[str, Source]], list[tuple[str, str]]]:
    """Return the sources that fit what is tuned today, and why others do not."""
    of = [i for i, (_, source) in enumerate(read) for _ in source.experiments]
    every = experiments_of([source for _, source in read])
    _, unfitting = fitting(described.space, every, fixed=described.fixed, sharing=sharing)
    reasons: dict[int, str] = {}
    for position, reason in unfitting.items():
        source = every[position]
        if shares_nothing(source, described.space):
            rename = "If only the names differ, import it again with --rename; else leave it out"
            reason = (  # noqa: PLW2901  # in the words of the command line
                f"it tuned {listed(source.space.names)}, none of which is in {described.path}: "
                "nothing can be learned from it. "
                f"{asked_renaming(source, described.space, rename)}"
            )
        reasons.setdefault(of[position], as_init_options(reason))
    kept = [labelled for i, labelled in enumerate(read) if i not in reasons]
    return kept, [(read[i][0], reason) for i, reason in reasons.items()]


def _without_copies(read: Sequence[tuple[str, Source]]) -> list[Source]:
    """Return the sources without copies of others, with a warning."""
    apart = {(source.place, source.study, source.new): (label, source) for label, source in read}
    labelled = list(apart.values())
    contents = [tuple(map(content_of, source.experiments)) for _, source in labelled]
    firsts, copies = without_copies(contents)
    if copies:
        labels = {labelled[i][0]: labelled[first][0] for i, first in copies.items()}
        warnings.warn(copies_sentence(labels), DataWarning, stacklevel=3)
    return [labelled[i][1] for i in firsts]
