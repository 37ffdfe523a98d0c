"""Ask for parameters to try."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from optuna.storages import BaseStorage
from optuna.study import Study, load_study
from optuna.trial import FrozenTrial, Trial
from optuna.trial import TrialState as State
from rich.console import Console

from hetbo.cli.output import say, show_params, write_csv, write_json
from hetbo.cli.targets import Target, target_at
from hetbo.errors import DataError
from hetbo.experiments.optuna_distributions import distribution_of
from hetbo.optuna import TransferSampler

Form: TypeAlias = Literal["table", "json", "csv"]

_MOST_AT_ONCE = 100
_LONGEST_CHOICE = dt.timedelta(minutes=10)
"""No process needs longer to choose parameters; one that seems to was killed."""


class _Sampler(TransferSampler):
    """Remembers which trial it was asked about, so that one that got nothing can be closed."""

    number: int | None = None

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        super().before_trial(study, trial)
        self.number = trial.number


class Asker:
    """Suggests trials of a target, each stored as a running trial of its study.

    Args:
        target: The study and its plan.
    """

    def __init__(self, target: Target) -> None:
        plan = target.plan
        self._sampler = _Sampler(
            target.sources(), space=plan.space, fixed=plan.fixed, method=plan.method, seed=plan.seed
        )
        self._distributions = {name: distribution_of(p) for name, p in plan.space.items()}
        self._study = _with_sampler(target.name, target.storage, self._sampler)
        self._close_abandoned()

    def ask(self) -> Trial:
        """Return the next trial; if that fails, none is left running."""
        self._sampler.number = None
        try:
            return self._study.ask(self._distributions)
        except BaseException:
            if self._sampler.number is not None:
                self._study.tell(self._sampler.number, state=State.FAIL)
            raise

    def _close_abandoned(self) -> None:
        """Close trials of processes that were killed while they were choosing parameters."""
        now = dt.datetime.now()  # noqa: DTZ005  # Optuna's times have no zone
        for trial in self._study.get_trials(deepcopy=False, states=(State.RUNNING,)):
            began = trial.datetime_start
            chosen = trial.params.keys() >= self._distributions.keys()
            if not chosen and began is not None and now - began > _LONGEST_CHOICE:
                self._study.tell(trial.number, state=State.FAIL)


def ask(*, study: str | None, n: int, form: Form, place: str) -> None:
    """Suggest trials and print them."""
    if not 1 <= n <= _MOST_AT_ONCE:
        raise DataError(f"-n {n} must be from 1 to {_MOST_AT_ONCE}")
    asked: list[Trial] = []
    with target_at(place, study) as target:
        try:
            with Console(stderr=True).status("choosing what to try next"):
                asker = Asker(target)
                asked.extend(asker.ask() for _ in range(n))
        finally:
            if asked:  # what is stored is shown, even if a later one failed
                _show_asked(target, asked, form)


def _show_asked(target: Target, asked: Sequence[Trial], form: Form) -> None:
    names = target.plan.space.names
    rows: list[dict[str, Any]] = [{n: trial.params[n] for n in names} for trial in asked]
    match form:
        case "json":
            write_json(
                [{"id": t.number, "params": row} for t, row in zip(asked, rows, strict=True)]
            )
        case "csv":
            cells = ([t.number, *row.values()] for t, row in zip(asked, rows, strict=True))
            write_csv(["id", *names], cells)
        case _:
            show_params({t.number: row for t, row in zip(asked, rows, strict=True)})
            first = asked[0].number
            say(f"Try {'it' if len(asked) == 1 else 'them'}, then: hetbo tell {first} VALUE")
            say(f"If it cannot be measured: hetbo tell {first} --failed")


def _with_sampler(name: str, storage: BaseStorage, sampler: TransferSampler) -> Study:
    return load_study(study_name=name, storage=storage, sampler=sampler)
