"""Storages of the command line: one of several tells wins, and waiting has an end."""

import sqlite3
import threading
from collections.abc import Callable
from types import SimpleNamespace

import optuna
import pytest
from optuna.storages import JournalStorage, RDBStorage

from cli.tools import Cli
from hetbo import read_sources
from hetbo.cli._backoff import Patience, UnavailableError, briefly
from hetbo.cli._target import Target, target_at
from postgresql_server import Server

ROUNDS = 6


@pytest.fixture(params=["hetbo.db", "hetbo.log", pytest.param("server", marks=pytest.mark.long)])
def place(request: pytest.FixtureRequest, ready: Cli) -> str:
    """A storage of each kind with a study 'new' of three parameters."""
    if request.param == "hetbo.db":
        return "hetbo.db"
    place = "hetbo.log"
    if request.param == "server":
        server: Server = request.getfixturevalue("server")
        place = server.url
    ready.works("init", "space.toml", "--study", "new", "--method", "random", "--storage", place)
    return place


def test_of_two_tells_at_once_exactly_one_wins(ready: Cli, place: str) -> None:
    ready.works("ask", "-n", str(ROUNDS), "--study", "new", "--storage", place)

    def tell(number: int, value: float, barrier: threading.Barrier, won: list[float]) -> None:
        with target_at(place, "new") as target:
            barrier.wait()
            if target.tell(number, value):
                won.append(value)

    for number in range(ROUNDS):
        barrier, won = threading.Barrier(2), list[float]()
        both = [
            threading.Thread(target=tell, args=(number, value, barrier, won))
            for value in (1.0, 2.0)
        ]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        with target_at(place, "new") as target:
            assert won == [target.trial(number).value]


@pytest.mark.parametrize("storage", ["hetbo.db", "hetbo.log"])
def test_the_only_study_to_tune_is_found_without_reading_a_trial(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    if storage == "hetbo.log":
        ready.works("init", "space.toml", "--study", "new", "--storage", storage)
    for kind in (RDBStorage, JournalStorage):
        monkeypatch.setattr(kind, "get_all_trials", lambda *_, **__: pytest.fail("reads trials"))
    with target_at(storage, None) as target:
        assert target.name == "new"


@pytest.mark.parametrize("arguments", [["0.5"], ["--failed"]], ids=" ".join)
def test_who_tells_too_late_hears_what_is_stored(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    ready.works("ask")
    tell = Target.tell

    def slow_tell(target: Target, number: int, value: float | None) -> bool:
        optuna.load_study(study_name="new", storage="sqlite:///hetbo.db").tell(number, 0.31)
        return tell(target, number, value)

    monkeypatch.setattr(Target, "tell", slow_tell)
    ready.refuses("tell", "0", *arguments, parts=("trial 0 was told before: 0.31; it stays",))


@pytest.mark.parametrize("command", [["ask"], ["tell", "0", "0.5"]], ids=" ".join)
def test_a_held_file_is_waited_for_once(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    ready.works("ask")
    slept = list[float]()
    monkeypatch.setattr(
        "optuna.storages._rdb.storage.time", SimpleNamespace(sleep=slept.append)
    )  # Optuna's pause between its attempts
    monkeypatch.setattr("hetbo.cli._storages._SECONDS_TO_WAIT", 0.2)
    monkeypatch.setattr("hetbo.cli._backoff._BRIEFLY", 0.1)
    holder = sqlite3.connect("hetbo.db")
    try:
        holder.execute("BEGIN IMMEDIATE")
        ready.refuses(*command, parts=("hetbo.db", "locked", "another process"))
        assert "0 with a value, 0 failed, 1 running" in ready.works("status")  # reading works
    finally:
        holder.close()
    assert not slept
    ready.works(*command)


@pytest.mark.long
def test_a_server_that_restarts_is_waited_for(ready: Cli, server: Server) -> None:
    place = ["--study", "away", "--storage", server.url]
    ready.works("init", "space.toml", "--method", "random", *place)
    starts = list[threading.Timer]()

    def restart_soon() -> None:
        server.stop()
        starts.append(threading.Timer(0.5, server.start))
        starts[-1].start()

    restart_soon()
    ready.works("ask", *place)  # it opens the storage meanwhile
    starts[-1].join()
    with target_at(server.url, "away") as target:
        restart_soon()
        assert len(briefly(target.trials)) == 1  # it was connected before
        starts[-1].join()


class Clock:
    """A clock that runs only while somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("hetbo.cli._backoff.time", clock)
    return clock


def away(times: int) -> Callable[[], str]:
    """Return a call that is answered after so many attempts."""
    left = iter(range(times))

    def call() -> str:
        if next(left, None) is not None:
            raise UnavailableError("refused")
        return "answer"

    return call


def test_patience_waits_longer_each_time_and_says_so(clock: Clock) -> None:
    notes = list[str]()
    patience = Patience(60, notes.append)
    assert patience.call(away(3)) == "answer"
    assert clock.slept == [0.2, 0.4, 0.8]
    assert notes == []
    assert patience.call(away(9)) == "answer"
    assert clock.slept[3:] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, 10.0]
    assert notes == [
        "waiting for the storage, which does not answer: refused",
        "the storage answers again",
    ]


def test_patience_ends(clock: Clock) -> None:
    patience = Patience(5, lambda _: None)
    with pytest.raises(UnavailableError, match=r"^refused; it did not answer for 6 s$"):
        patience.call(away(100))
    with patience.attempt(endless=True):
        away(1)()
    assert not patience.due
    clock.now += 10
    assert patience.due


def test_a_call_that_took_long_itself_is_not_repeated(clock: Clock) -> None:
    calls = list[int]()

    def locked() -> None:
        calls.append(1)
        clock.now += 20
        raise UnavailableError("locked")

    with pytest.raises(UnavailableError, match="20 s"):
        Patience(10, lambda _: None).call(locked)
    assert len(calls) == 1


def test_the_ending_of_a_journal_may_be_in_capitals(cli: Cli) -> None:
    cli.write("a.csv", "x,value\n1,5\n2,6\n")
    cli.works("import", "a.csv", "--goal", "minimize", "--storage", "RUNS.LOG")
    assert (cli.folder / "RUNS.LOG").read_bytes().startswith(b"{")
    assert [source.name for source in read_sources("RUNS.LOG")] == ["a"]
