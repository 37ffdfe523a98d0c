"""Many sources at once: files, folders, patterns, storages; what is wrong among them is named."""

import sqlite3
import warnings
from pathlib import Path

import optuna
import pytest
from optuna.storages import RDBStorage

from helpers import refused
from hetbo import (
    Categorical,
    DataError,
    DataWarning,
    Experiment,
    Float,
    Int,
    Optimizer,
    Space,
    Trial,
    read_sources,
)
from hetbo._sources import place_and_names, with_own_names
from trackers import RUNS

ROWS = "x,depth,loss\n0.1,3,{0}\n0.4,5,{0}.5\n0.9,4,\n"
TARGET = Space(x=Float(0, 1), depth=Int(1, 8))


def experiment(name: str, value: float = 1.0, space: Space = TARGET) -> Experiment:
    trials = [Trial({n: p.check(1) for n, p in space.items()}, value)]
    return Experiment(name, space, trials, goal="maximize")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two folders with CSV files, one with a note beside them, and a storage with three studies."""
    for number, path in enumerate(["a/runs.csv", "b/runs.csv", "b/more.CSV"], start=1):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(ROWS.format(number), encoding="utf-8")
    (tmp_path / "b" / "notes.log").write_text("nothing to read", encoding="utf-8")
    for number, name in enumerate(["fraud-1", "fraud-2", "churn"]):
        experiment(name, number).to_optuna(f"sqlite:///{tmp_path}/archive.db")
    return tmp_path


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["a/runs.csv"], ["runs"]),
        (["b"], ["more", "runs"]),
        (["*/runs.csv"], ["a/runs", "b/runs"]),
        (["**/*.[cC][sS][vV]"], ["a/runs", "more", "b/runs"]),
        (["b/more.CSV", "a"], ["more", "runs"]),
    ],
)
def test_files_folders_and_patterns_stand_for_what_is_there(
    archive: Path, places: list[str], names: list[str]
) -> None:
    every = [archive / place for place in places]
    read = read_sources(*every, value="loss", goal="minimize")
    assert [source.name for source in read] == names
    assert all(len(source.trials) == 3 and source.goal == "minimize" for source in read)
    assert read == read_sources(*map(str, every), value="loss", goal="minimize")


def test_a_storage_stands_for_its_studies(archive: Path) -> None:
    every = [experiment(name, n) for n, name in enumerate(["fraud-1", "fraud-2", "churn"])]
    url = f"sqlite:///{archive}/archive.db"
    for place in (archive / "archive.db", url, RDBStorage(url)):
        assert read_sources(place) == every
    for place in (f"{archive}/archive.db::fraud-*", f"{url}::fraud-?"):
        assert read_sources(place) == every[:2]
    assert read_sources(f"{url}::churn", every[0]) == [every[2], every[0]]


def test_a_journal_and_a_study_with_several_spaces_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "old.log"))
    study = optuna.create_study(
        study_name="old", storage=optuna.storages.JournalStorage(backend), direction="maximize"
    )
    for value, name in enumerate(["x", "y", "y"]):
        study.add_trial(
            optuna.trial.create_trial(
                params={name: value / 3},
                distributions={name: optuna.distributions.FloatDistribution(0, 1)},
                value=value,
            )
        )
    read = read_sources(tmp_path / "old.log")
    assert [(source.name, source.space.names) for source in read] == [
        ("old", ("x",)),
        ("old (2)", ("y",)),
    ]
    with refused(DataError, "old.log", "nothing"):
        read_sources("old.log::nothing")


def test_sources_can_be_given_to_an_optimizer(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive)
    with pytest.warns(DataWarning, match=r"'archive.db::fraud-2' of 'archive.db::fraud-2'"):
        sources = read_sources("archive.db", "archive.db::fraud-2")
    assert len(sources) == 3
    assert Optimizer(TARGET, sources=sources, goal="maximize").ask().params


def test_what_cannot_be_read_is_named_or_left_out_on_demand(archive: Path) -> None:
    (archive / "a" / "bad.csv").write_text("x,loss\n1,oops\n", encoding="utf-8")
    (archive / "a" / "empty.csv").write_bytes(b"")
    with refused(
        DataError, "2 of 3 sources", "bad.csv", "'oops'", "the others:", "empty.csv", "on_unusable="
    ):
        read_sources(archive / "a", value="loss", goal="minimize")
    with pytest.warns(DataWarning, match=r"2 of 3 sources cannot be used: .*bad\.csv") as caught:
        read = read_sources(archive / "a", value="loss", goal="minimize", on_unusable="skip")
    assert [source.name for source in read] == ["runs"]
    assert "empty.csv' (" in str(caught[0].message)  # with the reason
    assert Path(caught[0].filename) == Path(__file__)
    with refused(DataError, "2 of 2 sources", "bad.csv"):
        read_sources(
            *(archive / "a" / name for name in ("bad.csv", "empty.csv")),
            value="loss",
            goal="minimize",
            on_unusable="skip",
        )


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        ("nowhere.csv", ["nowhere.csv", "No such file"]),
        ("*.xyz", ["no file fits", "*.xyz"]),
        ("nothing", ["folder", "no csv file", "*.json"]),
        ("archive.db::x*", ["no study has such a name", "'churn'"]),
        ("nowhere.db", ["nowhere.db", "there is no file"]),
        ("other.db", ["other.db", "holds something else"]),
        ("bytes.db", ["bytes.db", "not a database"]),
        ("bytes.log", ["bytes.log", "journal"]),
        ("what://ever", ["what://ever"]),
        ("", ["names nothing"]),
        ("::x", ["names nothing"]),
    ],
)
def test_a_place_that_holds_nothing_is_refused_in_one_line(
    archive: Path, monkeypatch: pytest.MonkeyPatch, place: str, parts: list[str]
) -> None:
    monkeypatch.chdir(archive)
    (archive / "nothing").mkdir()
    for name in ("bytes.db", "bytes.log"):
        (archive / name).write_bytes(bytes(range(256)) * 20)
    with sqlite3.connect(archive / "other.db") as other:
        other.execute("CREATE TABLE mine (x)")
    before = {path: path.read_bytes() for path in archive.iterdir() if path.is_file()}
    with refused(DataError, "the source", "cannot be used", *parts):
        read_sources(place, value="loss", goal="minimize")
    assert {path: path.read_bytes() for path in archive.iterdir() if path.is_file()} == before


def test_studies_without_a_value_or_with_two_objectives_are_unusable(archive: Path) -> None:
    url = f"sqlite:///{archive}/archive.db"
    optuna.create_study(storage=url, study_name="empty")
    optuna.create_study(storage=url, study_name="two", directions=["minimize", "maximize"])
    with refused(DataError, "2 of 5 sources", "'empty'", "no complete trial", "the others:"):
        read_sources(url)
    with pytest.warns(DataWarning, match="2 of 5 sources"):
        assert len(read_sources(url, on_unusable="skip")) == 3


def test_sources_that_do_not_fit_the_target_are_unusable() -> None:
    good = experiment("good")
    unlike = experiment("unlike", space=Space(x=Categorical(1, 2)))
    apart = experiment("apart", space=Space(z=Float(0, 1)))
    against = experiment("against", space=TARGET.replace(q=Float(0, 1)))
    with_q = experiment("with q", space=TARGET.replace(q=Categorical(1, 2)))
    every = [good, unlike, apart, against, with_q]
    assert read_sources(*every) == every
    with pytest.warns(DataWarning, match="3 of 5 sources") as caught:
        assert read_sources(*every, target=TARGET, on_unusable="skip") == [good, against]
    message = str(caught[0].message)
    for name in ("unlike", "apart", "with q"):
        assert f"'{name}'" in message
    with refused(DataError, "'x' is a number in target", "'unlike'"):
        read_sources(*every, target=TARGET)


def test_copies_are_noticed(archive: Path) -> None:
    (archive / "copy.csv").write_text(ROWS.format(1), encoding="utf-8")
    with pytest.warns(
        DataWarning, match=r"a source is a copy and left out: '.*/copy.csv' of '.*/a/runs.csv'"
    ):
        read = read_sources(
            archive / "a/runs.csv", archive / "copy.csv", value="loss", goal="minimize"
        )
    assert [source.name for source in read] == ["runs"]
    first, other = experiment("first"), experiment("other", value=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_sources(first, other) == [first, other]


def test_names_are_unique() -> None:
    every = [experiment("old", value) for value in range(3)]
    assert [source.name for source in with_own_names(every)] == ["old", "old [2]", "old [3]"]
    assert [source.name for source in read_sources(*every)] == ["old", "old [2]", "old [3]"]
    assert with_own_names([experiment("target")])[0].name == "target [2]"


def test_options_have_their_effect(archive: Path) -> None:
    (archive / "semi.csv").write_text("x;y;loss\n1,5;a;1\n2,5;a;2\n", encoding="utf-8")
    (read,) = read_sources(
        archive / "semi.csv",
        value="loss",
        goal="minimize",
        decimal=",",
        rename={"x": "lr"},
        drop=["y"],
        fixed={"n": 3},
    )
    assert read.space == Space(lr=Float(1.5, 2.5))
    assert read.fixed == {"n": 3}
    with refused(DataError, "on_unusable='ignore'"):
        read_sources(archive, on_unusable="ignore")  # type: ignore[arg-type]


@pytest.mark.usefixtures("tracker")
def test_a_format_that_knows_its_column_is_read_beside_one_that_does_not(archive: Path) -> None:
    (archive / "export.runs").write_text(RUNS, encoding="utf-8")
    places = [archive / "export.runs", archive / "a" / "runs.csv"]
    read = read_sources(*places, value="loss", goal="maximize")
    assert [source.name for source in read] == ["ranger", "runs"]
    assert [source.complete[0].value for source in read] == [0.8, 1.0]
    with refused(DataError, "export.runs", "no column 'loss'"):
        read_sources(places[0], value="loss", goal="maximize")  # nothing else could have it


@pytest.mark.parametrize(
    ("text", "place", "names"),
    [
        ("archive.db", "archive.db", None),
        ("archive.db::", "archive.db", ""),
        ("archive.db::fraud-[12]", "archive.db", "fraud-[12]"),
        ("old[1]::x[2]", "old[1]", "x[2]"),
        ("postgresql://me@[::1]:5432/db", "postgresql://me@[::1]:5432/db", None),
        ("postgresql://me@[fe80::1]/db::a*", "postgresql://me@[fe80::1]/db", "a*"),
        ("postgresql://me@[::1]/db::[ab]", "postgresql://me@[::1]/db", "[ab]"),
        ("postgresql://[::1/x", "postgresql://[", "1/x"),
        ("x::" + "n" * 5000, "x", "n" * 5000),
    ],
)
def test_names_stand_behind_the_last_colons_outside_of_a_host(
    text: str, place: str, names: str | None
) -> None:
    assert place_and_names(text) == (place, names)


def test_a_file_may_have_colons_in_its_name(archive: Path) -> None:
    (archive / "a::b.csv").write_text(ROWS.format(1), encoding="utf-8")
    assert read_sources(archive / "a::b.csv", value="loss", goal="minimize")[0].name == "a::b"


def test_a_host_given_by_its_address_is_not_cut() -> None:
    with refused(DataError, "'nothing://me@[::1]:5432/db::*' cannot be used"):
        read_sources("nothing://me@[::1]:5432/db")


@pytest.mark.parametrize("place", [5, None, [experiment("a"), experiment("b")], {"a.csv": 1}, b"a"])
def test_what_is_no_place_is_refused(place: object) -> None:
    with refused(DataError, "is not a place", "read_sources(*places)"):
        read_sources(place)  # type: ignore[arg-type]
