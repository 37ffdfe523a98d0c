"""What hetbo needs of Optuna that is not public, in one place.

That is `study._storage`, `study._study_id` and `trial._trial_id`: a sampler gets no other way to
what other processes can read before its trial has ended. A database's storage may stand behind a
cache, as its `_backend`. The tables of databases, no more public, are the matter of
`_database_rows` alone.
"""

import threading
from collections.abc import Mapping
from typing import Any

from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hetbo._processes import process_token
from hetbo.spaces import Value

_PROPOSAL = "hetbo:proposal"
_WORKER = "hetbo:worker"
_AHEAD = "hetbo:ahead"


def study_id_of(study: Study) -> int:
    """Return the number of a study in its storage."""
    return study._study_id  # noqa: SLF001


def storage_of_study(study: Study) -> BaseStorage:
    """Return where a study is kept, without the cache that may stand before it."""
    storage: BaseStorage = getattr(study._storage, "_backend", study._storage)  # noqa: SLF001
    return storage


def publish(study: Study, trial: FrozenTrial, proposal: Mapping[str, Value]) -> None:
    """Let all workers see what a trial is about to try, before its objective asks for it."""
    storage, number = study._storage, trial._trial_id  # noqa: SLF001
    storage.set_trial_system_attr(number, _PROPOSAL, dict(proposal))
    storage.set_trial_system_attr(number, _WORKER, worker_token())


def published(trial: FrozenTrial) -> dict[str, Value]:
    """Return what was published about a trial; nothing if it was not suggested jointly."""
    proposal = trial.system_attrs.get(_PROPOSAL)
    return dict(proposal) if isinstance(proposal, Mapping) else {}


def worker_token() -> str:
    """Return what tells this thread from all others, on any machine."""
    return f"{process_token()} {threading.get_ident()}"


def worker_of(trial: FrozenTrial) -> str | None:
    """Return the thread that began a trial; None if that is not known."""
    return trial.system_attrs.get(_WORKER)


def planned_trial(number: int, proposal: Mapping[str, Value]) -> FrozenTrial:
    """Return a trial that has been suggested, and not begun, as one that has only just begun."""
    return FrozenTrial(
        number=number,
        trial_id=-1,
        state=TrialState.RUNNING,
        value=None,
        datetime_start=None,
        datetime_complete=None,
        params={},
        distributions={},
        user_attrs={},
        system_attrs={_PROPOSAL: dict(proposal)},
        intermediate_values={},
    )


def read_ahead(study: Study) -> Any:  # noqa: ANN401
    """Return what `write_ahead` has stored; None if nothing was."""
    return study._storage.get_study_system_attrs(study._study_id).get(_AHEAD)  # noqa: SLF001


def write_ahead(study: Study, data: Any) -> None:  # noqa: ANN401
    """Store what has been chosen ahead, for all workers."""
    study._storage.set_study_system_attr(study._study_id, _AHEAD, data)  # noqa: SLF001
