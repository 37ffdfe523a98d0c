"""Many past experiments at once: folders, patterns of file names, whole storages of Optuna's."""

import glob
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

from hetbo.errors import DataError, DataWarning, HetboError, HetboWarning, MergeError, shown
from hetbo.experiments import Experiment, FileOptions, Found, GoalName, Table, TableOptions
from hetbo.experiments._importers import importer_for
from hetbo.experiments._reading import experiment_of, read_all
from hetbo.joint import JointSpace
from hetbo.joint._notes import shares_nothing, unshared_sentence
from hetbo.spaces import Space, Value

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

Place: TypeAlias = "str | os.PathLike[str] | BaseStorage | Experiment"
"""Where past experiments are: a file, a folder, a pattern of file names, a URL or a storage of
Optuna's, `PLACE::STUDY` for studies by name or pattern, or an experiment that is read already."""

OnUnusable: TypeAlias = Literal["raise", "skip"]
_MOST_NAMED, _MOST_REASONS = 5, 10
_LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True)
class Part:
    """One source among several, as it was found.

    Attributes:
        label: How messages call it: a file, or a study and where it is.
        found: The table or the experiment, or why it cannot be read.
        file: The file that it is from, if it is the only one there.
    """

    label: str
    found: Found
    file: Path | None = None

    @property
    def readable(self) -> Table | Experiment:
        """The table or the experiment.

        Raises:
            DataError: It cannot be read.
        """
        if isinstance(self.found, DataError):
            raise self.found
        return self.found


def read_sources(
    *places: Place,
    value: str | None = None,
    goal: GoalName | None = None,
    target: Space | None = None,
    format: str | None = None,  # noqa: A002  # what the caller calls it
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8-sig",
    on_unusable: OnUnusable = "raise",
    **options: Unpack[TableOptions],
) -> list[Experiment]:
    """Read many past experiments, to be given to an `Optimizer` or a sampler as its sources.

    All names differ: files of one name in different folders are called like `folder/name`. A copy
    of another source is left out, with a warning.

    Args:
        *places: Files; folders, which stand for the CSV files in them (or those of `format`);
            patterns such as `"archive/*.csv"`; Optuna's storages, as files or URLs, with all of
            their studies, or, as `"archive.db::fraud-*"`, those whose names fit; storages that are
            open; experiments.
        value: The column of the measured values, where a format does not know it.
        goal: 'minimize' or 'maximize', where a format does not know it.
        target: What will be tuned. With it, sources that cannot be merged with it, or share no
            parameter with it, are unusable.
        format: The name of the files' format; found out from their endings if None.
        delimiter: What separates cells; if None, found out from the first line.
        decimal: What stands before the decimals of numbers: '.' or ','.
        encoding: The files' encoding.
        on_unusable: 'raise' refuses sources that cannot be read or do not fit; 'skip' leaves them
            out and warns which they were.
        **options: How rows become trials; see `Experiment.from_csv`.

    Raises:
        DataError: A source is unusable, or none is left.
    """
    if on_unusable not in {"raise", "skip"}:
        raise DataError(f"on_unusable={shown(on_unusable)} must be 'raise' or 'skip'")
    text = FileOptions(delimiter=delimiter, decimal=decimal, encoding=encoding)
    unusable: list[tuple[str, str]] = []
    read: list[tuple[str, Experiment]] = []
    notes: list[Warning] = []
    parts = named_apart(part for place in places for part in parts_of(place, format, text))
    for part, column in zip(parts, values_in(parts, value), strict=True):
        try:
            made = experiment_of(part.readable, value=column, goal=goal, **options)
        except HetboError as error:
            unusable.append((part.label, str(error)))
        else:
            read.append((part.label, made.experiment))
            notes += made.notes
    if target is not None:
        kept, unfitting = fitting(target, [experiment for _, experiment in read])
        unusable += [(read[i][0], reason) for i, reason in unfitting.items()]
        read = [read[i] for i in kept]
    if unusable and (on_unusable == "raise" or not read):
        raise unusable_error(unusable, len(unusable) + len(read), "on_unusable='skip'")
    if unusable:
        notes.append(DataWarning(left_out_sentence(unusable, len(unusable) + len(read))))
    firsts, copies = without_copies([content_of(experiment) for _, experiment in read])
    if copies:
        labels = {read[i][0]: read[first][0] for i, first in copies.items()}
        notes.append(DataWarning(copies_sentence(labels)))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return with_own_names(read[i][1] for i in firsts)


def read_place(place: str | os.PathLike[str]) -> list[Experiment]:
    """Return the experiments at a place that says all of them itself, as storages do.

    Args:
        place: As for `read_sources`.

    Raises:
        DataError: They cannot be read, for instance because a table does not say its goal.
    """
    try:
        return read_sources(place)
    except DataError as error:
        call = f"hb.read_sources({os.fspath(place)!r}, value=…, goal=…)"
        raise DataError(f"{error} (what a table does not say, the caller does: {call})") from error


def parts_of(place: Place, format: str | None, options: FileOptions) -> Iterator[Part]:  # noqa: A002
    """Yield what is at a place; what cannot be read there is an error among the rest."""
    if isinstance(place, Experiment):
        yield Part(place.name, place)
        return
    if not isinstance(place, str | os.PathLike):
        if isinstance(place, Iterable) or not hasattr(place, "get_all_studies"):
            raise DataError(
                f"{shown(place)} is not a place of experiments; give files, folders, patterns, "
                "storages or experiments, one by one: read_sources(*places)"
            )
        yield from _studies(place, "the storage", options)
        return
    text = os.fspath(place)
    where, names = place_and_names(text)
    if not where.strip():
        yield Part(text, DataError("it names nothing; name a file, a folder or a storage"))
        return
    options = replace(options, names=names or "*")
    if "://" in where:
        yield from _studies(where, where, options)
        return
    try:
        files = _files(where, format)
    except DataError as error:
        yield Part(where, error)
        return
    for path in files:
        try:
            found = read_all(path, format, options)
        except HetboError as error:
            names = "" if options.names == "*" else f"::{options.names}"
            yield Part(f"{path}{names}", DataError(str(error)))
            continue
        for part in found:
            if isinstance(part, DataError):
                yield Part(str(path), part)
            elif len(found) == 1 and options.names == "*":
                yield Part(str(path), part, path)
            else:
                yield Part(f"{path}::{part.name}", part)


def place_and_names(text: str) -> tuple[str, str | None]:
    """Return a place, and the pattern of names behind its '::'; None if there is none."""
    where, colons, names = text.rpartition("::")
    in_address = "]" in names and "[" in where.rpartition("]")[2]  # of a host, as in [::1]
    if not colons or in_address or os.path.exists(text):  # noqa: PTH110  # never raises
        return text, None
    return where, names


def values_in(parts: Sequence[Part], value: str | None) -> list[str | None]:
    """Return for each source which column was measured; None if it knows that by itself.

    Args:
        parts: The sources.
        value: The column that the caller named. A table that knows its own need not have it, if
            there are others.
    """
    tables = [part.found if isinstance(part.found, Table) else None for part in parts]
    if all(table is not None and table.value is not None for table in tables):
        return [value] * len(parts)
    return [
        None
        if table is not None and table.value is not None and value not in table.columns
        else value
        for table in tables
    ]


def named_apart(parts: Iterable[Part]) -> list[Part]:
    """Return each file once, and tables of one name with the names of their folders in front."""
    files = set[Path]()

    def seen(file: Path | None) -> bool:
        known = file is not None and file.resolve() in files
        files.update([] if file is None else [file.resolve()])
        return known

    parts = [part for part in parts if not seen(part.file)]
    stems = Counter(part.file.stem for part in parts if part.file is not None)

    def apart(part: Part) -> Part:
        if not isinstance(part.found, Table) or part.file is None or stems[part.file.stem] < 2:  # noqa: PLR2004
            return part
        folder = part.file.absolute().parent.name
        return replace(part, found=replace(part.found, name=f"{folder}/{part.file.stem}"))

    return [apart(part) for part in parts]


def fitting(
    target: Space,
    sources: Sequence[Experiment],
    *,
    fixed: Mapping[str, Value] | None = None,
    sharing: bool = True,
) -> tuple[list[int], dict[int, str]]:
    """Return the positions of the sources that fit a target together, and why others do not.

    Args:
        target: What is tuned.
        sources: The sources.
        fixed: The target's known values of parameters that it does not tune.
        sharing: Whether a source that shares no parameter with the target does not fit.
    """
    unfitting = {
        i: unshared_sentence(source, target)
        for i, source in enumerate(sources)
        if sharing and shares_nothing(source, target)
    }
    kept = [i for i in range(len(sources)) if i not in unfitting]
    if _merge_error(target, [sources[i] for i in kept], fixed) is None:
        return kept, unfitting
    together: list[int] = []
    for i in kept:
        error = _merge_error(target, [sources[j] for j in (*together, i)], fixed)
        if error is None:
            together.append(i)
        else:
            unfitting[i] = error
    return together, dict(sorted(unfitting.items()))


def without_copies(contents: Sequence[object]) -> tuple[list[int], dict[int, int]]:
    """Return which of several contents come first, and of which one each other is a copy."""
    first: dict[object, int] = {}
    copies: dict[int, int] = {}
    for i, content in enumerate(contents):
        if first.setdefault(content, i) != i:
            copies[i] = first[content]
    return list(first.values()), copies


def content_of(experiment: Experiment) -> object:
    """Return what two copies have in common: all but the name."""
    known = frozenset((name, repr(value)) for name, value in experiment.fixed.items())
    return experiment.space, experiment.goal, known, experiment.trials


def with_own_names(
    experiments: Iterable[Experiment], *, taken: Iterable[str] = ("target",)
) -> list[Experiment]:
    """Return the experiments with a number behind names that are taken."""
    taken, named = {*taken}, list[Experiment]()
    for e in experiments:
        name, number = e.name, 2
        while name in taken:
            name, number = f"{e.name} [{number}]", number + 1
        taken.add(name)
        named.append(e if name == e.name else e.called(name))
    return named


def unusable_error(unusable: Sequence[tuple[str, str]], count: int, remedy: str) -> DataError:
    """Return the error that names the sources that cannot be used."""
    if len(unusable) == count:
        return DataError(unusable_sentence(unusable, count))
    return DataError(f"{unusable_sentence(unusable, count)} ({remedy} leaves them out)")


def unusable_sentence(unusable: Sequence[tuple[str, str]], count: int) -> str:
    """Return what is said of sources that cannot be used: why the first one, and which others."""
    label, reason = unusable[0]
    others = [_named(other) for other, _ in unusable[1 : _MOST_NAMED + 1]]
    more = f" and {len(unusable) - 1 - len(others)} more" if len(unusable) > len(others) + 1 else ""
    also = f"; the others: {', '.join(others)}{more}" if others else ""
    if count == 1:
        return f"the source {_named(label)} cannot be used: {reason}"
    return f"{len(unusable)} of {count} sources cannot be used: {_named(label)} ({reason}){also}"


def left_out_sentence(unusable: Sequence[tuple[str, str]], count: int) -> str:
    """Return what is said of sources that are left out, and why each of the first ten is."""
    told = "; ".join(f"{_named(label)} ({reason})" for label, reason in unusable[:_MOST_REASONS])
    more = f"; and {len(unusable) - _MOST_REASONS} more" if len(unusable) > _MOST_REASONS else ""
    return f"{len(unusable)} of {count} sources cannot be used: {told}{more}"


def copies_sentence(copies: Mapping[str, str]) -> str:
    """Return what is said of sources that are copies."""
    named = [f"{_named(copy)} of {_named(first)}" for copy, first in copies.items()]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    sources = "a source is a copy" if len(named) == 1 else f"{len(named)} sources are copies"
    return f"{sources} and left out: {', '.join(named[:_MOST_NAMED])}{more}"


def _named(label: str) -> str:
    """Return a label as messages show it: of a long path the end, which tells it from others."""
    return shown(label if len(label) <= _LONGEST_LABEL else f"…{label[-_LONGEST_LABEL:]}")


def _studies(place: "str | BaseStorage", label: str, options: FileOptions) -> Iterator[Part]:
    from hetbo.integrations.optuna import studies_at, without_password  # noqa: PLC0415

    if isinstance(place, str):
        label = without_password(label)
    try:
        for name, found in studies_at(place, options.wants):
            yield Part(f"{label}::{name}", found)
    except HetboError as error:
        yield Part(f"{label}::{options.names}", DataError(str(error)))


def _files(place: str, format: str | None) -> list[Path]:  # noqa: A002
    """Return the files that a path, a folder or a pattern stands for.

    Raises:
        DataError: There is none.
    """
    path = Path(place).expanduser()
    if path.is_dir():
        suffixes = importer_for(path, format or "csv").suffixes
        found = sorted(p for p in path.iterdir() if p.suffix.lower() in suffixes and p.is_file())
        if not found:
            raise DataError(
                f"the folder {place} holds no {format or 'csv'} file; name the files, for instance "
                f"{place.rstrip('/')}/*.json"
            )
        return found
    if path.exists() or not glob.has_magic(place):
        return [path]
    matching = glob.glob(str(path), recursive=True)  # noqa: PTH207  # it may be absolute
    found = [match for match in map(Path, sorted(matching)) if match.is_file()]
    if not found:
        raise DataError(f"no file fits {shown(place)}")
    return found


def _merge_error(
    target: Space, sources: Sequence[Experiment], fixed: Mapping[str, Value] | None
) -> str | None:
    """Return why some sources cannot be merged with a target; None if they can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HetboWarning)
        try:
            JointSpace.merge(target, with_own_names(sources), fixed=fixed)
        except MergeError as error:
            return str(error)
    return None
