"""Storages as a whole: the experiments in all studies whose names fit."""

from collections.abc import Callable, Iterator
from pathlib import Path

from optuna.storages import BaseStorage
from optuna.study import Study, get_all_study_names, load_study

from hetbo.errors import DataError, HetboError, shown
from hetbo.experiments import Experiment
from hetbo.integrations.optuna._storages import check_one_objective, opened_storage
from hetbo.integrations.optuna._studies import experiments_in

_MOST_LISTED = 8


def studies_at(
    place: str | Path | BaseStorage, wants: Callable[[str], bool]
) -> Iterator[tuple[str, Experiment | DataError]]:
    """Yield the experiments in a storage's studies, each with its study's name.

    For a study that cannot be used the error is yielded.

    Args:
        place: The storage: a file, a URL, or the storage itself.
        wants: Whether a study of a name is asked for.

    Raises:
        DataError: There is no such storage, or no such study in it.
    """
    with opened_storage(place) as storage:
        names = get_all_study_names(storage)
        wanted = [name for name in names if wants(name)]
        if not wanted:
            known = ", ".join(map(shown, names[:_MOST_LISTED])) or "none"
            more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
            raise DataError(f"no study has such a name; there are: {known}{more}")
        for name in wanted:
            try:
                study = load_study(study_name=name, storage=storage)
                for experiment in experiments_to_learn_from(study):
                    yield name, experiment
            except HetboError as error:
                yield name, DataError(str(error))


def experiments_to_learn_from(study: Study) -> list[Experiment]:
    """Return the experiments in a study.

    Raises:
        DataError: It has several objectives, no complete trial, or was not written to the end.
    """
    check_one_objective(study)
    found = experiments_in(study)
    if not any(experiment.complete for experiment in found):
        raise DataError(f"the source {shown(study.study_name)} has no complete trial to learn from")
    return found
