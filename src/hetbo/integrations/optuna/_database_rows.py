"""Many trials of a database at once, through Optuna's tables, which are not public.

Trial by trial, as `study.add_trials` writes them, 10,000 trials take many minutes. Other storages,
and tables of another version, go Optuna's way.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from optuna.distributions import BaseDistribution, distribution_to_json, json_to_distribution
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import Select, Table, insert, select

from hetbo.integrations.optuna._storage_access import storage_of_study, study_id_of

_KNOWN_SCHEMA = 12
_TRIALS: Table = models.TrialModel.__table__
_PARAMS: Table = models.TrialParamModel.__table__
_VALUES: Table = models.TrialValueModel.__table__
_ATTRIBUTES: Table = models.TrialUserAttributeModel.__table__
_STARTED = tuple(state for state in TrialState if state is not TrialState.WAITING)


def add_trials(study: Study, trials: Sequence[FrozenTrial]) -> None:
    """Add trials to a new study: to a database in one transaction, whole or not at all."""
    storage = _database_of(study)
    if storage is None:
        study.add_trials(trials)
        return
    if not trials:
        return
    study_id = study_id_of(study)
    with _create_scoped_session(storage.scoped_session) as session:
        session.execute(
            insert(_TRIALS),
            [
                {
                    "number": number,
                    "study_id": study_id,
                    "state": trial.state,
                    "datetime_start": _utc(trial.datetime_start),
                    "datetime_complete": _utc(trial.datetime_complete),
                }
                for number, trial in enumerate(trials)
            ],
        )
        written = select(_TRIALS.c.trial_id).where(_TRIALS.c.study_id == study_id)
        ids = session.scalars(written.order_by(_TRIALS.c.number)).all()
        for table, rows in (
            (_PARAMS, _params(ids, trials)),
            (_VALUES, _values(ids, trials)),
            (_ATTRIBUTES, _attributes(ids, trials)),
        ):
            if rows:
                session.execute(insert(table), rows)


def started_trials(study: Study) -> list[FrozenTrial]:
    """Return a study's trials but those in the queue, with all that an experiment needs of them.

    That is their state, values, parameters and user attributes.
    """
    storage = _database_of(study)
    if storage is None:
        return study.get_trials(deepcopy=False, states=_STARTED)
    started = (_TRIALS.c.study_id == study_id_of(study)) & _TRIALS.c.state.in_(_STARTED)

    def rows_of(table: Table, *columns: str) -> Select[Any]:
        chosen = select(table.c.trial_id, *(table.c[column] for column in columns))
        return chosen.join(_TRIALS).where(started).order_by(*table.primary_key)

    params = defaultdict[int, dict[str, Any]](dict)
    distributions = defaultdict[int, dict[str, BaseDistribution]](dict)
    values = defaultdict[int, dict[int, float]](dict)
    attributes = defaultdict[int, dict[str, Any]](dict)
    known: dict[str, BaseDistribution] = {}
    with _create_scoped_session(storage.scoped_session) as session:
        trials = session.execute(
            select(_TRIALS.c.trial_id, _TRIALS.c.number, _TRIALS.c.state)
            .where(started)
            .order_by(_TRIALS.c.trial_id)
        ).all()
        rows = session.execute(rows_of(_PARAMS, "param_name", "param_value", "distribution_json"))
        for trial_id, name, internal, text in rows:
            if text not in known:
                known[text] = json_to_distribution(text)
            distributions[trial_id][name] = known[text]
            params[trial_id][name] = known[text].to_external_repr(internal)
        for trial_id, objective, stored, kind in session.execute(
            rows_of(_VALUES, "objective", "value", "value_type")
        ):
            value = models.TrialValueModel.stored_repr_to_value(stored, kind)
            values[trial_id][objective] = value
        for trial_id, key, text in session.execute(rows_of(_ATTRIBUTES, "key", "value_json")):
            attributes[trial_id][key] = json.loads(text)
    return [
        FrozenTrial(
            number=number,
            state=state,
            value=None,
            values=[value for _, value in sorted(values[trial_id].items())] or None,
            datetime_start=None,
            datetime_complete=None,
            params=params[trial_id],
            distributions=distributions[trial_id],
            user_attrs=attributes[trial_id],
            system_attrs={},
            intermediate_values={},
            trial_id=trial_id,
        )
        for trial_id, number, state in trials
    ]


def _database_of(study: Study) -> RDBStorage | None:
    storage = storage_of_study(study)
    if isinstance(storage, RDBStorage) and models.SCHEMA_VERSION == _KNOWN_SCHEMA:
        return storage
    return None


def _params(ids: Sequence[int], trials: Sequence[FrozenTrial]) -> list[dict[str, object]]:
    written: dict[int, str] = {}

    def as_json(distribution: BaseDistribution) -> str:
        if id(distribution) not in written:
            written[id(distribution)] = distribution_to_json(distribution)
        return written[id(distribution)]

    return [
        {
            "trial_id": trial_id,
            "param_name": name,
            "param_value": trial.distributions[name].to_internal_repr(value),
            "distribution_json": as_json(trial.distributions[name]),
        }
        for trial_id, trial in zip(ids, trials, strict=True)
        for name, value in trial.params.items()
    ]


def _values(ids: Sequence[int], trials: Sequence[FrozenTrial]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for trial_id, trial in zip(ids, trials, strict=True):
        for objective, measured in enumerate(trial.values or ()):
            value, kind = models.TrialValueModel.value_to_stored_repr(measured)
            rows.append(
                {"trial_id": trial_id, "objective": objective, "value": value, "value_type": kind}
            )
    return rows


def _attributes(ids: Sequence[int], trials: Sequence[FrozenTrial]) -> list[dict[str, object]]:
    return [
        {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
        for trial_id, trial in zip(ids, trials, strict=True)
        for key, value in trial.user_attrs.items()
    ]


def _utc(moment: datetime | None) -> datetime | None:
    """Return a local time as databases hold it."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)
