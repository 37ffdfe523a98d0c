"""`hetbo tune`: workers, failures, Ctrl-C, kill -9, and going on."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from rich.console import Console

from cli.tools import Cli
from hetbo._processes import process_token
from hetbo.cli._target import target_at
from hetbo.cli._tune_owners import abandoned
from hetbo.cli._tune_study import _conclude
from hetbo.cli._tune_table import TuneTable
from hetbo.experiments import Goal


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for other runs that might want the same trials."""
    monkeypatch.setattr("hetbo.cli._tune_owners._SECONDS_TO_SETTLE", 0.0)


def study() -> optuna.Study:
    """Return the study as Optuna sees it."""
    return optuna.load_study(study_name="new", storage="sqlite:///hetbo.db")


def states() -> list[str]:
    """Return the states of all trials."""
    return [trial.state.name for trial in study().trials]


def test_a_function_is_tuned_to_the_total(ready: Cli) -> None:
    ran = ready("tune", "objective:loss", "--trials", "4", "--workers", "2")
    assert ran.code == 0, ran.err
    assert states() == ["COMPLETE"] * 4
    assert "4 of 4 trials have ended" in ran.out
    assert ran.err.count(" after ") == 4
    dart = sum(trial.params["booster"] == "dart" for trial in study().trials)
    assert ran.err.count(": with dart") == dart
    assert "4 of 4" in ready.works("tune", "objective:loss", "--trials", "4")
    ready.works("tune", "objective:loss", "--trials", "5")
    assert states() == ["COMPLETE"] * 5


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("fails", r"ValueError: it [red]broke[/red]\nin two lines"),
        ("nothing", "it returned None, which is not a number"),
        ("dies", "its process ended with exit code 3"),
    ],
)
def test_failures_are_shown_and_stop_the_run_after_a_while(
    ready: Cli, function: str, reason: str
) -> None:
    ran = ready("tune", f"objective:{function}", "--trials", "9", "--max-failures", "2")
    assert ran.code == 1
    assert f"trial 0 failed after 0 s: {reason}" in ran.err
    assert "hetbo: 2 trials in a row failed" in ran.err
    assert states() == ["FAIL", "FAIL"]
    assert study().trials[0].user_attrs["hetbo:reason"] == reason


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["objective"], ("'objective'", "module:function")),
        (["nowhere:loss"], ("'nowhere'", "ModuleNotFoundError")),
        (["objective:lost"], ("'objective'", "'lost'")),
        (["objective:other"], ("other(a)", "'learning_rate', 'max_depth', 'booster'")),
        (["objective:loss", "--workers", "0"], ("--workers 0",)),
        (["objective:loss", "--max-failures", "0"], ("--max-failures 0",)),
        (["objective:loss", "--trials", "0"], ("--trials 0",)),
        (["objective:loss", "--study", "lost"], ("'lost'",)),
    ],
    ids=" ".join,
)
def test_bad_input_is_refused_before_a_trial_begins(
    ready: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    trials = [] if "--trials" in arguments else ["--trials", "3"]
    ready.refuses("tune", *arguments, *trials, parts=parts)
    assert states() == []


def started(*arguments: str) -> "subprocess.Popen[str]":
    """Start the command as a user would, and wait until two trials have begun."""
    code = "from hetbo.cli.main import run; run()"
    process = subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-c", code, "tune", "objective:waits", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while len(list(Path().glob("began-*"))) < 2:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


@pytest.mark.long
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda how: how.name
)
def test_a_run_that_was_stopped_goes_on(ready: Cli, how: signal.Signals) -> None:
    process = started("--trials", "3", "--workers", "2")
    os.killpg(process.pid, how)
    out, _ = process.communicate(timeout=30)
    assert states() == ["RUNNING", "RUNNING"]
    before = [trial.params for trial in study().trials]
    if how is not signal.SIGKILL:
        assert process.returncode == 128 + how
        assert "the same command runs them again" in out
        assert "hetbo: stopped" in out
        assert "Traceback" not in out
    assert "was stopped" in ready.works("status")
    Path("go-on").touch()
    ran = ready("tune", "objective:waits", "--trials", "3", "--workers", "2")
    assert ran.code == 0, ran.err
    assert "Goes on with what was stopped: trials 0, 1." in ran.out
    assert states() == ["COMPLETE"] * 3
    assert [trial.params for trial in study().trials][:2] == before


def test_trials_that_people_asked_for_are_left_to_them(ready: Cli) -> None:
    ready.works("ask")
    out = ready.works("tune", "objective:loss", "--trials", "2")
    assert states() == ["RUNNING", "COMPLETE"]
    assert "Trial 0 waits to be told.\n" in out
    assert "--take-over" not in out
    assert "hetbo tell 0 --failed\n" in out
    ready.works("ask")
    out = ready.works("tune", "objective:loss", "--trials", "3")
    assert "Trials 0, 2 wait to be told.\n" in out


def test_trials_of_another_machine_are_run_again_on_demand(ready: Cli) -> None:
    ready.works("ask")
    trial_id = study()._storage.get_all_trials(study()._study_id)[0]._trial_id
    study()._storage.set_trial_user_attr(trial_id, "hetbo:tuner", "elsewhere 12 34")
    out = ready.works("tune", "objective:loss", "--trials", "1")
    assert "Trial 0 still runs in another 'hetbo tune'." in out
    assert "if its machine is gone, --take-over does" in out
    assert states() == ["RUNNING"]
    ready.works("tune", "objective:loss", "--trials", "1", "--take-over")
    assert states() == ["COMPLETE"]


def test_a_resumed_trial_that_fails_keeps_its_reason(ready: Cli) -> None:
    ready.works("ask")
    trial_id = study()._storage.get_all_trials(study()._study_id)[0]._trial_id
    study()._storage.set_trial_user_attr(trial_id, "hetbo:tuner", "elsewhere 12 34")
    ran = ready("tune", "objective:nothing", "--trials", "1", "--take-over")
    assert "Goes on with what was stopped: trial 0." in ran.out
    assert states() == ["FAIL"]
    reason = study().trials[0].user_attrs["hetbo:reason"]
    assert reason == "it returned None, which is not a number"


@pytest.mark.parametrize("function", ["fails", "works"])
def test_what_another_process_told_meanwhile_stays(ready: Cli, function: str) -> None:
    ready.write(
        "told.py",
        "import optuna\n"
        "def works(**params):\n"
        "    study = optuna.load_study(study_name='new', storage='sqlite:///hetbo.db')\n"
        "    study.tell(len(study.trials) - 1, 7.0)\n"
        "    return 1.0 if len(study.trials) == 1 else 8.0\n"
        "def fails(**params):\n"
        "    works()\n"
        "    raise ValueError('too late')\n",
    )
    ran = ready("tune", f"told:{function}", "--trials", "2")
    assert ran.code == 0, ran.err
    for number in (0, 1):
        assert f"trial {number}: already told by another process; that stays" in ran.err
    if function == "works":
        assert "trial 1: 8 after 0 s; 2 of 2, best 7 (trial 0)" in ran.err
    assert [trial.value for trial in study().trials] == [7.0, 7.0]


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "Under way was trial 0; the same command runs it again."),
        (2, "Under way were trials 0, 1; the same command runs them again."),
    ],
)
def test_what_was_under_way_is_told(
    ready: Cli, capsys: pytest.CaptureFixture[str], count: int, told: str
) -> None:
    ready.works("ask", "-n", str(count))
    for trial in study()._storage.get_all_trials(study()._study_id):
        study()._storage.set_trial_user_attr(trial._trial_id, "hetbo:tuner", process_token())
    with target_at("hetbo.db", None) as target:
        _conclude(target, 3, stopped=True, study=None, place="hetbo.db")
    assert capsys.readouterr().out == f"{told}\n"


def test_a_living_process_keeps_its_trials() -> None:
    trial = optuna.trial.create_trial(
        state=optuna.trial.TrialState.RUNNING, user_attrs={"hetbo:tuner": process_token()}
    )
    assert not abandoned(trial)
    host, number, _ = process_token().rsplit(" ", 2)
    trial.user_attrs["hetbo:tuner"] = f"{host} {number} 1"  # its number is used again
    assert abandoned(trial) == Path("/proc").exists()
    for unknown in (None, "", "nonsense", 3, "a b c"):
        trial.user_attrs["hetbo:tuner"] = unknown
        assert not abandoned(trial)


def test_the_table_shows_what_runs_and_what_ended() -> None:
    console = Console(
        file=io.StringIO(), width=80, record=True, force_terminal=True, color_system=None
    )
    with TuneTable(9, 2, Goal.MINIMIZE, (0.5, 1), console) as table:
        table.begin(2, {"lr": 0.123456, "[red]x": "[/]"})
        table.begin(3, {"lr": 0.5, "[red]x": "y"})
        table.printed(2, "an [bold]epoch[/bold]\x1b[31m")
        table.end(3, 0.25, None)
        shown = console.export_text(clear=False)
        still = Console(file=io.StringIO(), width=80, record=True)
        still.print(table._render())
        rendered = still.export_text()
        table.end(2, None, "it broke")
    assert r"trial 2: an [bold]epoch[/bold]\x1b[31m" in shown
    assert "lr=0.1235 [red]x=[/]" in rendered
    assert "3 of 9 trials, best 0.25 (trial 3)." in rendered
    assert max(map(len, rendered.splitlines())) <= 80
