"""How far a run is, and how long the rest will take."""

from io import StringIO

import pytest
from rich.console import Console

from hetbo_bench import progress
from hetbo_bench.progress import RunProgress
from hetbo_bench.running.runner import Failure
from hetbo_bench.running.runs import Job
from made_runs import drawn_traces, made_run

RUN = made_run(drawn_traces(0, 1)[0])


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let the progress read a clock that the test moves."""
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_the_time_left_comes_from_what_was_finished_in_this_run(clock: Clock) -> None:
    stream = StringIO()
    with RunProgress(100, done=40, console=Console(file=stream, width=200)) as shown:
        for _ in range(10):
            clock.now += 40.0
            shown.finished(RUN)
    told = stream.getvalue().splitlines()
    assert told[0] == "40 of 100 replications were done before"
    # The first of 60 took 40 s, so that 59 are left for 39 min; at the end 50, for 33 min.
    assert told[1] == "41 of 100 replications, about 39 min left"
    assert told[-1] == "50 of 100 replications, about 33 min left"


def test_lines_come_now_and_then_where_there_is_no_terminal(clock: Clock) -> None:
    stream = StringIO()
    with RunProgress(90, done=0, console=Console(file=stream, width=200)) as shown:
        for _ in range(90):
            clock.now += 1.0
            shown.finished(RUN)
    told = stream.getvalue().splitlines()
    assert len(told) == 3
    assert told[-1] == "90 of 90 replications, nothing left"


def test_a_terminal_has_a_live_bar_with_the_time_left(clock: Clock) -> None:
    stream = StringIO()
    console = Console(file=stream, width=150, force_terminal=True, legacy_windows=False)
    with RunProgress(4, done=0, console=console) as shown:
        clock.now += 60.0
        shown.finished(RUN)
    text = stream.getvalue()
    assert "1/4" in text
    assert "about 3 min left" in text


def test_failures_are_told_at_once(clock: Clock) -> None:
    stream = StringIO()
    with RunProgress(2, done=0, console=Console(file=stream, width=200)) as shown:
        clock.now += 1.0
        shown.finished(Failure(Job("hartmann_30", "auto", 3), "OSError: no [disk]"))
    text = stream.getvalue()
    assert "no [disk]" in text
    assert "1 of 2 replications, 1 failed" in text
