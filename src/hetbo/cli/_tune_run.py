"""One run of `hetbo tune`: workers evaluate, this process chooses and stores."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from hetbo.cli._backoff import Patience
from hetbo.cli._target import Target
from hetbo.cli._tune_outcomes import Outcome
from hetbo.cli._tune_owners import is_ours
from hetbo.cli._tune_table import TuneTable
from hetbo.cli._tune_worker import Done, Failed, Message, Printed, Ready, Unusable, Worker
from hetbo.errors import DataError, HetboError
from hetbo.spaces import Value

if TYPE_CHECKING:
    from hetbo.cli._suggester import Suggester
    from hetbo.cli._tune_ahead import ChoosesAhead

_SECONDS_BETWEEN_LOOKS = 0.2
_STARTS_PER_WORKER = 3


@dataclass(frozen=True, slots=True)
class Job:
    """A trial to run."""

    number: int
    params: Mapping[str, Value]


@dataclass(slots=True)
class Run:
    """One run of the command.

    Attributes:
        place: The storage.
        target: The study.
        suggester: Chooses new trials.
        table: Shows how the run is going.
        patience: Bears with a storage that does not answer.
        function: The function, as `module:function`.
        total: How many trials the study should have in the end.
        workers: How many trials to run at once.
        most_failures: How many failures in a row end the run.
        stop: Set when the run is to end early.
        jobs: Trials of this process that wait for a worker.
        idle: Workers that have nothing to do.
        starting: Workers that are importing the function.
        busy: Workers and what they run, by the numbers of the trials.
        ended: What came of trials and is not stored yet, the oldest first.
        failures: How many trials have failed in a row.
        lost: How many workers in a row ended before they could run a trial.
        ahead: Chooses trials while others run; None if one worker waits for each choice.
    """

    place: str
    target: Target
    suggester: "Suggester"
    table: TuneTable
    patience: Patience
    function: str
    total: int
    workers: int
    most_failures: int
    stop: threading.Event
    jobs: list[Job]
    idle: list[Worker] = field(default_factory=list)
    starting: list[Worker] = field(default_factory=list)
    busy: dict[int, tuple[Worker, Job]] = field(default_factory=dict)
    ended: list[Outcome] = field(default_factory=list)
    failures: int = 0
    lost: int = 0
    ahead: "ChoosesAhead | None" = None

    def go(self) -> None:
        """Evaluate trials until there are enough."""
        from hetbo.cli._tune_ahead import ChoosesAhead

        for _ in range(self.workers):
            self._hire()
        try:
            if self.workers > 1:
                self.ahead = ChoosesAhead(self.place, self.target.name, self.table.note)
            self._await_one()
            while not self.stop.is_set() and self._continues():
                self._listen()
        finally:
            for worker in self._all_workers():
                worker.stop()
            if self.ahead is not None:
                self.ahead.stop()

    def store_next(self) -> Outcome:
        """Store what came of the trial that ended first of those that are not stored yet."""
        outcome = self.ended[0]
        if not outcome.store(self.target):
            best = self.target.best()
            known = None if best is None or best.value is None else (best.value, best.number)
            self.table.correct(outcome.number, known)
        return self.ended.pop(0)

    def _all_workers(self) -> list[Worker]:
        return [*self.idle, *self.starting, *(worker for worker, _ in self.busy.values())]

    def _hire(self) -> None:
        self.starting.append(Worker(self.function, self.target.plan.space.names))

    def _await_one(self) -> None:
        """Wait until the function is known to be there, before a trial is chosen."""
        while not self.idle and not self.stop.is_set():
            self._listen()

    def _continues(self) -> bool:
        """Store what has ended and begin what can begin; return whether there is more to do.

        If the storage does not answer, both are done later. Evaluations go on meanwhile; as long as
        there are any, giving up would only lose what they are about to find.
        """
        more = True
        if self.patience.due:
            with self.patience.attempt(endless=bool(self.busy)):
                while self.ended:
                    self._count(self.store_next())
                more = self._assign()
        return more or bool(self.busy) or bool(self.ended)

    def _count(self, outcome: Outcome) -> None:
        self.failures = self.failures + 1 if outcome.value is None else 0
        if self.failures >= self.most_failures:
            raise HetboError(
                f"{self.failures} trials in a row failed, so the run stops; the last, trial "
                f"{outcome.number}: {outcome.reason}. Fix the function and run the same command "
                "again"
            )

    def _assign(self) -> bool:
        """Give trials to idle workers; return whether one more could begin at once or soon."""
        while self.idle and not self.stop.is_set():
            job = self._stopped_before()
            if job is None:
                left = self.total - len(self.target.trials())
                if left <= 0:
                    return False
                if not self._is_chosen(left):
                    return True
                trial = self.suggester.ask()
                job = Job(trial.number, trial.params)
            worker = self.idle.pop()
            if worker.run(job.params):
                self.busy[job.number] = worker, job
                self.table.begin(job.number, job.params)
            else:
                self.jobs.insert(0, job)
                self._replace(worker, "it was killed while it waited for a trial")
        return bool(self.starting)

    def _stopped_before(self) -> Job | None:
        """Return a trial that an earlier run has left, if it is still ours."""
        while self.jobs:
            ours = is_ours(self.target.trial(self.jobs[0].number))
            job = self.jobs.pop(0)
            if ours:
                return job
            self.table.note(f"trial {job.number}: another process told it or took it over")
        return None

    def _is_chosen(self, left: int) -> bool:
        """Return whether the next trial can begin without waiting; have those after it chosen."""
        if self.ahead is None:
            return True
        chosen = self.suggester.chosen_ahead
        idle = max(0, min(left, len(self.idle)) - chosen)
        self.ahead.want(workers=min(left, self.workers), idle=idle)
        return chosen > 0

    def _listen(self) -> None:
        """Take the messages of all workers that have one."""
        by_connection = {worker.connection: worker for worker in self._all_workers()}
        ahead = [] if self.ahead is None else [self.ahead.connection]
        for connection in wait([*by_connection, *ahead], timeout=_SECONDS_BETWEEN_LOOKS):
            if self.ahead is not None and connection in ahead:
                self.ahead.receive()
                continue
            worker = next(w for c, w in by_connection.items() if c is connection)
            self._hear(worker, worker.receive())

    def _hear(self, worker: Worker, message: Message) -> None:
        job = next((job for busy, job in self.busy.values() if busy is worker), None)
        match message:
            case Printed(line):
                self.table.printed(None if job is None else job.number, line)
            case Ready():
                self.starting.remove(worker)
                self.idle.append(worker)
            case Unusable(reason):
                raise DataError(reason)
            case Failed(reason) if job is None:
                (self.idle if worker in self.idle else self.starting).remove(worker)
                self._replace(worker, reason)
            case Done(value) if job is not None:
                self._end(worker, job, value, None)
            case Failed() if self.stop.is_set() and not worker.alive:
                pass  # it was asked to end as this process was; the trial is still under way
            case Failed(reason) if job is not None:
                self._end(worker, job, None, reason)
            case _:
                raise HetboError(f"a worker sent {message!r} out of turn")

    def _replace(self, worker: Worker, reason: str) -> None:
        """Hire another worker for one that ended before it could run a trial."""
        worker.stop()
        self.lost += 1
        if self.lost >= _STARTS_PER_WORKER * self.workers:
            raise HetboError(
                f"{self.lost} workers in a row ended before they could run a trial; of the last: "
                f"{reason}. Check that the module of {self.function!r} can be imported by "
                f"{self.workers} processes at once, and that memory suffices"
            )
        self._hire()

    def _end(self, worker: Worker, job: Job, value: float | None, reason: str | None) -> None:
        del self.busy[job.number]
        self.lost = 0
        self.ended.append(Outcome(job.number, job.params, value, reason))
        # Shown before it is stored: should the storage fail now, the value can still be read.
        self.table.end(job.number, value, reason)
        if worker.alive:
            self.idle.append(worker)
        else:
            worker.stop()
            self._hire()
