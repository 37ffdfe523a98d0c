import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hetbo as hb
from backtesting.olds import hills
from cli.tools import Cli
from hetbo.cli.main import main


@pytest.fixture(scope="module")
def hilly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with three old runs."""
    path = tmp_path_factory.mktemp("hilly") / "hetbo.db"
    for experiment in hills(3, trials=8):
        experiment.to_optuna(f"sqlite:///{path}")
    return path


@pytest.fixture
def olds(cli: Cli, hilly: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line in a folder with that storage."""
    monkeypatch.setattr("hetbo.backtesting._plan.WITHOUT_REPEATS", 3)
    (cli.folder / "hetbo.db").write_bytes(hilly.read_bytes())
    return cli


BACKTEST = [
    *("backtest", "--source", "hill-0", "hill-1", "hill-2", "--method", "common"),
    *("--repeats", "1"),
]


def test_the_answer_is_a_sentence_and_two_tables(olds: Cli) -> None:
    out = olds.works(*BACKTEST)
    assert out.startswith("Old runs would have saved ")
    assert " of 3 cases" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["case", "without", "with", "saved", "in", "most", "runs"] in lines
    assert sum(line[:1] == ["hill-2"] for line in lines) == 2
    assert olds.files() >= {"hetbo.db.backtest.jsonl"}


def test_json_is_what_python_reads(olds: Cli) -> None:
    data = json.loads(olds.works(*BACKTEST, "--json"))
    found = hb.Backtest.from_json(data)
    assert [case.name for case in found.cases] == ["hill-0", "hill-1", "hill-2"]
    assert found.top == 0.05
    experiments = [hb.Experiment.from_optuna("sqlite:///hetbo.db", f"hill-{i}") for i in range(3)]
    assert hb.backtest(experiments, method="common", repeats=1) == found


def test_the_same_command_makes_no_replay_again(olds: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    first = olds.works(*BACKTEST, "-o", "kept.jsonl")
    monkeypatch.delattr("hetbo.backtesting._replay.Job.run")
    assert olds.works(*BACKTEST, "-o", "kept.jsonl") == first
    assert "kept.jsonl" in olds.files()


def test_the_report_is_one_page(olds: Cli) -> None:
    out = olds.works(*BACKTEST, "--report", "page.html")
    assert "page.html" in out
    assert "Old runs would have saved" in (olds.folder / "page.html").read_text("utf-8")


def test_sources_may_be_in_other_storages(olds: Cli) -> None:
    (olds.folder / "hetbo.db").rename(olds.folder / "archive.db")
    names = [f"archive.db::hill-{index}" for index in range(2)]
    out = olds.works("backtest", "--source", *names, "--method", "common", "--repeats", "1")
    assert "of 2 cases" in out or "nothing" in out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--source", "hill-0"], ("two experiments or more", "'hill-0'")),
        (["--source", "hill-0", "nope"], ("'nope'", "hill-1")),
        (["--source", "hill-0", "hill-1", "--method", "vanilla"], ("does not use sources",)),
        (["--source", "hill-0", "hill-1", "--top", "80"], ("--top 80", "0 to 50")),
        (["--source", "hill-0", "hill-1", "--repeats", "0"], ("repeats=0",)),
        (["--source", "hill-0", "hill-1", "-o", "space.toml"], ("no file of a backtest",)),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_one_line(
    olds: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    before = olds.files()
    olds.refuses("backtest", *arguments, parts=parts)
    assert olds.files() == before


def test_a_folder_is_no_report(olds: Cli) -> None:
    given = ["--source", "hill-0", "hill-1", "--report", "."]
    olds.refuses("backtest", *given, parts=("folder", "name a file"), code=2)


def test_the_help_says_how_long_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", "--help"]) == 0
    assert "minutes on one core" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_is_finished(olds: Cli) -> None:
    kept = olds.folder / "hetbo.db.backtest.jsonl"
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-m", "hetbo", *BACKTEST, "--workers", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while not kept.exists() or kept.read_bytes().count(b"\n") < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1:] == ["hetbo: stopped"]
    assert "Traceback" not in err
    assert "the same command goes on" in " ".join(out.split())
