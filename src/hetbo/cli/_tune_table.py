"""How a run of `hetbo tune` is going: a live table on a terminal, a line per trial elsewhere."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from hetbo.cli._output import table_of
from hetbo.errors import duration, printable
from hetbo.experiments import Goal
from hetbo.spaces import Value

_MOST_SHOWN = 5


class TuneTable:
    """Shows what runs, what ended last, and the best.

    Args:
        total: How many trials the study should have in the end.
        ended: How many have ended before.
        goal: Which way is better.
        best: The best value so far and its trial's number, if there is one.
        console: Where to write; standard error if None.
    """

    def __init__(
        self,
        total: int,
        ended: int,
        goal: Goal,
        best: tuple[float, int] | None,
        console: Console | None = None,
    ) -> None:
        self._console = Console(stderr=True, highlight=False) if console is None else console
        self._total, self._ended, self._failed = total, ended, 0
        self._goal, self._best = goal, best
        self._running: dict[int, tuple[float, Mapping[str, Value]]] = {}
        self._last: list[tuple[int, float | str]] = []
        self._live = Live(get_renderable=self._render, console=self._console, refresh_per_second=4)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def begin(self, number: int, params: Mapping[str, Value]) -> None:
        """Take note that a trial runs."""
        self._running[number] = time.monotonic(), params

    def printed(self, number: int | None, line: str) -> None:
        """Show a line that the user's function printed."""
        who = "" if number is None else f"trial {number}: "
        self.note(f"{who}{line}")

    def note(self, line: str) -> None:
        """Show a line above the table."""
        self._console.print(Text(printable(line)), soft_wrap=True)

    def end(self, number: int, value: float | None, reason: str | None) -> None:
        """Take note of what came of a trial."""
        began, _ = self._running.pop(number, (time.monotonic(), {}))
        self._ended += 1
        took = duration(time.monotonic() - began)
        if value is None:
            self._failed += 1
            self._last.append((number, "failed"))
            self.note(f"trial {number} failed after {took}: {reason}")
            return
        if self._best is None or self._goal.sign * (value - self._best[0]) > 0:
            self._best = value, number
        self._last.append((number, value))
        if not self._console.is_terminal:
            self.note(
                f"trial {number}: {value:.6g} after {took}; "
                f"{self._ended} of {self._total}, {self._best_text()}"
            )

    def correct(self, number: int, best: tuple[float, int] | None) -> None:
        """Take note that what another process told of a trial stays, and of the best then."""
        self._best = best
        self.note(f"trial {number}: already told by another process; that stays")

    def _best_text(self) -> str:
        if self._best is None:
            return "no value yet"
        return f"best {self._best[0]:.6g} (trial {self._best[1]})"

    def _render(self) -> RenderableType:
        now = time.monotonic()
        running: list[list[object]] = [
            [number, "running", duration(now - began), _short(params)]
            for number, (began, params) in self._running.items()
        ]
        ended: list[list[object]] = [[n, what, "", ""] for n, what in self._last[-_MOST_SHOWN:]]
        failed = f", {self._failed} of this run failed" if self._failed else ""
        head = f"{self._ended} of {self._total} trials{failed}, {self._best_text()}"
        return Group(
            table_of(["trial", "value", "for", "parameters"], [*ended, *running]),
            Text(f"{head}. Ctrl-C stops; the same command resumes."),
        )


def _short(params: Mapping[str, Value]) -> str:
    return " ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in params.items()
    )
