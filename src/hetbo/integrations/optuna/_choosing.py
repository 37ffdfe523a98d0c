"""Who chooses for which trials, where several workers share a study.

A worker that is alone chooses for its trial from all that is known by then. Of several, one chooses
at a time, and does so for those that wait for it and for those that will begin meanwhile as well:
it says for which trials, chooses them as one batch (each suggestion counts as pending for the
next), and keeps them with the study. How many trials begin meanwhile follows from how long choosing
and trials take; if trials take long there is none, and each is chosen when it begins.
"""

import datetime as dt
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hetbo._processes import is_alive
from hetbo.integrations.optuna._ahead import Ahead, Batch
from hetbo.integrations.optuna._distributions import Translation
from hetbo.integrations.optuna._storage_access import (
    planned_trial,
    published,
    worker_of,
    worker_token,
)
from hetbo.integrations.optuna._suggester import COLD, Suggester
from hetbo.methods import WarmStarts
from hetbo.spaces import Value

_STATES = tuple(state for state in TrialState if state is not TrialState.WAITING)
_MOST_ROUNDS = 3
_SECONDS_TO_SETTLE = 0.05
"""Who announced something at the same time is seen after that."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5
_LONGEST_WAIT = 30.0
"""Whoever has not chosen for others by then has been killed on another machine."""
_LONGEST_START = dt.timedelta(seconds=10)
"""A trial that has nothing to try by then was left by a process that was killed."""
_RECENT = 20
_RARE = 0.25
"""If fewer trials than this begin while one is chosen, each is chosen when it begins."""


@dataclass(slots=True)
class Chooser:
    """Chooses for trials, together with the other workers of a study.

    Attributes:
        suggester: Makes the suggestions.
        helps: Whether to choose for the trials of other workers, too.
        seconds: How long it took to choose the last time; 0 if that has not happened yet.
    """

    suggester: Suggester
    helps: bool = True
    seconds: float = 0.0

    def prepared(
        self, study: Study, trial: FrozenTrial, space: Mapping[str, Translation]
    ) -> dict[str, Value] | None:
        """Return what has been chosen for a trial; None if nothing has, or nothing that fits."""
        proposal = Ahead.read(study).proposal(trial.number)
        if proposal is None or not self._fits(
            trial.number, proposal, begun(study, without=trial), space
        ):
            return None
        return proposal

    def choose(
        self, study: Study, trial: FrozenTrial, space: Mapping[str, Translation]
    ) -> dict[str, Value]:
        """Return what a trial should try, chosen here, or by another worker that does it now."""
        gives_up = time.monotonic() + _LONGEST_WAIT
        while True:
            ahead, others = Ahead.read(study), begun(study, without=trial)
            proposal = ahead.proposal(trial.number)
            fits = proposal is not None and self._fits(trial.number, proposal, others, space)
            if proposal is not None and fits:
                return proposal
            if not _are_others(others) and not _is_busy(ahead):
                only = range(trial.number, trial.number + 1)
                return self._choose(study, only, space, COLD)[0][0]
            waits = _is_busy(ahead) or _is_just_chosen(trial.number, others)
            if proposal is not None or not waits or time.monotonic() > gives_up:
                numbers = self._numbers(trial.number, ahead, others)
                proposals = self._choose_ahead(study, numbers, space)
                if proposals:
                    return proposals[0]
            time.sleep(min(max(_SHORTEST_PAUSE, ahead.seconds / 4), _LONGEST_PAUSE))

    def _numbers(self, number: int, ahead: Ahead, others: Sequence[FrozenTrial]) -> range:
        """Return for which trials to choose: one, those that wait, and those that begin soon."""
        if not self.helps:
            return range(number, number + 1)
        more = self._begin_meanwhile(ahead, others, workers=_workers(others) + 1)
        last = max([number, *_waiting(others)])
        return range(number, max(last, number + more) + 1)

    def choose_for_others(self, study: Study, space: Mapping[str, Translation]) -> None:
        """Choose for those that begin next, if there are others, and nobody does it."""
        trials = begun(study)
        if _are_others(trials):
            self._choose_next(study, trials, space, workers=_workers(trials) + 1, idle=0)

    def choose_next(
        self, study: Study, space: Mapping[str, Translation], *, workers: int, idle: int = 0
    ) -> None:
        """Choose for those that begin next, unless somebody does it.

        Args:
            study: The study.
            space: What is suggested together.
            workers: How many trials run at once.
            idle: How many trials could begin now.
        """
        self._choose_next(study, begun(study), space, workers=workers, idle=idle)

    def _choose_next(
        self,
        study: Study,
        trials: Sequence[FrozenTrial],
        space: Mapping[str, Translation],
        *,
        workers: int,
        idle: int,
    ) -> None:
        ahead, first = Ahead.read(study), next_number(trials)
        wanted = max(idle, self._begin_meanwhile(ahead, trials, workers=workers))
        free = ahead.next_free(first)
        if free - first < wanted and not _is_busy(ahead):
            self._choose_ahead(study, range(free, free + wanted), space)

    def prepared_next(self, study: Study) -> int:
        """Return for how many of the trials that begin next something has been chosen."""
        first, ahead = next_number(begun(study)), Ahead.read(study)
        return len(ahead.planned(range(first, ahead.next_free(first))))

    def _choose_ahead(
        self, study: Study, numbers: range, space: Mapping[str, Translation]
    ) -> list[dict[str, Value]]:
        """Choose for several trials, and let all workers know before and after that.

        Returns:
            What these trials should try; nothing if another worker was about to choose as well.
        """
        batch = Batch(numbers.start, len(numbers), worker_token())
        Ahead.read(study).with_batch(batch).write(study)
        time.sleep(_SECONDS_TO_SETTLE)
        ahead = Ahead.read(study)
        if batch not in ahead.batches:  # another worker has written at the same time, and later
            return []
        try:
            proposals, warm_starts = self._choose(study, numbers, space, ahead.warm_starts, 1)
        except BaseException:
            Ahead.read(study).without(batch).write(study)
            raise
        chosen = Ahead.read(study).with_batch(replace(batch, proposals=tuple(proposals)))
        replace(chosen, warm_starts=warm_starts, seconds=self.seconds).write(study)
        return proposals

    def _choose(
        self,
        study: Study,
        numbers: range,
        space: Mapping[str, Translation],
        warm_starts: WarmStarts,
        most_rounds: int = _MOST_ROUNDS,
    ) -> tuple[list[dict[str, Value]], WarmStarts]:
        """Return proposals; choose again if others have proposed something meanwhile."""
        began, seen = time.monotonic(), None
        proposals = list[dict[str, Value]]()
        for _ in range(most_rounds):
            trials = [trial for trial in begun(study) if trial.number not in numbers]
            trials += Ahead.read(study).planned(range(next_number(trials), numbers.start))
            target = self.suggester.target(trials, space)
            history = target.history(trials)
            if seen is not None and history.pending <= seen:
                break
            seen = history.pending
            proposals, warm_starts = self.suggester.suggest(
                study,
                numbers,
                np.random.default_rng([self.suggester.seed, numbers.start]),
                target=target,
                history=history,
                warm_starts=warm_starts,
            )
        self.seconds = time.monotonic() - began
        return proposals, warm_starts

    def _begin_meanwhile(self, ahead: Ahead, trials: Sequence[FrozenTrial], *, workers: int) -> int:
        """Return how many trials begin while one process chooses; 0 if hardly any does."""
        took = [t.duration.total_seconds() for t in trials if t.duration is not None][-_RECENT:]
        if not took or workers == 1:
            return 0
        seconds = self.seconds or ahead.seconds
        expected = workers * seconds / max(statistics.median(took), 1e-3)
        # Trials end when they end: now and then twice as many as expected do.
        return 0 if expected < _RARE else min(workers, math.ceil(2 * expected))

    def _fits(
        self,
        number: int,
        proposal: Mapping[str, Value],
        others: Sequence[FrozenTrial],
        space: Mapping[str, Translation],
    ) -> bool:
        """Return whether a proposal is a point of the space that nobody has tried."""
        target = self.suggester.target(others, space)
        planned = target.history([planned_trial(number, proposal)]).own
        tried = [own.params for own in target.history(others).own]
        return bool(planned) and planned[0].params not in tried


def begun(study: Study, *, without: FrozenTrial | None = None) -> list[FrozenTrial]:
    """Return a study's trials that have begun, ended ones included, and perhaps without one."""
    trials = study.get_trials(deepcopy=False, states=_STATES)
    return [trial for trial in trials if without is None or trial.number != without.number]


def next_number(trials: Sequence[FrozenTrial]) -> int:
    """Return the number of the trial that begins next."""
    return max((trial.number for trial in trials), default=-1) + 1


def _workers(trials: Sequence[FrozenTrial]) -> int:
    """Return how many workers beside this one are known to have a trial under way."""
    found = {worker_of(trial) for trial in trials if trial.state is TrialState.RUNNING}
    return len(found - {None, worker_token()})


def _waiting(trials: Sequence[FrozenTrial]) -> list[int]:
    """Return the trials that have begun, and do not have what they should try."""
    running = (trial for trial in trials if trial.state is TrialState.RUNNING)
    return [trial.number for trial in running if not published(trial) and not trial.params]


def _is_just_chosen(number: int, others: Sequence[FrozenTrial]) -> bool:
    """Return whether a trial that began just before one is still being chosen, by itself."""
    since = dt.datetime.now() - _LONGEST_START  # noqa: DTZ005  # Optuna's times have no zone
    waiting = set(_waiting(others))
    return any(
        trial.number < number and trial.datetime_start is not None and trial.datetime_start > since
        for trial in others
        if trial.number in waiting
    )


def _are_others(trials: Sequence[FrozenTrial]) -> bool:
    return bool(_workers(trials) or _waiting(trials))


def _is_busy(ahead: Ahead) -> bool:
    """Return whether another worker is choosing, as far as can be known."""
    choosing = {batch.by for batch in ahead.batches if not batch.proposals} - {worker_token()}
    return any(is_alive(by.rpartition(" ")[0]) is not False for by in choosing)
