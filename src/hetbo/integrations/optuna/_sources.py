"""What a sampler may learn from, read and told apart."""

import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import islice
from typing import TypeAlias

from optuna.storages import BaseStorage
from optuna.study import Study, get_all_study_names

from hetbo._sources import with_own_names
from hetbo.errors import HetboWarning, OptimizerError, shown
from hetbo.experiments import Experiment
from hetbo.integrations.optuna._storages import opened, opened_storage
from hetbo.integrations.optuna._studies import experiments_in

Source: TypeAlias = Experiment | Study | BaseStorage | tuple[str | BaseStorage, str]
"""Past experiments: one of hetbo's, an Optuna study, all studies of a storage, or a storage and the
name of a study or a pattern of names, such as 'fraud-*'."""


def read_sources(sources: Iterable[Source]) -> list[list[Experiment]]:
    """Return what each study holds, as experiments whose names differ.

    Raises:
        OptimizerError: Something is not a source.
        DataError: A source cannot be read.
    """
    if isinstance(sources, Study | Experiment | BaseStorage | str):
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
        case _:
            raise OptimizerError(
                f"{shown(source)} is not a source; give an Experiment, an Optuna study, a storage, "
                "or a pair of a storage and a study's name"
            )


def _in_storage(place: str | BaseStorage, wanted: str) -> list[list[Experiment]]:
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
