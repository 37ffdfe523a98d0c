"""`--source`: patterns, whole storages, files; what cannot be used is named or left out."""

import json
import shutil
from pathlib import Path

import optuna
import pytest

from cli.tools import IMPORT, INIT, Cli
from hetbo import Experiment, Float, Space, Trial
from hetbo.cli._output import Waiting

ARCHIVE = "sqlite:///archive.db"
DIFF = ["diff", "--target", "space.toml", "--source"]
START = [*INIT[:4], "--method", "random", "--seed", "1", "--source"]
NEW = "learning_rate,max_depth,booster,loss\n0.01,3,dart,{0}\n0.02,5,gbtree,{0}1\n0.03,6,dart,\n"


@pytest.fixture
def archive(cli: Cli, made: Path) -> Cli:
    """An archive with old, old-2 and other; a folder of CSV files."""
    shutil.copy(made / "imported.db", "archive.db")
    old = Experiment.from_optuna(ARCHIVE, "old")
    for number, name in enumerate(["old-2", "other"], start=2):
        trials = [Trial(t.params, (t.value or 1.0) * number) for t in old.complete]
        Experiment(name, old.space, trials, goal="minimize", fixed=old.fixed).to_optuna(ARCHIVE)
    Path("runs").mkdir()
    for number, name in enumerate(["one", "two"]):
        cli.write(f"runs/{name}.csv", NEW.format(number))
    return cli


def sources_of(study: str) -> list[tuple[str | None, str]]:
    attributes = optuna.load_study(study_name=study, storage="sqlite:///hetbo.db").user_attrs
    return [(s["storage"], s["study"]) for s in attributes["hetbo:target"]["sources"]]


def test_a_pattern_names_studies_of_a_storage(archive: Cli) -> None:
    out = archive.works(*START, "archive.db::old*")
    assert "learns from 10 trials of 'old', 'old-2'" in out
    place = f"sqlite:///{Path('archive.db').absolute()}"
    assert sources_of("new") == [(str(place), "old"), (str(place), "old-2")] or [
        name for _, name in sources_of("new")
    ] == ["old", "old-2"]
    assert "other" in archive.works(*DIFF, "archive.db::*")
    archive.works("ask")


def test_a_pattern_names_studies_of_the_own_storage(archive: Cli) -> None:
    shutil.copy("archive.db", "hetbo.db")
    archive.works(*START, "o*")
    assert sources_of("new") == [(None, "old"), (None, "old-2"), (None, "other")]


@pytest.mark.parametrize("place", ["runs/*.csv", "runs", "runs/"])
def test_files_are_sources_and_are_stored_with_the_study(archive: Cli, place: str) -> None:
    assert "one → space" in archive.works(*DIFF, place)
    assert not Path("hetbo.db").exists()
    out = archive.works(*START, place)
    assert "learns from 4 trials of 'one', 'two'" in out
    assert sources_of("new") == [(None, "one"), (None, "two")]
    shutil.rmtree("runs")
    assert len(json.loads(archive.works("ask", "--json"))) == 1
    assert Experiment.from_optuna("sqlite:///hetbo.db", "one").goal == "minimize"


def test_files_that_are_stored_already_are_used_as_they_are(archive: Cli) -> None:
    archive.works(*START, "runs/one.csv")
    archive.works(*INIT[:2], "--study", "again", "--method", "random", "--source", "runs/one.csv")
    assert sources_of("again") == [(None, "one")]
    archive.write("runs/one.csv", NEW.format(5))
    archive.refuses(
        *(*INIT[:2], "--study", "third", "--source", "runs/one.csv"), parts=("'one'", "already")
    )
    assert "third" not in optuna.get_all_study_names("sqlite:///hetbo.db")


def test_a_study_cannot_have_the_name_of_a_source_in_a_file(archive: Cli) -> None:
    archive.refuses(
        *("init", "space.toml", "--study", "one", "--source", "runs"),
        parts=("--study 'one'", "choose another name"),
    )
    assert not Path("hetbo.db").exists()


def test_a_copy_of_a_source_is_noticed(archive: Cli) -> None:
    ran = archive(*START, "archive.db::old", "archive.db::old", "runs/one.csv", "runs/*")
    assert ran.code == 0
    assert ran.err == ""  # the same twice
    assert "learns from 9 trials of 'old', 'one', 'two'" in ran.out
    shutil.copy("runs/one.csv", "runs/three.csv")
    ran = archive(*DIFF, "archive.db::old", "runs")
    assert "note: a source is a copy and left out: 'runs/three.csv' of 'runs/one.csv'" in ran.err


def test_an_unusable_source_is_named_or_left_out(archive: Cli) -> None:
    apart = Experiment("apart", Space(z=Float(0, 1)), [Trial({"z": 0.5}, 1.0)], goal="minimize")
    apart.to_optuna(ARCHIVE)
    archive.write("runs/bad.csv", "learning_rate,loss\nx,1\n1,2\n")
    archive.write("runs/else.csv", "learning_rate,error\n0.1,1\n0.2,2\n")
    given = ["archive.db::*", "runs"]
    archive.refuses(
        *(*START, *given),
        parts=("3 of 8 sources cannot be used", "runs/bad.csv", "the others:", "--skip-unusable"),
    )
    assert not Path("hetbo.db").exists()
    ran = archive(*START, *given, "--skip-unusable")
    assert ran.code == 0
    assert "note: 3 of 8 sources cannot be used" in ran.err
    for name, reason in {
        "runs/bad.csv": "is not a number",
        "runs/else.csv": "has no column 'loss'",
        "archive.db::apart": "none of which is in space.toml",
    }.items():
        assert reason in ran.err.split(f"'{name}' (")[1].split("; '")[0]
    assert [name for _, name in sources_of("new")] == ["old", "old-2", "other", "one", "two"]


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("archive.db::nope", ("'nope'", "there are: 'old'")),
        ("archive.db::x*", ("'x*'", "there are: 'old'")),
        ("no.db::*", ("no.db", "there is no file")),
        ("", ("hetbo.db", "there is no file")),
        ("runs/*.tsv", ("hetbo.db", "there is no file")),
        ("runs/else.csv", ("no column 'loss'", "it has 'learning_rate', 'error'", "--value")),
        ("runs/empty.csv", ("no row has a value",)),
    ],
)
def test_what_is_no_source_is_refused(archive: Cli, source: str, parts: tuple[str, ...]) -> None:
    archive.write("runs/else.csv", "learning_rate,error\n0.1,1\n0.2,2\n")
    archive.write("runs/empty.csv", "learning_rate,loss\n0.1,\n0.2,\n")
    for words in (DIFF, START):
        archive.refuses(*words, source, parts=parts)
    assert not Path("hetbo.db").exists()


def test_a_hundred_sources_are_summed_up(cli: Cli) -> None:
    Path("runs").mkdir()
    for number in range(100):
        own = "learning_rate,extra" if number % 2 else f"learning_rate,p{number // 20}"
        rows = "".join(f"{0.01 * row},{row},{number + row}\n" for row in range(1, 4))
        cli.write(f"runs/r{number:03}.csv", f"{own},loss\n{rows}")
    lines = cli.works(*DIFF, "runs/*.csv").splitlines()
    assert "r001, r003, r005 and 47 more → space   (50 sources, 150 trials with a value)" in lines
    assert len(lines) < 200
    started = cli.works(*START, "runs/*.csv")
    assert "'r000', 'r001'" in started
    assert "and 92 more" in started
    told = cli.works("status")
    assert "r009" in told
    assert "r010" not in told
    assert "and 90 more, with 270 trials" in told


def test_commands_show_how_far_digesting_is(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_CACHE", str(cli.folder))
    shown: list[tuple[int, int]] = []
    monkeypatch.setattr(Waiting, "digesting", lambda _, *counts: shown.append(counts))
    Path("runs").mkdir()
    for number in range(7):
        rows = "".join(f"{0.01 * row},{row},{(row - number) ** 2}\n" for row in range(1, 9))
        cli.write(f"runs/r{number}.csv", f"learning_rate,max_depth,loss\n{rows}")
    cli.works(*INIT[:4], "--source", "runs/*.csv")
    cli.works("ask")
    assert shown == [(done, 7) for done in range(8)]
    for command in (["status", "--explain"], ["report"]):
        cli.works(*command)
        assert shown[-1] == (7, 7)
        shown.clear()


def test_old_and_new_forms_go_together(imported: Cli) -> None:
    Path("runs").mkdir()
    imported.write("runs/one.csv", NEW.format(1))
    imported.works(*START, "old", "runs/one.csv")
    assert sources_of("new") == [(None, "old"), (None, "one")]
    imported.refuses(*IMPORT, parts=("already",))
