"""HPO-B's original files, read one table at a time."""

import json
from pathlib import Path
from typing import Any

import pytest

from hetbo.errors import DataError
from hetbo_bench.data.download import fetch_hpob
from hetbo_bench.data.hpob_files import TEST, TRAIN, first_table, hpob_folder
from hetbo_bench.data.hpob_tables import COLUMNS, tables_of
from hetbo_bench.problems.hpob import FAMILIES, paper_problem
from hpob_samples import archive, data_set, tables


@pytest.fixture(autouse=True)
def only_the_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the published folder, and make an empty one for the data."""
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)
    monkeypatch.setenv("HETBO_DATA", str(tmp_path / "data"))
    working = tmp_path / "a" / "b"
    working.mkdir(parents=True)
    monkeypatch.chdir(working)
    return tmp_path / "data" / "hpob"


def write(path: Path, data: object, *, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=indent), encoding="utf-8")
    return path


def numbers(data: dict[str, Any]) -> tuple[Any, Any]:
    return tuple(map(tuple, data["X"])), tuple(value for (value,) in data["y"])


@pytest.mark.parametrize("indent", [None, 1])
def test_the_first_data_set_with_enough_rows_is_read(tmp_path: Path, indent: int | None) -> None:
    path = write(tmp_path / TRAIN, tables()[TRAIN], indent=indent)
    for search_space in ("5965", "7607", "5636", "5859"):
        stored = tables()[TRAIN][search_space]
        for more_than, name in [(0, "3"), (7, "3"), (8, "31"), (39, "31"), (40, "37")]:
            found = first_table(path, search_space, more_than=more_than)
            assert found == numbers(stored[name])


def test_a_data_set_whose_number_is_a_search_space_s_is_not_mistaken_for_it(
    tmp_path: Path,
) -> None:
    decoy, real = data_set("4796", 5), data_set("5965", 5)
    path = write(tmp_path / TRAIN, {"1": {"5965": decoy}, "5965": {"1": real}})
    assert first_table(path, "5965", more_than=0) == numbers(real)


def test_a_search_space_without_a_large_enough_data_set(tmp_path: Path) -> None:
    path = write(tmp_path / TRAIN, tables()[TRAIN])
    with pytest.raises(DataError, match=r"no data set of search space 7607 with more than 60 rows"):
        first_table(path, "7607", more_than=60)
    with pytest.raises(DataError, match="search space 1 with"):
        first_table(path, "1", more_than=0)


@pytest.mark.parametrize("share", [0.1, 0.99])
def test_a_file_that_was_cut_says_how_to_get_it_anew(tmp_path: Path, share: float) -> None:
    path = write(tmp_path / TRAIN, tables()[TRAIN])
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match="get it anew with 'hetbo bench data hpob'"):
        first_table(path, "5859", more_than=40)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"5965": {"3": {"X": [[1, 2]], "y": [[1',
        '{"5965": {"3": {"X": [[1, 2]], "y": [[1]]}, ',
        '{"5965": {"3": {"X": [[1, 2]]}}}',
        '{"5965": {"3": {"X": [[1, 2]], "y": [1]}}}',
        '{"5965": {"3": {"X": [[1, 2], [1]], "y": [[1], [1]]}}}',
        '{"5965": {"3": {"X": [[1, 2]], "y": [[1], [2]]}}}',
        '{"5965": {"3": {"X": [["a", 2]], "y": [[1]]}}}',
        '{"5965": {"3": {"X": 7, "y": [[1]]}}}',
        '{"5965": {"3": {x}}}',
    ],
)
def test_a_file_that_is_not_hpo_b_s_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / TRAIN
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="meta-train-dataset"):
        first_table(path, "5965", more_than=1 if text.endswith(", ") else 0)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        first_table(tmp_path, "5965", more_than=0)


def test_without_data_one_sentence_says_how_to_get_it(only_the_download: Path) -> None:
    with pytest.raises(DataError, match="hetbo bench data hpob") as caught:
        paper_problem("ranger_30", "ranger", source_trials=30)
    assert "\n" not in str(caught.value)
    assert str(only_the_download) in str(caught.value)
    write(only_the_download / TRAIN, {})
    with pytest.raises(DataError, match=r"has no meta-test-dataset.json:"):
        paper_problem("ranger_30", "ranger", source_trials=30)


def test_the_tables_are_those_that_the_authors_take(only_the_download: Path) -> None:
    for name, data in tables().items():
        write(only_the_download / name, data)
    for family, described in FAMILIES.items():
        found = tables_of(
            family, target=described.target, sources=described.sources, source_trials=30
        )
        assert set(found) == {described.target, *described.sources}
        for key, table in found.items():
            data_sets = tables()[TEST if key == described.target else TRAIN][key]
            X, y = numbers(data_sets["10093" if key == described.target else "31"])
            assert table.y == y
            order = [COLUMNS[key].index(column) for column in table.columns]
            assert sorted(order) == list(range(len(COLUMNS[key])))
            assert tuple(tuple(row[i] for i in order) for row in X) == table.X


def test_tables_of_another_version_are_an_error(only_the_download: Path) -> None:
    data = tables()
    data[TEST]["5889"] = {"1": data_set("4796", 20)}
    for name, content in data.items():
        write(only_the_download / name, content)
    with pytest.raises(DataError, match="5889 has 3 columns, not 6"):
        paper_problem("ranger_30", "ranger", source_trials=30)


def test_a_problem_of_the_download_starts_with_rows_of_its_tables(
    tmp_path: Path, only_the_download: Path
) -> None:
    path = tmp_path / "hpob.zip"
    path.write_bytes(archive())
    fetch_hpob(source=path)
    assert only_the_download.is_dir()
    problem = paper_problem("ranger_30", "ranger", source_trials=30)
    assert problem.published is None
    assert problem.replications is None
    assert problem.candidates is not None
    assert len(problem.candidates) == 30
    start, again, other = problem.start(0), problem.start(0), problem.start(1)
    assert start == again
    assert start != other
    assert [len(source.trials) for source in start.sources] == [30, 30]
    assert [problem.evaluate(trial.params) for trial in start.trials] == [
        trial.value for trial in start.trials
    ]
    assert max(map(problem.evaluate, problem.candidates)) == problem.optimum


def test_where_the_data_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hpob_folder() == tmp_path / "data" / "hpob"
    monkeypatch.delenv("HETBO_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert hpob_folder() == tmp_path / "caches" / "hetbo" / "hpob"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hpob_folder() == tmp_path / ".cache" / "hetbo" / "hpob"
