"""`hetbo tune` when the storage does not answer, workers vanish, or several runs want one trial."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from cli.tools import Cli
from hetbo._processes import process_token
from hetbo.cli._backoff import UnavailableError
from hetbo.cli._stopping import stop_on_signals
from hetbo.cli._target import Target, target_at
from hetbo.cli._tune_owners import Claims, resumable
from hetbo.cli._tune_table import TuneTable
from hetbo.cli._tune_worker import Worker
from hetbo.optuna import TransferSampler
from postgresql_server import Server

GONE = f"{process_token().rsplit(' ', 2)[0]} 999999999 1"
"""What a process of this machine that is gone wrote into its trials."""
ELSEWHERE = "elsewhere 12 34"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less."""
    monkeypatch.setattr("hetbo.cli._tune_owners._SECONDS_TO_SETTLE", 0.0)
    monkeypatch.setattr("hetbo.cli._backoff._FIRST_PAUSE", 0.05)
    monkeypatch.setattr("hetbo.cli._backoff._LONGEST_PAUSE", 0.1)
    monkeypatch.setattr("hetbo.cli._backoff._SECONDS_UNTIL_A_NOTE", 0.1)
    monkeypatch.setattr("hetbo.cli._backoff._BRIEFLY", 0.1)


def study() -> optuna.Study:
    """Return the study as Optuna sees it."""
    return optuna.load_study(study_name="new", storage="sqlite:///hetbo.db")


def states() -> list[str]:
    """Return the states of all trials."""
    return [trial.state.name for trial in study().trials]


def own(number: int, owner: str) -> None:
    """Set who runs a trial."""
    with target_at("hetbo.db", "new") as target:
        target.set_trial_attr(number, "hetbo:tuner", owner)


class Away:
    """A storage that takes no results while it is away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, attempts: float) -> None:
        self.attempts = attempts
        whole = Target.tell

        def tell(target: Target, number: int, value: float | None) -> bool:
            self.attempts -= 1
            if self.attempts >= 0:
                raise UnavailableError("hetbo.db: connection refused")
            return whole(target, number, value)

        monkeypatch.setattr(Target, "tell", tell)


def test_a_storage_that_is_away_for_a_while_loses_nothing(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Away(monkeypatch, attempts=5)
    ran = ready("tune", "objective:loss", "--trials", "3")
    assert ran.code == 0, ran.err
    assert states() == ["COMPLETE"] * 3
    shown = ran.err.index("trial 0: ")
    assert shown < ran.err.index("waiting for the storage") < ran.err.index("answers again")
    assert not list(Path().glob("*.json"))


def test_giving_up_waits_for_evaluations_that_are_under_way(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.write(
        "slow.py",
        "import time\nfrom pathlib import Path\n"
        "def loss(**params):\n"
        "    try:\n"
        "        Path('first').touch(exist_ok=False)\n"
        "        while not Path('second').exists():\n"
        "            time.sleep(0.01)\n"
        "    except FileExistsError:\n"
        "        Path('second').touch()\n"
        "        time.sleep(1)\n"
        "    return 1.0\n",
    )
    monkeypatch.setattr("hetbo.cli._tune_study._PATIENCE", 0.2)
    Away(monkeypatch, attempts=float("inf"))
    ran = ready("tune", "slow:loss", "--trials", "2", "--workers", "2")
    assert ran.code == 1
    assert len(kept()["trials"]) == 2


def kept() -> dict[str, list[dict[str, object]]]:
    """Return the one file that is kept."""
    (path,) = Path().glob("hetbo.db.untold-*.json")
    data: dict[str, list[dict[str, object]]] = json.loads(path.read_text(encoding="utf-8"))
    return data


@pytest.fixture
def untold(ready: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line after a run that could not store the value of trial 0, which is 1."""
    Path("go-on").touch()
    with monkeypatch.context() as patch:
        patch.setattr("hetbo.cli._tune_study._PATIENCE", 0.2)
        Away(patch, attempts=float("inf"))
        ran = ready("tune", "objective:waits", "--trials", "1")
    assert ran.code == 1
    assert "connection refused; it did not answer for" in ran.err
    assert "What came of trial 0 could not be stored and is kept in hetbo.db.untold-" in ran.out
    assert ran.out.endswith("To store it by hand:\nhetbo tell 0 1.0\n")
    assert states() == ["RUNNING"]
    return ready


@pytest.mark.parametrize(
    "command", [["status"], ["tune", "objective:waits", "--trials", "1"]], ids=" ".join
)
def test_what_was_kept_is_stored_by_the_next_command(untold: Cli, command: list[str]) -> None:
    out = untold.works(*command)
    assert "Stored what came of trial 0 and was kept in hetbo.db.untold-" in out
    assert "best loss: 1 in trial 0" in out
    assert [trial.value for trial in study().trials] == [1.0]
    assert not list(Path().glob("*.json"))
    assert "Stored" not in untold.works("status")


def test_the_command_that_stores_by_hand_works(untold: Cli) -> None:
    untold.works("tell", "0", "1.0")
    assert "Stored what came of trial 0" in untold.works("status")
    assert not list(Path().glob("*.json"))


def test_what_was_told_meanwhile_stays(untold: Cli) -> None:
    untold.works("tell", "0", "7")
    out = untold.works("status")
    assert "has kept 1.0 of trial 0, which another process has told meanwhile; that stays" in out
    assert [trial.value for trial in study().trials] == [7.0]
    assert not list(Path().glob("*.json"))


def test_what_is_kept_for_another_study_is_left_alone(untold: Cli) -> None:
    untold.works("init", "space.toml", "--study", "other", "--method", "random")
    assert "Stored" not in untold.works("status", "--study", "other")
    optuna.delete_study(study_name="new", storage="sqlite:///hetbo.db")
    untold.works("init", "space.toml", "--study", "new", "--seed", "77", "--method", "random")
    assert "trial 0, which has other parameters in this study or is not" in untold.works(
        "status", "--study", "new"
    )
    untold.works("ask", "--study", "new")
    assert "trial 0, which has other parameters in this study or is not" in untold.works(
        "status", "--study", "new"
    )
    assert states() == ["RUNNING"]
    assert kept()["trials"][0]["value"] == 1.0


@pytest.mark.long
def test_what_a_server_did_not_take_is_kept_in_the_working_directory(
    ready: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url.replace("postgres@", "postgres:secret@")  # which is not looked at
    place = ["--study", "kept", "--storage", url]
    ready.works("init", "space.toml", "--method", "random", *place)
    with monkeypatch.context() as patch:
        patch.setattr("hetbo.cli._tune_study._PATIENCE", 0.2)
        Away(patch, attempts=float("inf"))
        ran = ready("tune", "objective:loss", "--trials", "1", *place)
    assert ran.code == 1
    (path,) = Path().glob("hetbo.untold-*.json")
    assert "secret" not in ran.out + ran.err + path.read_text(encoding="utf-8")
    ready.works("init", "space.toml", "--study", "kept", "--method", "random")
    assert "untold" not in ready.works("status", "--study", "kept")  # in hetbo.db
    assert "Stored what came of trial 0" in ready.works("status", *place)
    assert not path.exists()


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"version": 1}', '{"version": 2}'])
def test_a_kept_file_that_is_damaged_is_named(untold: Cli, text: str) -> None:
    (path,) = Path().glob("hetbo.db.untold-*.json")
    path.write_text(text, encoding="utf-8")
    untold.refuses("status", parts=(path.name,))
    assert path.read_text(encoding="utf-8") == text


def test_a_value_that_cannot_even_be_kept_is_shown(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hetbo.cli._tune_outcomes.write_text_atomically", full)
    monkeypatch.setattr("hetbo.cli._tune_study._PATIENCE", 0.2)
    Away(monkeypatch, attempts=float("inf"))
    ran = ready("tune", "objective:fails", "--trials", "1", "--study", "new")
    assert "could not be stored, nor kept in hetbo.db.untold-" in ran.out
    assert "No space left on device" in ran.out
    assert ran.out.endswith("hetbo tell 0 --failed --study new\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_to_end_are_heard_while_the_storage_is_away(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    Away(monkeypatch, attempts=float("inf"))

    def note(_: object, line: str) -> None:
        if "waiting" in line:
            signal.raise_signal(how)

    monkeypatch.setattr(TuneTable, "note", note)
    Path("go-on").touch()
    before = signal.getsignal(how)
    ran = ready("tune", "objective:waits", "--trials", "2")
    assert ran.code == 128 + how
    assert "could not be stored and is kept" in ran.out
    assert "the same command runs it again" in ran.out
    assert signal.getsignal(how) is before


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_value_is_kept_if_the_process_is_to_end_while_its_file_is_held(
    ready: Cli, how: signal.Signals
) -> None:
    command = "from hetbo.cli.main import run; run()"
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-c", command, "tune", "objective:waits", "--trials", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while not list(ready.folder.glob("began-*")):
            assert process.poll() is None
            time.sleep(0.05)
        with closing(sqlite3.connect("hetbo.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            Path("go-on").touch()
            assert process.stdout is not None
            for line in process.stdout:
                if "waiting for the storage" in line:
                    break
            process.send_signal(how)
            out = process.stdout.read()
            assert process.wait(60) == 128 + how, out
    assert kept()["trials"][0]["value"] == 1.0
    assert "Stored what came of trial 0" in ready.works("status")


def test_what_the_process_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with stop_on_signals() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.long
def test_a_server_that_restarts_stops_no_evaluation(
    ready: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited, whole = threading.Event(), TuneTable.note

    def note(table: TuneTable, line: str) -> None:
        whole(table, line)
        if "waiting for the storage" in line:
            waited.set()

    def restart_under_way() -> None:
        while len(list(ready.folder.glob("began-*"))) < 3:
            time.sleep(0.05)
        server.stop()
        (ready.folder / "go-on").touch()
        waited.wait(60)
        server.start()

    monkeypatch.setattr(TuneTable, "note", note)
    place = ["--study", "restarted", "--storage", server.url]
    ready.works("init", "space.toml", "--method", "random", *place)
    restarting = threading.Thread(target=restart_under_way)
    restarting.start()
    ran = ready("tune", "objective:waits", "--trials", "5", "--workers", "3", *place)
    restarting.join()
    assert ran.code == 0, ran.err
    assert "5 of 5 trials have ended." in ran.out
    assert ran.err.index(": 1 after ") < ran.err.index("waiting for the storage")
    assert "the storage answers again" in ran.err
    assert "5 with a value, 0 failed" in ready.works("status", *place)
    assert len(list(Path().glob("began-*"))) == 5
    assert not list(Path().glob("*.json"))


@pytest.mark.parametrize("command", [["tune", "objective:loss", "--trials", "1"], ["ask"]])
def test_a_run_killed_while_choosing_leaves_nothing_open(ready: Cli, command: list[str]) -> None:
    ready.works("ask")
    ready.works("tell", "0", "1")
    study().ask()
    own(1, GONE)
    ready.works(*command)
    assert states()[:2] == ["COMPLETE", "FAIL"]


def test_a_living_run_is_left_to_choose(ready: Cli) -> None:
    study().ask()
    own(0, process_token())
    ready.works("tune", "objective:loss", "--trials", "1")
    assert states() == ["RUNNING", "COMPLETE"]


def test_who_runs_a_trial_is_known_before_its_parameters(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TransferSampler.sample_relative
    owners = list[object]()

    def sample(
        sampler: TransferSampler, study: optuna.Study, trial: object, space: object
    ) -> object:
        owners.extend(
            (t.user_attrs["hetbo:tuner"], t.params)
            for t in study.trials
            if not t.state.is_finished()
        )
        return whole(sampler, study, trial, space)  # type: ignore[arg-type]

    monkeypatch.setattr(TransferSampler, "sample_relative", sample)
    ready.works("tune", "objective:loss", "--trials", "1")
    assert owners == [(process_token(), {})]


def test_a_choice_that_could_not_be_closed_is_closed_later(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TransferSampler.sample_relative
    calls = list[int]()

    def sample(*given: object) -> object:
        calls.append(1)
        if len(calls) == 1:
            raise UnavailableError("hetbo.db: connection lost")
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(TransferSampler, "sample_relative", sample)
    Away(monkeypatch, attempts=1)
    ready.works("tune", "objective:loss", "--trials", "1")
    assert states() == ["FAIL", "COMPLETE"]
    assert study().trials[0].params == {}


CLAIM = """
import sys, threading
from hetbo.cli._target import target_at
from hetbo.cli._tune_owners import Claims, resumable
with target_at("hetbo.db", "new") as target:
    found = resumable(target, take_over=True)
    print("ready", flush=True)
    sys.stdin.readline()
    claims = Claims.write(target, found)
    print(*(trial.number for trial in claims.won(threading.Event())), flush=True)
    sys.stdin.readline()
"""


@pytest.mark.long
def test_of_several_runs_one_gets_each_trial(ready: Cli) -> None:
    ready.works("ask", "-n", "6")
    for number in range(6):
        own(number, ELSEWHERE if number % 2 else GONE)
    runs = [
        subprocess.Popen(  # noqa: S603  # our own code
            [sys.executable, "-c", CLAIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert {run.stdout.readline() for run in runs if run.stdout} == {"ready\n"}
    for run in runs:
        assert run.stdin
        run.stdin.write("go\n")
        run.stdin.flush()
    won = Counter[str]()
    for run in runs:  # each lives until all have answered
        assert run.stdout
        won.update(run.stdout.readline().split())
    for run in runs:
        run.communicate("end\n", timeout=30)
    assert won == Counter(map(str, range(6)))


@pytest.fixture
def open_trial(ready: Cli) -> Iterator[Target]:
    """A study whose trial 0 was left open by a process that is gone."""
    ready.works("ask")
    own(0, GONE)
    with target_at("hetbo.db", "new") as target:
        yield target


def as_process(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Go on as another living process."""
    token = process_token() if number == 0 else f"elsewhere {number} 1"
    monkeypatch.setattr("hetbo.cli._tune_owners.process_token", lambda: token)


def test_the_last_claim_of_those_in_time_wins(
    open_trial: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = resumable(open_trial, take_over=False)
    assert [trial.number for trial in found] == [0]
    read = open_trial.trial
    stale = read(0)
    claims = dict[int, Claims]()
    with monkeypatch.context() as patch:
        patch.setattr(Target, "trial", lambda *_: stale)  # all read before anyone writes
        for number in (1, 2, 3):
            as_process(monkeypatch, number)
            claims[number] = Claims.write(open_trial, found)
    won = {}
    for number in (1, 2, 3):
        as_process(monkeypatch, number)
        won[number] = [trial.number for trial in claims[number].won(threading.Event())]
    assert won == {1: [], 2: [], 3: [0]}
    as_process(monkeypatch, 4)
    assert Claims.write(open_trial, found).numbers == ()  # its owner is another one now


def test_a_claim_that_took_too_long_is_none(
    ready: Cli, open_trial: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hetbo.cli._tune_owners._LONGEST_CLAIM", -1.0)
    ran = ready("tune", "objective:loss", "--trials", "1")
    assert "The storage was too slow to take over trial 0; the same command" in ran.out
    assert "still runs" not in ran.out
    assert open_trial.trial(0).state is TrialState.RUNNING


def test_a_trial_that_ended_after_the_claim_is_not_run_again(
    ready: Cli, open_trial: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Claims.won

    def won(claims: Claims, stop: threading.Event) -> list[optuna.trial.FrozenTrial]:
        found = whole(claims, stop)
        assert open_trial.tell(0, 7.0)
        return found

    monkeypatch.setattr(Claims, "won", won)
    ran = ready("tune", "objective:loss", "--trials", "1")
    assert ran.code == 0
    assert "trial 0: another process told it or took it over" in ran.err
    assert [trial.value for trial in study().trials] == [7.0]


DYING = """
import os, signal
from pathlib import Path
for number in range({deaths}):
    try:
        Path(f"died-{{number}}").touch(exist_ok=False)
    except FileExistsError:
        continue
    os.kill(os.getpid(), signal.SIGKILL)
def loss(**params):
    return 1.0
"""


def test_a_worker_killed_while_it_starts_is_replaced(ready: Cli) -> None:
    ready.write("dying.py", DYING.format(deaths=2))
    ready.works("tune", "dying:loss", "--trials", "1")
    assert states() == ["COMPLETE"]


def test_workers_that_die_again_and_again_end_the_run(ready: Cli) -> None:
    ready.write("dying.py", DYING.format(deaths=99))
    parts = ("3 workers in a row", "ended by signal 9", "'dying:loss'")
    ready.refuses("tune", "dying:loss", "--trials", "1", parts=parts)
    assert states() == []
    assert len(list(Path().glob("died-*"))) == 3


def test_a_worker_killed_while_idle_is_replaced(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, killed = Worker.run, list[Worker]()

    def kill_first(worker: Worker, params: dict[str, object]) -> bool:
        if not killed:
            killed.append(worker)
            worker._process.kill()
            worker._process.join()
        return run(worker, params)  # type: ignore[arg-type]

    monkeypatch.setattr(Worker, "run", kill_first)
    Path("go-on").touch()
    ready.works("tune", "objective:waits", "--trials", "2")
    assert killed
    assert states() == ["COMPLETE"] * 2
    assert len(list(Path().glob("began-*"))) == 2
