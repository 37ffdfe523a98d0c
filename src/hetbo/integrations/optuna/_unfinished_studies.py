"""Studies that hetbo is writing, or whose writing was cut off by a full disk or a kill."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from optuna.exceptions import DuplicatedStudyError, StorageInternalError
from optuna.storages import BaseStorage
from optuna.study import Study, create_study, delete_study
from sqlalchemy.exc import SQLAlchemyError

from hetbo._processes import is_alive, process_token
from hetbo.errors import DataError, HetboError, HetboWarning, shown
from hetbo.experiments import Goal

EXPERIMENT = "hetbo:experiment"
"""The user attribute of a study that holds what Optuna has no place for, or who is writing it."""
_WRITER = "written by"
_SECONDS_TO_BEGIN = 1.0
"""A process that has made a study says within this time that it writes it."""


def check_finished(study: Study) -> object:
    """Check that a study was written to the end; return what it says of its experiment, if it does.

    Raises:
        DataError: It was not, or not yet.
    """
    attributes = study.user_attrs
    if _writer(attributes) is not None:
        raise DataError(
            f"the study {shown(study.study_name)} was not written to the end; write it again "
            "under the same name ('hetbo import', 'hetbo init' or to_optuna), which starts over"
        )
    return attributes.get(EXPERIMENT)


def is_finished(user_attrs: dict[str, object]) -> bool:
    """Return whether a study with these attributes was written to the end."""
    return _writer(user_attrs) is None


def is_left(storage: BaseStorage, name: str) -> bool:
    """Return whether there is a study that a process began to write, and left.

    Raises:
        DataError: It is just being written.
    """
    try:
        study_id = storage.get_study_id_from_name(name)
    except KeyError:
        return False
    writer = _writer(storage.get_study_user_attrs(study_id))
    if writer is None:
        return False
    if writer != process_token() and is_alive(writer) is not False:
        raise DataError(
            f"the study {shown(name)} is being written by another process ({writer}); wait for "
            "it, choose another name, or, if it is gone, delete the study with 'optuna "
            "delete-study'"
        )
    return True


def is_bare(storage: BaseStorage, name: str) -> bool:
    """Return whether there is a study with nothing in it, as a kill right at the start leaves."""
    for seconds in (_SECONDS_TO_BEGIN, 0.0):
        try:
            study_id = storage.get_study_id_from_name(name)
        except KeyError:
            return False
        attributes = storage.get_study_user_attrs(study_id)
        if attributes or storage.get_study_system_attrs(study_id) or storage.get_n_trials(study_id):
            return False
        time.sleep(seconds)
    return True


@contextmanager
def writing(storage: BaseStorage, name: str, goal: Goal) -> Iterator[Study]:
    """Make a study, which is unfinished until its attribute `EXPERIMENT` is set.

    If the block fails the study is deleted again; if that fails as well it stays unfinished.

    Raises:
        DataError: There is a study of that name.
    """
    study = _made(storage, name, goal)
    try:
        study.set_user_attr(EXPERIMENT, {_WRITER: process_token()})
        yield study
    except BaseException:
        with suppress(KeyError, OSError, SQLAlchemyError, StorageInternalError, HetboError):
            delete_study(study_name=name, storage=storage)
        raise


def _made(storage: BaseStorage, name: str, goal: Goal) -> Study:
    if is_left(storage, name):
        delete_study(study_name=name, storage=storage)
        message = f"the study {shown(name)} had not been written to the end and is written anew"
        warnings.warn(message, HetboWarning, stacklevel=6)
    try:
        return create_study(storage=storage, study_name=name, direction=goal.value)
    except DuplicatedStudyError:
        raise DataError(
            f"there is a study called {shown(name)} already; choose another study_name="
        ) from None


def _writer(user_attrs: dict[str, object]) -> str | None:
    described = user_attrs.get(EXPERIMENT)
    return described.get(_WRITER) if isinstance(described, dict) else None
