"""`hetbo tune`: this process chooses trials and keeps the books, workers evaluate them."""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from types import FrameType
from typing import TYPE_CHECKING

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as State

from hetbo.cli.commands import command
from hetbo.cli.output import say, say_command
from hetbo.cli.targets import TUNER, Target, target_at
from hetbo.cli.tune_owners import abandoned, me, of_tuner, take
from hetbo.cli.tune_table import TuneTable
from hetbo.cli.tune_worker import (
    Done,
    Failed,
    Message,
    Printed,
    Ready,
    Unusable,
    Worker,
    parsed_function,
)
from hetbo.errors import DataError, HetboError
from hetbo.spaces import Value

if TYPE_CHECKING:
    from hetbo.cli.asker import Asker

_REASON = "hetbo:reason"
_MOST_WORKERS = 256
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True, slots=True)
class _Job:
    """A trial under way."""

    number: int
    params: Mapping[str, Value]


@dataclass(slots=True)
class _Run:
    """One run of the command."""

    target: Target
    asker: "Asker"
    table: TuneTable
    function: str
    total: int
    most_failures: int
    resumed: list[FrozenTrial]
    idle: list[Worker] = field(default_factory=list)
    starting: list[Worker] = field(default_factory=list)
    busy: dict[int, tuple[Worker, _Job]] = field(default_factory=dict)
    failures: int = 0

    def go(self, stop: threading.Event, workers: int) -> None:
        """Evaluate trials until there are enough."""
        for _ in range(workers):
            self._hire()
        try:
            self._await_one(stop)
            while not stop.is_set() and (self._assign(stop) or self.busy):
                self._listen()
        finally:
            for worker in self._workers():
                worker.stop()

    def _workers(self) -> list[Worker]:
        return [*self.idle, *self.starting, *(worker for worker, _ in self.busy.values())]

    def _hire(self) -> None:
        self.starting.append(Worker(self.function, self.target.plan.space.names))

    def _await_one(self, stop: threading.Event) -> None:
        """Wait until the function is known to be there, before a trial is chosen."""
        while not self.idle and not stop.is_set():
            self._listen()

    def _assign(self, stop: threading.Event) -> bool:
        """Give trials to idle workers; return whether one more could begin at once or soon."""
        while self.idle and not stop.is_set():
            job = self._next()
            if job is None:
                return False
            worker = self.idle.pop()
            self.busy[job.number] = worker, job
            self.table.begin(job.number, job.params)
            worker.run(job.params)
        return bool(self.starting)

    def _next(self) -> _Job | None:
        if self.resumed:
            again = self.resumed.pop(0)
            take(self.target.study, again.number)
            return _Job(again.number, again.params)
        if len(self.target.trials()) >= self.total:
            return None
        trial = self.asker.ask()
        trial.set_user_attr(TUNER, me())
        return _Job(trial.number, trial.params)

    def _listen(self) -> None:
        """Take the messages of all workers that have one."""
        by_connection = {worker.connection: worker for worker in self._workers()}
        for connection in wait(list(by_connection), timeout=_SECONDS_BETWEEN_LOOKS):
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
                raise DataError(f"a worker could not start: {reason}")
            case Done(value) if job is not None:
                self._end(worker, job, value, None)
            case Failed(reason) if job is not None:
                self._end(worker, job, None, reason)
            case _:
                raise HetboError(f"a worker sent {message!r} out of turn")

    def _end(self, worker: Worker, job: _Job, value: float | None, reason: str | None) -> None:
        del self.busy[job.number]
        if worker.alive:
            self.idle.append(worker)
        else:
            worker.stop()
            self._hire()
        state = State.FAIL if value is None else State.COMPLETE
        try:
            if reason is not None:
                self.target.set_trial_attr(job.number, _REASON, reason)
            self.target.study.tell(job.number, value, state=state)
        except (ValueError, UpdateFinishedTrialError):
            self.table.printed(job.number, "was told by somebody else meanwhile; that stays")
        self.table.end(job.number, value, reason)
        self.failures = self.failures + 1 if value is None else 0
        if self.failures >= self.most_failures:
            raise HetboError(
                f"{self.failures} trials in a row failed, so the run stops; the last, trial "
                f"{job.number}: {reason}. Mend the function and run the same command again"
            )


def tune(
    function: str,
    *,
    study: str | None,
    trials: int,
    workers: int,
    most_failures: int,
    take_over: bool,
    place: str,
) -> None:
    """Evaluate a function until a study has enough trials."""
    if not 1 <= workers <= _MOST_WORKERS:
        raise DataError(f"--workers {workers} must be from 1 to {_MOST_WORKERS}")
    for option, count in {"--trials": trials, "--max-failures": most_failures}.items():
        if count < 1:
            raise DataError(f"{option} {count} must be at least 1")
    parsed_function(function)
    with target_at(place, study) as target, _stop_on_ctrl_c() as stop:
        running = [t for t in target.trials() if t.state is State.RUNNING]
        resumed = [t for t in running if abandoned(target.study, t) or (take_over and of_tuner(t))]
        if resumed:
            say(f"Goes on with what was stopped: {_listed(resumed)}.")
        best, known = target.best(), target.trials()
        table = TuneTable(
            trials,
            sum(trial.state.is_finished() for trial in known),
            target.plan.goal,
            None if best is None or best.value is None else (best.value, best.number),
        )
        if resumed or len(known) < trials:
            sources = target.sources()
            from hetbo.cli.asker import Asker  # noqa: PLC0415  # loads PyTorch

            asker = Asker(target, sources)
            run = _Run(target, asker, table, function, trials, most_failures, resumed)
            with table:
                run.go(stop, workers)
        _conclude(target, trials, stopped=stop.is_set(), study=study, place=place)


def _conclude(target: Target, total: int, *, stopped: bool, study: str | None, place: str) -> None:
    running = [t for t in target.trials() if t.state is State.RUNNING]
    best = target.best()
    if best is not None:
        show = command("best", study=study, place=place)
        say_command(f"best {target.plan.value}: {best.value:.6g} in trial {best.number} ({show})")
    if stopped:
        own = [trial for trial in running if of_tuner(trial)]
        if own:
            was, them = ("was", "it") if len(own) == 1 else ("were", "them")
            say(f"Under way {was} {_listed(own)}; the same command runs {them} again.")
        raise KeyboardInterrupt
    ended = sum(trial.state.is_finished() for trial in target.trials())
    say(f"{ended} of {total} trials have ended.")
    if running:
        give_up = command("tell", str(running[0].number), "--failed", study=study, place=place)
        say(_left_open(running))
        say_command(f"If nobody works on {running[0].number} any more, give it up: {give_up}")


@contextmanager
def _stop_on_ctrl_c() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event, so that nothing is cut off while it is stored."""
    stop = threading.Event()

    def handle(signal_number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            signal.default_int_handler(signal_number, frame)
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _left_open(running: list[FrozenTrial]) -> str:
    which = _listed(running).capitalize()
    if len(running) == 1:
        return (
            f"{which} still runs elsewhere or waits to be told. "
            "If its process is gone, --take-over runs it again."
        )
    return (
        f"{which} still run elsewhere or wait to be told. "
        "If their processes are gone, --take-over runs them again."
    )


def _listed(trials: list[FrozenTrial]) -> str:
    numbers = ", ".join(str(trial.number) for trial in trials)
    return f"trial {numbers}" if len(trials) == 1 else f"trials {numbers}"
