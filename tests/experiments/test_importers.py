"""An importer from outside: JSON lines, which all of hetbo reads as soon as they are known."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from helpers import declare_commands, refused
from hetbo import DataError, Experiment, Float, Int, Space, Trial, read_sources
from hetbo.experiments import IMPORTERS, FileOptions, Table
from readers import WriteFile
from trackers import RUNS

LINES = '{"lr": 0.1, "depth": 3, "loss": 0.5}\n{"lr": 0.4, "depth": 5, "loss": null}\n'
SPACE = Space(lr=Float(0.1, 0.4), depth=Int(3, 5))


class JsonLines:
    suffixes = (".jsonl",)

    def read(self, path: Path, options: FileOptions) -> Iterable[Table]:  # noqa: ARG002
        lines = path.read_text(encoding="utf-8").splitlines()
        yield Table.from_records(map(json.loads, lines), origin=path.name)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(IMPORTERS, "jsonl", JsonLines())


@pytest.mark.usefixtures("lines")
def test_a_new_format_is_read_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text(LINES, encoding="utf-8")
    read = Experiment.from_file(path, value="loss", goal="minimize", fixed={"n": 1})
    assert read.space == SPACE
    assert [trial.value for trial in read.trials] == [0.5, None]
    assert read.fixed == {"n": 1}
    with refused(DataError, "old.jsonl", "row 2", "'lr'", "above high=0.2"):
        Experiment.from_file(
            path, value="loss", goal="minimize", space=SPACE.replace(lr=Float(0.1, 0.2))
        )


@pytest.mark.usefixtures("lines")
def test_a_new_format_is_read_by_its_name(write: WriteFile) -> None:
    path = write(LINES)
    assert Experiment.from_file(path, format="jsonl", value="loss", goal="minimize").space == SPACE
    assert read_sources(path, format="jsonl", value="loss", goal="minimize")[0].space == SPACE


@pytest.mark.usefixtures("lines")
def test_what_an_importer_cannot_read_is_told_in_one_line(write: WriteFile) -> None:
    with refused(DataError, "runs.csv", "JSONDecodeError"):
        Experiment.from_file(write("{"), format="jsonl", value="loss", goal="minimize")


@pytest.mark.usefixtures("tracker")
def test_the_importer_of_another_package_is_found(tmp_path: Path) -> None:
    path = tmp_path / "export.runs"
    path.write_text(RUNS, encoding="utf-8")
    read = Experiment.from_file(path)
    assert (read.name, read.goal) == ("ranger", "maximize")
    assert read.space == Space(lr=Float(0.1, 0.2), depth=Int(3, 5))
    assert read.best == Trial({"lr": 0.2, "depth": 5}, 0.9)
    assert read_sources(tmp_path / "*.runs") == [read]
    assert read_sources(tmp_path, format="runs") == [read]


def test_an_unknown_format_is_refused(write: WriteFile) -> None:
    with refused(DataError, "unknown format 'xlsx'; expected one of 'csv', 'json', 'optuna'"):
        Experiment.from_file(write("x,loss\n1,2\n"), format="xlsx")


def test_an_importer_that_cannot_be_loaded_is_named_with_its_package(
    write: WriteFile,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    declare_commands(
        "broken", {"odd": "nowhere.at:all"}, folder, monkeypatch, group="hetbo.importers"
    )
    with refused(DataError, "'odd'", "broken", "cannot be loaded", "uninstall"):
        Experiment.from_file(write("x,loss\n1,2\n"), format="odd")


def test_every_format_is_read_into_equal_experiments(tmp_path: Path) -> None:
    trials = [Trial({"lr": 0.1, "depth": 3}, 0.5), Trial({"lr": 0.4, "depth": 5}, 1.5)]
    old = Experiment("old", SPACE, trials, goal="minimize")
    old.save(tmp_path / "saved.json")
    rows = [{**trial.params, "loss": trial.value} for trial in trials]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "table.csv").write_text("lr,depth,loss\n0.1,3,0.5\n0.4,5,1.5\n", encoding="utf-8")
    old.to_optuna(f"sqlite:///{tmp_path}/study.db")
    files = ["saved.json", "rows.json", "table.csv", "study.db"]
    for file in files:
        knows = file in {"saved.json", "study.db"}
        told = {} if knows else {"value": "loss", "goal": "minimize"}
        read = Experiment.from_file(tmp_path / file, name="old", **told)  # type: ignore[arg-type]
        assert read == old


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("[1]", ["row 1", "1 is not a dict"]),
        ("{}", ["not a hetbo experiment", "list of objects"]),
        ("[]", ["empty"]),
        ("[", ["not a JSON file"]),
    ],
)
def test_json_that_holds_no_runs_is_refused(tmp_path: Path, content: str, parts: list[str]) -> None:
    path = tmp_path / "runs.json"
    path.write_text(content, encoding="utf-8")
    with refused(DataError, "runs.json", *parts):
        Experiment.from_file(path, value="loss", goal="minimize")


def test_what_a_format_does_not_know_must_be_said(write: WriteFile, tmp_path: Path) -> None:
    path = write("x,loss\n1,2\n3,4\n")
    with refused(DataError, "runs.csv", "value=", "'x', 'loss'"):
        Experiment.from_file(path, goal="minimize")
    with refused(DataError, "runs.csv", "goal=", "'minimize'"):
        Experiment.from_file(path, value="loss")
    old = Experiment("old", SPACE, goal="minimize")
    old.save(tmp_path / "old.json")
    with refused(DataError, "old", "goal='maximize'", "minimize"):
        Experiment.from_file(tmp_path / "old.json", goal="maximize")
    with refused(DataError, "old", "noise=", "no meaning"):
        Experiment.from_file(tmp_path / "old.json", noise="sd")
    assert Experiment.from_file(tmp_path / "old.json", rename={"lr": "eta"}).space.names == (
        "eta",
        "depth",
    )


def test_columns_of_different_lengths_are_refused() -> None:
    with refused(DataError, "runs", "'b'", "1 cells", "2"):
        Table("runs", {"a": [1, 2], "b": [3]})


@pytest.mark.parametrize(
    ("yielded", "parts"),
    [
        ([], ["holds no experiment"]),
        ([[1]], ["yields [1]", "expected a Table"]),
        ([DataError("run 3 is damaged")], ["run 3 is damaged"]),
        ([Table("a", {"x": [1], "loss": [1]}), Table("b", {"x": [1]})], ["holds 2 experiments"]),
        ([Table("a", {"x": [1, 2], "loss": [1, 2]}, goal="up")], ["goal='up'", "'minimize'"]),  # type: ignore[arg-type]
    ],
)
def test_what_an_importer_yields_is_checked(
    write: WriteFile, monkeypatch: pytest.MonkeyPatch, yielded: list[object], parts: list[str]
) -> None:
    class Odd:
        suffixes = (".odd",)

        def read(self, path: Path, options: FileOptions) -> Iterable[Table]:  # noqa: ARG002
            return yielded  # type: ignore[return-value]

    monkeypatch.setitem(IMPORTERS, "odd", Odd())
    with refused(DataError, *parts):
        Experiment.from_file(write(""), format="odd", value="loss")


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyError("runs"), TypeError()])
def test_an_importer_that_fails_is_told_in_one_line(
    write: WriteFile, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    class Odd:
        suffixes = (".odd",)

        def read(self, path: Path, options: FileOptions) -> Iterable[Table]:  # noqa: ARG002
            raise error

    monkeypatch.setitem(IMPORTERS, "odd", Odd())
    with refused(DataError, "cannot read", "runs.csv", str(error.args[-1] if error.args else "")):
        Experiment.from_file(write(""), format="odd")


@pytest.mark.usefixtures("tracker")
def test_a_goal_that_contradicts_the_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.runs"
    path.write_text(RUNS, encoding="utf-8")
    conflict = ["export.runs", "goal='minimize'", "its format says maximize", "leave out goal="]
    with refused(DataError, *conflict):
        Experiment.from_file(path, goal="minimize")
    with refused(DataError, *conflict):
        read_sources(path, value="auc", goal="minimize")
    assert read_sources(path, goal="maximize")[0].goal == "maximize"


@pytest.mark.usefixtures("tracker")
def test_the_goal_that_a_format_knows_is_that_of_its_own_column(tmp_path: Path) -> None:
    path = tmp_path / "export.runs"
    path.write_text(RUNS, encoding="utf-8")
    with refused(DataError, "export.runs", "say with goal="):
        Experiment.from_file(path, value="lr")
    read = Experiment.from_file(path, value="lr", goal="minimize", drop=["auc"])
    assert (read.goal, read.space.names) == ("minimize", ("depth",))
    with refused(DataError, "export.runs", "no column 'loss'"):
        Experiment.from_file(path, value="loss", goal="maximize")
