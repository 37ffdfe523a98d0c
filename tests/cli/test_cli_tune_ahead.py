"""Trials are chosen beside `hetbo tune`, in a process of their own."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.tools import Cli
from helpers import refused
from hetbo import DataError, HetboError
from hetbo.cli._backoff import UnavailableError
from hetbo.cli._suggester import Suggester
from hetbo.cli._target import target_at
from hetbo.cli._tune_ahead import ChoosesAhead, Failed, Message, Noted

PLACE = "hetbo.db"


@contextmanager
def chooses(place: str = PLACE, notes: list[str] | None = None) -> Iterator[ChoosesAhead]:
    ahead = ChoosesAhead(place, "new", ([] if notes is None else notes).append)
    try:
        yield ahead
    finally:
        ahead.stop()


def chosen() -> int:
    """Return for how many trials something has been chosen."""
    with target_at(PLACE, "new") as target:
        return Suggester(target, target.sources()).chosen_ahead


@pytest.mark.usefixtures("ready")
def test_trials_are_chosen_before_they_begin() -> None:
    with chooses() as ahead:
        ahead.want(workers=4, idle=3)
        ahead.want(workers=4, idle=3)  # which is being done
        ahead.receive()
    assert chosen() == 3
    with target_at(PLACE, "new") as target:
        suggester = Suggester(target, target.sources())
        points = [suggester.ask().params for _ in range(3)]
    assert len({repr(point) for point in points}) == 3
    assert chosen() == 0


@pytest.mark.usefixtures("ready")
def test_a_process_that_is_killed_is_replaced() -> None:
    with chooses() as ahead:
        for _ in range(2):
            os.kill(ahead._process.pid or 0, signal.SIGKILL)
            ahead.receive()
        ahead.want(workers=2, idle=1)
        ahead.receive()
    assert chosen() == 1


@pytest.mark.usefixtures("ready")
def test_one_that_is_killed_again_and_again_ends_the_run() -> None:
    error = refused(HetboError, "3 times in a row", "exit code -9", "memory", "run the same")
    with chooses() as ahead, error:
        for _ in range(9):
            os.kill(ahead._process.pid or 0, signal.SIGKILL)
            ahead.receive()


@pytest.mark.usefixtures("ready")
def test_what_goes_wrong_is_raised_where_trials_are_wanted() -> None:
    Path("elsewhere.db").touch()
    with chooses("elsewhere.db") as ahead:
        ahead.want(workers=2, idle=1)
        ahead.receive()
        with refused(DataError, "'new'"):
            ahead.want(workers=2, idle=1)


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    ("message", "error"),
    [
        (Failed("it is away", unavailable=True), UnavailableError),
        (Failed("no", unavailable=False), DataError),
    ],
)
def test_a_storage_that_is_away_is_told_from_other_errors(
    monkeypatch: pytest.MonkeyPatch, message: Message, error: type[HetboError]
) -> None:
    with chooses() as ahead, monkeypatch.context() as patch:
        patch.setattr(type(ahead._connection), "recv", lambda _: message)
        ahead.receive()
        with pytest.raises(error):
            ahead.want(workers=2, idle=1)


@pytest.mark.usefixtures("ready")
def test_notes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = list[str]()
    with chooses(notes=notes) as ahead, monkeypatch.context() as patch:
        patch.setattr(type(ahead._connection), "recv", lambda _: Noted("it takes long"))
        ahead.receive()
    assert notes == ["hetbo: note: it takes long"]


@pytest.mark.long
def test_a_run_outlives_the_process_that_chooses(ready: Cli) -> None:
    ready.write(
        "kills.py",
        """
import os, signal
from pathlib import Path

def choosers():
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getppid() and int(path.parent.name) != os.getpid():
            yield int(path.parent.name)

def loss(**params):
    if not Path("killed").exists():
        Path("killed").touch()
        for pid in choosers():
            if Path(f"/proc/{pid}/cmdline").read_bytes().count(b"resource_tracker") == 0:
                os.kill(pid, signal.SIGKILL)
    return 1.0
""",
    )
    ran = ready("tune", "kills:loss", "--trials", "5", "--workers", "2", "--max-failures", "3")
    assert ran.code == 0, ran.err
    assert "5 of 5 trials have ended" in ran.out
