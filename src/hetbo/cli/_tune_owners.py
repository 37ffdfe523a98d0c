"""Which `hetbo tune` runs a trial, whether it is still there, and who may go on with it."""

import datetime as dt
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as State

from hetbo._processes import is_alive, process_token
from hetbo.cli._backoff import UnavailableError
from hetbo.cli._target import TUNER, Target

_LONGEST_CHOICE = dt.timedelta(minutes=10)
"""No process needs longer to choose parameters; one that seems to was killed."""
_LONGEST_CLAIM = 2.0
_SECONDS_TO_SETTLE = 2.5


def started_by_tune(trial: FrozenTrial) -> bool:
    """Return whether a `hetbo tune` began a trial, on any machine.

    Trials that people asked for belong to nobody, and wait for them.
    """
    return TUNER in trial.user_attrs


def is_ours(trial: FrozenTrial) -> bool:
    """Return whether a trial is open and belongs to this process."""
    return trial.state is State.RUNNING and trial.user_attrs.get(TUNER) == process_token()


def abandoned(trial: FrozenTrial) -> bool:
    """Return whether a running trial belongs to a `hetbo tune` on this machine that is gone."""
    return _owner_lives(trial) is False


def resumable(target: Target, *, take_over: bool) -> list[FrozenTrial]:
    """Return the open trials that can be run again.

    Args:
        target: The study and its plan.
        take_over: Whether to count those that a `hetbo tune` runs on another machine, which nobody
            can look at from here.
    """
    return [
        trial
        for trial in target.trials()
        if trial.state is State.RUNNING
        and started_by_tune(trial)
        and (abandoned(trial) or (take_over and _owner_lives(trial) is None))
    ]


def close_unfinished(target: Target) -> None:
    """Close trials of processes that were killed while they were choosing parameters."""
    now = dt.datetime.now()  # noqa: DTZ005  # Optuna's times have no zone
    for trial in target.study.get_trials(deepcopy=False, states=(State.RUNNING,)):
        began = trial.datetime_start
        if trial.params.keys() >= target.plan.space.keys():
            continue
        if abandoned(trial) or (began is not None and now - began > _LONGEST_CHOICE):
            target.tell(trial.number, None)


@dataclass(frozen=True, slots=True)
class Claims:
    """Trials that this process takes over, of which exactly one of several processes gets each.

    Optuna's storages cannot set an attribute on condition that it still has its old value, so this
    is Fischer's algorithm: read that the trial still has its old owner, write one's own name, wait
    for longer than any process may take from such a read to the end of such a write, and read
    again. Whoever finds its own name then has the trial. Another one that writes later must have
    read before the name was there; so it is late, and gives up. Whoever wrote earlier finds the
    other name. Only durations are measured: the clocks of machines need not agree.

    Attributes:
        target: The study.
        numbers: The trials that were claimed in time.
        late: The trials that were not, because the storage was too slow.
        settled: When to read again, by `time.monotonic`.
    """

    target: Target
    numbers: tuple[int, ...]
    late: tuple[int, ...]
    settled: float

    @classmethod
    def write(cls, target: Target, trials: Iterable[FrozenTrial]) -> Self:
        """Write this process's name into trials that still have the owner they had."""
        token = process_token()
        numbers, late = list[int](), list[int]()
        for old in trials:
            began = time.monotonic()
            try:
                now = target.trial(old.number)
                if now.user_attrs[TUNER] != old.user_attrs[TUNER]:
                    continue
                target.set_trial_attr(old.number, TUNER, token)
            except UpdateFinishedTrialError:
                continue
            except UnavailableError:
                late.append(old.number)
                continue
            in_time = time.monotonic() - began <= _LONGEST_CLAIM
            (numbers if in_time else late).append(old.number)
        settled = time.monotonic() + _SECONDS_TO_SETTLE
        return cls(target, tuple(numbers), tuple(late), settled)

    def won(self, stop: threading.Event) -> list[FrozenTrial]:
        """Wait until the claims have settled, unless stopped; return the trials that are ours."""
        if self.numbers:
            stop.wait(max(0.0, self.settled - time.monotonic()))
        if stop.is_set():
            return []
        return [trial for trial in map(self.target.trial, self.numbers) if is_ours(trial)]


def _owner_lives(trial: FrozenTrial) -> bool | None:
    """Return whether the process that runs a trial is there; None if that cannot be known."""
    return is_alive(str(trial.user_attrs.get(TUNER)))
