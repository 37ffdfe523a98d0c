"""HPO-B's problems in natural units."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hetbo.errors import DataError
from hetbo.spaces import Categorical, Float, Int
from hetbo_bench.data.hpob_files import DESCRIPTORS, TEST, TRAIN
from hetbo_bench.data.hpob_tables import COLUMNS, HpobTable, tables_of
from hetbo_bench.problems.hpob import FAMILIES, paper_problem
from hetbo_bench.problems.hpob_natural import DEFAULTS, natural_problem, natural_units
from hetbo_bench.running.replication import replicate
from hpob_samples import descriptors, scaled, tables

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "published"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the paper's runs (shared/data/published) are absent"
)
CLOSE = 1e-9


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tables be the real ones."""
    monkeypatch.setenv("HETBO_PUBLISHED", str(PUBLISHED))


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the tables be made-up ones, in the layout of the download."""
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)
    monkeypatch.setenv("HETBO_DATA", str(tmp_path))
    folder = tmp_path / "hpob"
    folder.mkdir()
    for name, data in (tables() | {DESCRIPTORS: descriptors()}).items():
        (folder / name).write_text(json.dumps(data), encoding="utf-8")
    working = tmp_path / "a" / "b"
    working.mkdir(parents=True)
    monkeypatch.chdir(working)
    return folder


def check_round_trip(family: str, described: Mapping[str, Any]) -> None:
    """Every row of every table, scaled anew by the written-out formula, is the stored one."""
    members = FAMILIES[family]
    found = tables_of(family, target=members.target, sources=members.sources, source_trials=30)
    for key, table in found.items():
        encoding = natural_units(table, found[members.target], described)
        for x in table.X:
            params = encoding.space.check(encoding.params(x))
            stored = dict(zip(table.columns, x, strict=True))
            is_set = {
                name: None if stored.get(f"{name}.na") == 1.0 else value
                for name, value in params.items()
            }
            for column, cell in scaled(key, is_set, dict(described)).items():
                assert cell == pytest.approx(stored[column], abs=CLOSE)
            for name, value in is_set.items():
                assert value is not None or params[name] == DEFAULTS[name]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("downloaded")
def test_made_up_rows_survive_the_way_there_and_back(family: str) -> None:
    check_round_trip(family, descriptors())


@needs_published
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("published")
def test_real_rows_survive_the_way_there_and_back(family: str) -> None:
    path = PUBLISHED / "hpob_descriptors.json"
    check_round_trip(family, json.loads(path.read_text(encoding="utf-8")))


@needs_published
@pytest.mark.usefixtures("published")
def test_ranger_has_six_parameters_of_which_the_target_has_four() -> None:
    problem = natural_problem("ranger-natural", "ranger", source_trials=30)
    assert problem.space.names == ("num.trees", "mtry", "sample.fraction", "replace")
    assert problem.space["num.trees"] == Int(1, 2000, log=True)
    assert problem.space["mtry"] == Int(1, 1324, log=True)
    assert problem.space["replace"] == Categorical("INVALID", "FALSE")
    assert isinstance(problem.space["sample.fraction"], Float)
    added = {"respect.unordered.factors"}
    assert set(problem.source_spaces["5965"]) == {*problem.space, *added}
    assert set(problem.source_spaces["7607"]) == {*problem.space, *added, "min.node.size"}
    assert len(problem.joint().space) == 6


@needs_published
@pytest.mark.usefixtures("published")
def test_rpart_has_comparable_units() -> None:
    problem = natural_problem("rpart-natural", "rpart", source_trials=30)
    assert problem.space["minsplit"] == Int(2, 128, log=True)
    assert problem.space["minbucket"] == Int(1, 64, log=True)
    for space in problem.source_spaces.values():
        assert space.names == ("minsplit", "minbucket", "cp", "maxdepth")
        assert space["minsplit"] == Int(1, 60, log=True)
        assert space["maxdepth"] == Int(1, 30)


@needs_published
@pytest.mark.usefixtures("published")
def test_what_is_not_set_is_the_only_value_that_never_occurs() -> None:
    members = FAMILIES["rpart"]
    found = tables_of("rpart", target=members.target, sources=members.sources, source_trials=30)
    table = found["5636"]
    described = json.loads((PUBLISHED / "hpob_descriptors.json").read_text(encoding="utf-8"))
    encoding = natural_units(table, found["4796"], described)
    for name, high in [("minsplit", 60), ("maxdepth", 30)]:
        unset = table.columns.index(f"{name}.na")
        occurring = {encoding.params(x)[name] for x in table.X if x[unset] == 0.0}
        assert {*range(1, high + 1)} - occurring == {DEFAULTS[name]}


@needs_published
@pytest.mark.parametrize(
    ("family", "source_trials", "candidates"),
    [("ranger", 10, 298), ("ranger", 30, 298), ("ranger", 50, 298), ("rpart", 30, 300)],
)
@pytest.mark.usefixtures("published")
def test_it_is_the_published_problem_in_other_words(
    family: str, source_trials: int, candidates: int
) -> None:
    paper = paper_problem("p", family, source_trials=source_trials)
    natural = natural_problem("n", family, source_trials=source_trials)
    assert natural.published == paper.published == f"{family}_{source_trials}"
    assert natural.replications == paper.replications == 50
    assert natural.optimum == paper.optimum
    assert paper.candidates is not None
    assert natural.candidates is not None
    assert len(natural.candidates) == candidates
    values = [natural.evaluate(params) for params in natural.candidates]
    assert values == [paper.evaluate(params) for params in paper.candidates]
    row = {tuple(p.values()): i for i, p in enumerate(paper.candidates)}
    own_row = {tuple(p.values()): i for i, p in enumerate(natural.candidates)}
    assert len(own_row) == candidates
    for replication in range(50):
        ours, theirs = natural.start(replication), paper.start(replication)
        assert [s.name for s in ours.sources] == [s.name for s in theirs.sources]
        for source, other in zip(ours.sources, theirs.sources, strict=True):
            assert [t.value for t in source.trials] == [t.value for t in other.trials]
        for trial, other_trial in zip(ours.trials, theirs.trials, strict=True):
            assert own_row[tuple(trial.params.values())] == row[tuple(other_trial.params.values())]
            assert natural.evaluate(trial.params) == trial.value == other_trial.value


@needs_published
@pytest.mark.usefixtures("published")
def test_the_columns_are_those_of_the_descriptors_and_the_paper() -> None:
    described = json.loads((PUBLISHED / "hpob_descriptors.json").read_text(encoding="utf-8"))
    assert {key: list(columns) for key, columns in COLUMNS.items()} == {
        key: space["variables_order"] for key, space in described.items()
    }


@needs_published
@pytest.mark.parametrize("family", FAMILIES)
def test_the_download_is_put_into_the_paper_s_order(
    family: str, downloaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = FAMILIES[family]
    ids = {"target": members.target, "sources": members.sources}
    monkeypatch.setenv("HETBO_PUBLISHED", str(PUBLISHED))
    theirs = tables_of(family, **ids, source_trials=30)  # type: ignore[arg-type]
    stored: dict[str, Any] = {TRAIN: {}, TEST: {}}
    for key, table in theirs.items():
        order = [table.columns.index(column) for column in COLUMNS[key]]
        data = {"X": [[x[i] for i in order] for x in table.X], "y": [[y] for y in table.y]}
        stored[TEST if key == members.target else TRAIN][key] = {"1": data}
    for name, content in stored.items():
        (downloaded / name).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.delenv("HETBO_PUBLISHED")
    assert tables_of(family, **ids, source_trials=30) == theirs  # type: ignore[arg-type]


@needs_published
@pytest.mark.usefixtures("published")
def test_more_source_trials_than_rows_are_an_error() -> None:
    with pytest.raises(DataError, match="93 source trials are more than the 92 rows"):
        natural_problem("n", "ranger", source_trials=93)


@pytest.mark.usefixtures("downloaded")
def test_a_problem_of_the_download_in_natural_units() -> None:
    ranger = natural_problem("ranger-natural", "ranger", source_trials=30)
    assert ranger.published is None
    assert "min.node.size" not in ranger.source_spaces["5965"]
    assert "min.node.size" in ranger.source_spaces["7607"]
    assert ranger.space["num.trees"] == Int(1, 2000, log=True)
    rpart = natural_problem("rpart-natural", "rpart", source_trials=30)
    depths = {trial.params["maxdepth"] for trial in rpart.start(0).sources[0].trials}
    assert 30 in depths  # every tenth row does not set it
    assert all(isinstance(depth, int) for depth in depths)


@pytest.mark.usefixtures("downloaded")
def test_a_replication_runs_in_natural_units() -> None:
    problem = natural_problem("rpart-natural", "rpart", source_trials=10)
    outcome = replicate(problem, "random", 0, evaluations=8)
    assert len(outcome.trace) == 8
    assert outcome.trace[-1] <= problem.optimum


def test_without_descriptors_one_sentence_says_how_to_get_them(downloaded: Path) -> None:
    (downloaded / DESCRIPTORS).unlink()
    with pytest.raises(DataError, match="hetbo bench data hpob") as caught:
        natural_problem("rpart-natural", "rpart", source_trials=30)
    assert "\n" not in str(caught.value)
    assert paper_problem("rpart_30", "rpart", source_trials=30).published is None


def broken(change: Mapping[str, Any]) -> dict[str, Any]:
    described = descriptors()
    described["4796"] = described["4796"] | change
    return described


@pytest.mark.parametrize(
    "described",
    [[], {}, broken({"variables": {}}), broken({"variables": {"minsplit": {}}})],
    ids=["a list", "nothing", "no variables", "no ranges"],
)
def test_descriptors_that_do_not_fit_are_an_error(downloaded: Path, described: object) -> None:
    (downloaded / DESCRIPTORS).write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(DataError, match="descriptors"):
        natural_problem("rpart-natural", "rpart", source_trials=30)


def test_a_fraction_where_a_whole_number_should_be_is_an_error() -> None:
    table = HpobTable("4796", COLUMNS["4796"], ((0.5123, 0.5, 0.5),), (0.5,))
    encoding = natural_units(table, table, descriptors())
    with pytest.raises(DataError, match="should be a whole number"):
        encoding.params(table.X[0])
