"""`hetbo import` takes what importers read: other formats, several files, several experiments."""

from pathlib import Path

import pytest

from cli.tools import Cli
from hetbo import Experiment, Float, Space, Trial
from hetbo.cli._space_files import SpaceFile, read_space_file
from trackers import RUNS

SPACE = Space(x=Float(0, 1))


@pytest.mark.usefixtures("tracker")
def test_the_format_of_another_package(cli: Cli) -> None:
    cli.write("export.runs", RUNS)
    out = cli.works("import", "export.runs")
    assert "'ranger': 2 trials; maximize, best 0.9" in out
    assert 'value = "auc"' in out
    cli.write("other.txt", RUNS)
    again = cli.works("import", "other.txt", "--format", "runs", "--study", "again")
    assert "'again': 2 trials" in again
    assert Experiment.from_optuna("sqlite:///hetbo.db", "ranger").complete[0].value == 0.8
    cli.refuses("import", "other.txt", "--format", "ini", parts=("unknown format 'ini'", "'csv'"))


def test_several_files_become_several_studies(cli: Cli) -> None:
    for folder in ("a", "b"):
        (cli.folder / folder).mkdir()
        cli.write(f"{folder}/runs.csv", f"x,loss\n1,{len(folder)}\n2,3\n")
    goal = ("--value", "loss", "--goal", "minimize")
    out = cli.works("import", "runs.csv", "a/runs.csv", "b/runs.csv", *goal)
    for name in ("'cli.folder/runs'", "'a/runs'", "'b/runs'"):
        assert f"{name.replace('cli.folder', cli.folder.name)}: " in out
    cli.refuses("import", "a/runs.csv", "b/runs.csv", "--study", "x", *goal, parts=("one study",))
    cli.refuses("import", *goal, parts=("hetbo import FILE",))


def test_a_bad_file_among_several_leaves_nothing(cli: Cli) -> None:
    cli.write("bad.csv", "x,loss\n1,oops\n")
    cli.refuses(
        *("import", "runs.csv", "bad.csv", "--value", "loss", "--goal", "minimize"),
        parts=("bad.csv", "'oops'"),
    )
    assert not Path("hetbo.db").exists()


def test_a_whole_storage_is_imported(cli: Cli) -> None:
    for name in ("fraud-1", "fraud-2", "churn"):
        trials = [Trial({"x": len(name) / 10}, 1.0)]
        Experiment(name, SPACE, trials, goal="maximize").to_optuna("sqlite:///archive.db")
    out = cli.works("import", "archive.db::fraud-*")
    assert "'fraud-1': 1 trial; maximize" in out
    assert "'churn'" not in out
    assert "--source fraud-1 fraud-2" in out
    cli.refuses("import", "archive.db::other", parts=("no study", "'churn'"))


@pytest.mark.usefixtures("tracker")
def test_formats_that_know_their_column_are_imported_beside_others(cli: Cli) -> None:
    cli.write("export.runs", RUNS)
    cli.write("a.csv", "x,value\n1,5\n2,6\n")
    cli.write("b.csv", "x,loss\n1,5\n2,6\n")
    goal = ("--goal", "maximize")
    assert "'ranger': 2 trials; maximize, best 0.9" in cli.works(
        "import", "export.runs", "a.csv", *goal, "--storage", "a.db"
    )
    assert "'b': 2 trials; maximize, best 6" in cli.works(
        "import", "export.runs", "b.csv", "--value", "loss", *goal, "--storage", "b.db"
    )


@pytest.mark.usefixtures("tracker")
def test_what_a_format_knows_is_not_overruled(cli: Cli) -> None:
    cli.write("export.runs", RUNS)
    cli.refuses(
        *("import", "export.runs", "--goal", "minimize"),
        parts=("--goal 'minimize'", "its format says maximize", "leave out --goal\n"),
    )
    cli.refuses("import", "export.runs", "--value", "loss", parts=("no column 'loss'",))
    cli.refuses("import", "export.runs", "--value", "lr", parts=("say with --goal whether",))
    assert not Path("hetbo.db").exists()


def test_the_space_is_read_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def counted(path: Path) -> SpaceFile:
        read.append(path)
        return read_space_file(path)

    monkeypatch.setattr("hetbo.cli._import.read_space_file", counted)
    cli.write("space.toml", "[parameters]\nx = { low = 0, high = 9 }\n")
    for name in ("a.csv", "b.csv"):
        cli.write(name, "x,value\n1,5\n2,6\n")
    words = ("import", "a.csv", "b.csv", "--space", "space.toml", "--goal", "minimize")
    cli.works(*words)
    assert read == [Path("space.toml")]
