"""How far a long run is: a live bar on a terminal, a line now and then elsewhere."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hetbo.errors import duration

if TYPE_CHECKING:
    from hetbo_bench.running.runner import Failure
    from hetbo_bench.running.runs import Run

_QUIET_SECONDS = 30.0


class RunProgress:
    """Shows how many replications are finished, and about how long the rest will take.

    Args:
        total: How many replications there are.
        done: How many of them were finished before.
        console: Where to write; standard error if None.
    """

    def __init__(self, total: int, *, done: int, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._total, self._before, self._done, self._failed = total, done, done, 0
        self._began = self._told = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            transient=False,
        )
        self._task = self._bar.add_task("replications", total=total, completed=done, left="")

    def __enter__(self) -> Self:
        if self._before:
            self._console.print(f"{self._before} of {self._total} replications were done before")
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()
        else:
            self._tell()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._console.print("What is finished is kept; the same command goes on with the rest.")

    def finished(self, what: "Run | Failure") -> None:
        """Take note of a replication that is finished, or failed."""
        self._done += 1
        reason = getattr(what, "reason", None)
        if reason is not None:
            self._failed += 1
            self._console.print(f"failed: {what.job}: {reason}", markup=False)
        last = f"{what.job.problem} {what.job.method} {what.job.replication}"
        self._bar.update(self._task, completed=self._done, description=last, left=self._time_left())
        now = time.monotonic()
        if not self._console.is_terminal and now - self._told > _QUIET_SECONDS:
            self._told = now
            self._tell()

    def _tell(self) -> None:
        failed = f", {self._failed} failed" if self._failed else ""
        self._console.print(
            f"{self._done} of {self._total} replications{failed}, {self._time_left()}"
        )

    def _time_left(self) -> str:
        fresh = self._done - self._before
        if self._done == self._total:
            return "nothing left"
        if not fresh:
            return "no estimate of the time left yet"
        seconds = (time.monotonic() - self._began) / fresh * (self._total - self._done)
        return f"about {duration(seconds)} left"
