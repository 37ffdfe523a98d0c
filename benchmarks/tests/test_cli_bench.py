"""`hetbo bench` as it is typed."""

import io
import json
import random
import sys
from pathlib import Path

import pytest

from hetbo.cli.main import main
from hetbo_bench.running.runs import append_run
from made_runs import made_run

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)
    monkeypatch.setenv("HETBO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")


def test_list_names_problems_suites_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list"]) == 0
    out = capsys.readouterr().out
    for word in (
        "hartmann",
        "x1, x2, x3",
        "3.32237",
        "fcnet-protein",
        "mlp-car",
        "paper",
        "auto",
        "optuna-tpe",
    ):
        assert word in out
    # What cannot be made here is named, with what to do about it.
    assert "ranger" in out
    assert "hetbo bench data hpob" in out


def test_run_compare_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["bench", "run", "--problems", "hartmann_8", "--methods", "random", "--workers", "1"]
    assert main([*run, "--replications", "3"]) == 0
    assert len((tmp_path / "results" / "quick.jsonl").read_text("utf-8").splitlines()) == 3
    assert main([*run, "--replications", "3"]) == 0
    assert "3 of 3 replications were done before" in capsys.readouterr().err
    assert main(["bench", "compare", "results"]) == 0
    assert "hartmann_8" in capsys.readouterr().out
    assert main(["bench", "compare", "results/quick.jsonl", "--as", "json"]) == 0
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["problem"] == "hartmann_8"
    assert main(["bench", "compare", "results", "--as", "markdown"]) == 0
    assert "| random" in capsys.readouterr().out
    assert main(["bench", "plot", "results", "-o", "pictures"]) == 0
    written = [Path(line) for line in capsys.readouterr().out.split()]
    assert {path.suffix for path in written} == {".pdf", ".png"}
    assert all(path.stat().st_size > 1000 for path in written)


def test_starts_that_cannot_be_paired_are_told_before_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hetbo_bench.running.runner.run_jobs", lambda *_, **__: [])
    for problem, told in [("hartmann_30", True), ("hartmann_8", False)]:
        run = ["bench", "run", "--problems", problem, "--methods", "random", "random"]
        assert main([*run, "--replications", "2", "-o", "runs.jsonl"]) == 0
        captured = capsys.readouterr()
        assert ("hartmann_30: starts are drawn" in captured.out) is told
        assert "2 replications" in captured.err, "a method that is named twice runs once"


def test_problems_can_be_left_out_of_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for problem in ("here", "there"):
        append_run(tmp_path / "runs.jsonl", made_run(range(40), problem=problem))
    assert main(["bench", "plot", "runs.jsonl", "--problems", "nowhere"]) == 1
    assert "here, there" in capsys.readouterr().err
    assert main(["bench", "plot", "runs.jsonl", "--problems", "here", "-o", "pictures"]) == 0
    assert {path.stem for path in (tmp_path / "pictures").iterdir()} == {"other_problems"}


def test_the_tree_of_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "tree", "hartmann"]) == 0
    assert "x1, x2, x3, x4" in capsys.readouterr().out
    assert main(["bench", "tree", "hartmann", "-o", "tree.svg"]) == 0
    assert capsys.readouterr().out == "tree.svg\n"
    assert (tmp_path / "tree.svg").read_text("utf-8").startswith("<svg")
    assert main(["bench", "tree", "hartmann", "-o", "tree.dot"]) == 0
    assert main(["bench", "tree", "hartmann", "-o", "tree.txt"]) == 1


def test_methods_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("auto", "vanilla"):
        append_run(tmp_path / "runs.jsonl", made_run(range(40), method=method))
    assert main(["bench", "compare", "runs.jsonl", "--methods", "auto"]) == 0
    out = capsys.readouterr().out
    assert "auto" in out
    assert "vanilla" not in out


def test_regret_relative_to_any_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("auto", "vanilla"):
        append_run(tmp_path / "runs.jsonl", made_run(range(40), method=method))
    assert main(["bench", "compare", "runs.jsonl", "--against", "auto", "--as", "markdown"]) == 0
    assert "to auto" in capsys.readouterr().out
    assert main(["bench", "compare", "runs.jsonl", "--against", "nobody"]) == 1
    assert "'nobody', only of auto, vanilla" in capsys.readouterr().err


def test_problems_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for problem in ("fcnet-a", "mlp-a"):
        append_run(tmp_path / "runs.jsonl", made_run(range(40), problem=problem))
    assert main(["bench", "compare", "runs.jsonl", "--problems", "mlp"]) == 0
    out = capsys.readouterr().out
    assert "mlp-a" in out
    assert "fcnet" not in out


def test_a_finished_run_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    append_run(tmp_path / "my runs.jsonl", made_run(range(40), problem="hartmann_8"))
    command = ["--problems", "hartmann_8", "--methods", "vanilla", "--replications", "1"]
    assert main(["bench", "run", *command, "-o", "my runs.jsonl"]) == 0
    told = capsys.readouterr()
    assert "1 of 1 replications, nothing left" in told.err
    assert "hetbo bench compare 'my runs.jsonl'" in told.out


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (["run", "--suite", "papers"], "papers"),
        (["run", "--methods", "auot"], "auot"),
        (["run", "--problems", "ranger_30"], "hetbo bench data hpob"),
        (["run", "--workers", "0"], "--workers 0"),
        (["run", "--replications", "0"], "replications=0"),
        (["compare", "missing.jsonl"], "missing.jsonl"),
        (["compare", "."], "hetbo bench run"),
        (["plot", "missing.jsonl"], "missing.jsonl"),
        (["tree", "nothing"], "nothing"),
        (["data", "hpob", "--from", "missing.zip"], "missing.zip"),
    ],
)
def test_errors_are_one_line(
    command: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *command]) == 1
    error = capsys.readouterr().err
    assert part in error
    assert error.startswith("hetbo: ")
    assert error.count("\n") == 1


def test_list_works_on_a_plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        assert main(["bench", "list"]) == 0
    screen.seek(0)
    assert "problem" in screen.read()


HOSTILE = ["", " ", "\0", "\udcff", "x" * 5000, "1" * 5000, "-1", "--", "=", "a=b", "nan", "1e999"]
HOSTILE += [
    "folder",
    "loop",
    "runs.csv",
    "bytes.jsonl",
    "\n",
    "'",
    "9" * 30,
    "\x1b[31m",
    "hartmann_8",
]
COMMANDS = [
    ["bench", "run", "--suite", "nope", "--problems", "x", "-o", "folder/x.jsonl"],
    ["bench", "compare", "runs.csv", "--as", "json"],
    ["bench", "tree", "nope", "-o", "tree.svg"],
]


def test_no_arguments_end_in_an_error_that_nobody_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "runs.csv").write_text("lr,loss\n0.1,1\n", encoding="utf-8")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    rng = random.Random(4)  # noqa: S311  # which arguments are tried
    for _ in range(60):
        given = list(rng.choice(COMMANDS))
        place = rng.randrange(2, len(given))
        given[place : place + rng.choice([0, 1])] = [rng.choice(HOSTILE)]
        code = main(given)
        error = capsys.readouterr().err
        assert code in {0, 1, 2}, given
        assert "unexpected" not in error, (given, error)
        assert len(error) < 1200, given
