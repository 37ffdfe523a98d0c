"""`hetbo ask`, `tell`, `best`, `status`, `report`: the loop by hand."""

import csv
import io
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

from cli.tools import INIT, Cli
from hetbo import Experiment, Float, Optimizer, Space, Trial
from hetbo.errors import FitError
from hetbo.optuna import TransferSampler

STORAGE = "sqlite:///hetbo.db"


def study() -> optuna.Study:
    """Return the study as Optuna sees it."""
    return optuna.load_study(study_name="new", storage=STORAGE)


def states() -> list[str]:
    """Return the states of all trials."""
    return [trial.state.name for trial in study().trials]


def test_what_is_asked_runs_until_it_is_told(ready: Cli) -> None:
    out = ready.works("ask", "-n", "3")
    assert "hetbo tell 0 VALUE" in out
    assert states() == ["RUNNING"] * 3
    assert set(study().trials[2].params) == {"learning_rate", "max_depth", "booster"}
    assert "loss 0.5, the best so far" in ready.works("tell", "1", "0.5")
    assert "the best so far is 0.5 (trial 1)" in ready.works("tell", "0", "1e3")
    assert "failed" in ready.works("tell", "2", "--failed")
    assert states() == ["COMPLETE", "COMPLETE", "FAIL"]
    assert [trial.value for trial in study().trials] == [1000.0, 0.5, None]
    assert "loss 0.5 in trial 1, the best of 2" in ready.works("best")


def test_programs_get_exact_numbers(ready: Cli) -> None:
    asked = json.loads(ready.works("ask", "-n", "2", "--json"))
    assert [one["id"] for one in asked] == [0, 1]
    assert [one["params"] for one in asked] == [trial.params for trial in study().trials]
    rows = list(csv.DictReader(io.StringIO(ready.works("ask", "--csv"))))
    assert rows[0]["id"] == "2"
    assert float(rows[0]["learning_rate"]) == study().trials[2].params["learning_rate"]
    ready.works("tell", "1", "-0.1")
    best = json.loads(ready.works("best", "--json"))
    assert best == {"id": 1, "value": -0.1, "params": study().trials[1].params}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["tell", "0", "2"], ("trial 0", "0.5")),
        (["tell", "0", "--failed"], ("trial 0", "0.5")),
        (["tell", "1", "2"], ("trial 1", "failed")),
        (["tell", "7", "2"], ("no trial 7", "2")),
        (["tell", "-1", "2"], ("no trial -1",)),
        (["tell", "2", "abc"], ("'abc'", "--failed")),
        (["tell", "2", "1_5"], ("'1_5'", "--failed")),
        (["tell", "2", "0,5"], ("'0,5'", "--failed")),
        (["tell", "2", "nan"], ("'nan'", "--failed")),
        (["tell", "2", "-inf"], ("'-inf'", "--failed")),
        (["tell", "2", "x" * 1_000_000], ("characters", "--failed")),
        (["tell", "2"], ("hetbo tell ID VALUE",)),
        (["tell", "2", "1", "--failed"], ("either",)),
        (["ask", "-n", "0"], ("-n 0",)),
        (["ask", "-n", "101"], ("-n 101",)),
        (["ask", "--json", "--csv"], ("--json", "--csv")),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_bad_input_is_refused_and_nothing_is_lost(
    ready: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    ready.works("ask", "-n", "3")
    ready.works("tell", "0", "0.5")
    ready.works("tell", "1", "--failed")
    before = Path("hetbo.db").read_bytes()
    ready.refuses(*arguments, parts=parts)
    assert Path("hetbo.db").read_bytes() == before


def test_there_is_no_best_without_a_value(ready: Cli) -> None:
    ready.refuses("best", parts=("'new'", "hetbo ask"))


def test_an_ask_that_fails_leaves_no_trial_running(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TransferSampler.sample_relative
    calls = list[int]()

    def fails_at_last(self: TransferSampler, *args: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise FitError("no luck")
        return whole(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(TransferSampler, "sample_relative", fails_at_last)
    ran = ready("ask", "-n", "2")
    assert ran.code == 1
    assert "hetbo: no luck" in ran.err
    assert "hetbo tell 0 VALUE" in ran.out  # the first is stored, so it is shown
    assert states() == ["RUNNING", "FAIL"]
    assert "0 failed, 1 running" in ready.works("status")  # what never began does not count


def test_a_trial_of_a_killed_process_is_closed_later(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    study().ask()
    ready.works("ask")
    assert states() == ["RUNNING", "RUNNING"]

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Later":
            del tz
            return cls.fromtimestamp((datetime.now() + timedelta(hours=1)).timestamp())  # noqa: DTZ005

    monkeypatch.setattr("hetbo.cli._tune_owners.dt.datetime", Later)
    ready.works("ask")
    assert states() == ["FAIL", "RUNNING", "RUNNING"]


def test_status_says_what_to_do_next(ready: Cli) -> None:
    out = ready.works("status")
    assert "'new': minimize loss, method random" in out
    assert "0 with a value, 0 failed, 0 running" in out
    assert "Next: hetbo ask" in out
    ready.works("ask")
    assert "Next: tell what came of 0: hetbo tell 0 VALUE" in ready.works("status")
    ready.works("tell", "0", "0.25")
    out = ready.works("status")
    assert "best loss: 0.25 in trial 0" in out
    assert "hetbo report" in out
    assert max(map(len, out.splitlines())) <= 80
    study().enqueue_trial({"max_depth": 3})
    assert "1 more without all parameters" in ready.works("status")


def test_status_explains_how_far_sources_are_trusted(imported: Cli) -> None:
    cli = imported
    cli.works(*INIT[:-1], "learned-imputation")
    for value in ("0.5", "0.4", "0.3"):
        number = json.loads(cli.works("ask", "--json"))[0]["id"]
        cli.works("tell", str(number), value)
    out = cli.works("status", "--explain")
    assert "trust" in out
    assert "Suggestions rest" in out
    assert "not known yet" in out


def test_of_many_sources_status_explains_the_ten_most_trusted(cli: Cli) -> None:
    space = Space(x=Float(0.0, 1.0))
    for n in range(16):
        peak = 0.2 if n % 2 else 0.8
        trials = [Trial({"x": x}, (x - peak) ** 2 + n / 100) for x in (0.0, 0.3, 0.6, 1.0)]
        Experiment(f"old-{n:02}", space, trials, goal="minimize").to_optuna("sqlite:///hetbo.db")
    cli.write("one.toml", 'goal = "minimize"\n[parameters]\nx = { low = 0.0, high = 1.0 }\n')
    cli.works("init", "one.toml", "--study", "new", "--source", "old-*", "--seed", "1")
    cli.works("ask")
    cli.works("tell", "0", "0.04")
    out = cli.works("status", "--explain")
    assert "10 of 16 sources:" in out
    assert len(re.findall("^ *old-[0-9]{2} ", out, re.MULTILINE)) == 10
    assert "Of the other sources, " in out


def test_other_workers_see_what_was_asked(imported: Cli) -> None:
    cli = imported
    cli.works(*INIT[:-1], "auto")
    asked = [json.loads(cli.works("ask", "--json"))[0]["params"] for _ in range(2)]
    assert asked[0] != asked[1]
    assert [trial.state for trial in study().trials] == [TrialState.RUNNING] * 2


def test_the_report_is_one_file(ready: Cli) -> None:
    for value in ("0.5", "0.4"):
        number = json.loads(ready.works("ask", "--json"))[0]["id"]
        ready.works("tell", str(number), value)
    ready.works("ask")
    out = ready.works("report", "-o", "out.html")
    assert "out.html" in out
    page = Path("out.html").read_text(encoding="utf-8")
    assert "<title>" in page
    assert "learning_rate" in page


@pytest.mark.parametrize("command", [("report",), ("status", "--explain")])
def test_a_study_becomes_an_optimizer_without_a_detour_through_json(
    ready: Cli, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    number = json.loads(ready.works("ask", "--json"))[0]["id"]
    ready.works("tell", str(number), "0.5")
    for kept in (Optimizer, Trial):
        for method in ("to_json", "from_json"):
            monkeypatch.setattr(kept, method, refuse)
    ready.works(*command)


@pytest.mark.parametrize(
    ("output", "parts", "code"),
    [
        ("no/where.html", ("no/where.html", "folder"), 1),
        ("locked/report.html", ("locked/report.html", "denied"), 1),
        ("", ("-o", "''", "the path is empty", "name a file"), 2),
        (".", ("folder", "name a file"), 2),
        ("trail/", ("trail/", "folder", "name a file"), 2),
    ],
)
def test_a_report_that_cannot_be_written_is_told_at_once(
    ready: Cli, output: str, parts: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("locked").mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: "locked" not in str(path))  # noqa: ARG005
    before = ready.files()
    ready.refuses("report", "-o", output, parts=parts, code=code)
    assert ready.files() == before


def test_a_report_that_fails_late_leaves_the_old_one(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    ready.write("report.html", "<!DOCTYPE html>old")
    monkeypatch.setattr("hetbo.report._report.write_text_atomically", full)
    ready.refuses("report", parts=("report.html", "No space left"))
    assert Path("report.html").read_text() == "<!DOCTYPE html>old"


def test_many_parameters_fit_a_narrow_terminal(cli: Cli) -> None:
    names = [f"a_rather_long_name_{number}" for number in range(12)]
    lines = [f"{name} = {{ low = 0.0, high = 1.0 }}" for name in names]
    cli.write("space.toml", "\n".join(["goal = 'maximize'", "[parameters]", *lines]))
    cli.works("init", "space.toml", "--study", "wide", "--method", "random")
    out = cli.works("ask", "-n", "3")
    assert max(map(len, out.splitlines())) <= 80
    assert all(any(line.split()[:1] == [name] for line in out.splitlines()) for name in names)


def test_a_source_of_noise_is_left_out_and_that_is_said(cli: Cli) -> None:
    table = np.random.default_rng(1).random((40, 3)).tolist()
    rows = "".join(f"{a},{b},{loss}\n" for a, b, loss in table)
    cli.write("noise.csv", f"a,b,loss\n{rows}")
    cli.write("space.toml", "[parameters]\na = { low = 0.0, high = 1.0 }\n")
    cli.works("import", "noise.csv", "--study", "luck", "--value", "loss", "--goal", "minimize")
    cli.works("init", "space.toml", "--study", "new", "--source", "luck", "--goal", "minimize")
    ran = cli("status", "--explain")
    assert ran.code == 0
    assert "'luck' is not used" in ran.out
    assert "hetbo: note: 'luck' is not used" in ran.err
