"""What a sampler may learn from, read and told apart."""

import os
import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from optuna.storages import BaseStorage
from optuna.study import Study, get_all_study_names

from hetbo._sources import place_and_names, read_place, with_own_names
from hetbo.errors import HetboWarning, OptimizerError, shown
from hetbo.experiments import Experiment
from hetbo.experiments._storages import OptunaImporter
from hetbo.integrations.optuna._storages import opened, opened_storage
from hetbo.integrations.optuna._studies import experiments_in

Source: TypeAlias = (
    Experiment | Study | BaseStorage | tuple[str | BaseStorage, str] | str | os.PathLike[str]
)
"""Past experiments: one of hetbo's, an Optuna study, all studies of a storage, a storage and the
name of a study or a pattern of names, such as 'fraud-*', or a place as for `hetbo.read_sources`."""


def read_sources(sources: Iterable[Source] | str | os.PathLike[str]) -> list[list[Experiment]]:
    """Return what each study holds, as experiments whose names differ.

    Raises:
        OptimizerError: Something is not a source.
        DataError: A source cannot be read.
    """
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    if isinstance(sources, Study | Experiment | BaseStorage) or not isinstance(sources, Iterable):
        raise OptimizerError(f"sources={shown(sources)} must be a list: sources=[…]")
    read = [experiments for source in sources for experiments in _read(source)]
    named = iter(with_own_names(experiment for several in read for experiment in several))
    return [list(islice(named, len(several))) for several in read]


def _read(source: Source) -> list[list[Experiment]]:
    match source:
        case Experiment():
            return [[source]]
        case Study():
            with opened(None, source) as study:
                return [_useful(study)]
        case BaseStorage():
            return _in_storage(source, "*")
        case (str() | BaseStorage() as place, str(wanted)):
            return _in_storage(place, wanted)
        case str() | os.PathLike():
            return _at(os.fspath(source))
        case _:
            raise OptimizerError(
                f"{shown(source)} is not a source; give an Experiment, an Optuna study, a storage, "
                "a pair of a storage and a study's name, or a path"
            )


def _at(place: str) -> list[list[Experiment]]:
    """Return what is at a place; a study of Optuna's may be several experiments."""
    where, names = place_and_names(place)
    if "://" in where:
        return _in_storage(where, names or "*")
    path = Path(where).expanduser()
    if path.is_file() and path.suffix.lower() in OptunaImporter.suffixes:
        return _in_storage(path, names or "*")
    return [[experiment] for experiment in read_place(place)]


def _in_storage(place: str | Path | BaseStorage, wanted: str) -> list[list[Experiment]]:
    with opened_storage(place) as storage:
        names = get_all_study_names(storage)
        fitting = [wanted] if wanted in names else [n for n in names if fnmatchcase(n, wanted)]
        read: list[list[Experiment]] = []
        for name in fitting or [wanted]:
            with opened(storage, name) as study:
                read.append(_useful(study))
    return read


def _useful(study: Study) -> list[Experiment]:
    experiments = experiments_in(study)
    if not experiments:
        message = f"the source {study.study_name!r} has no complete trial to learn from"
        warnings.warn(message, HetboWarning, stacklevel=6)
    return experiments
