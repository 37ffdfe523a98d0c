"""Starts that nothing was tuned on."""

import json
from pathlib import Path

import pytest

from hetbo.errors import DataError
from hetbo_bench.problems.named import problem_named
from hetbo_bench.problems.problem import Problem


def problem(name: str) -> Problem:
    try:
        return problem_named(name)
    except DataError as error:
        pytest.skip(f"NOT TESTED, the tables are not here: {error}")


@pytest.mark.parametrize("name", ["hartmann_30", "ranger_10", "hartmann_30/unrelated"])
def test_fresh_starts_are_other_starts_of_the_same_problem(name: str) -> None:
    usual, fresh = problem(name), problem(f"{name}/fresh")
    assert (fresh.published, fresh.replications) == (None, None)
    assert (fresh.space, fresh.optimum) == (usual.space, usual.optimum)
    assert "fresh" in fresh.summary
    before, after = usual.start(0), fresh.start(0)
    assert [len(s.trials) for s in after.sources] == [len(s.trials) for s in before.sources]
    assert len(after.trials) == len(before.trials)
    for old, new in zip(before.sources, after.sources, strict=True):
        assert [t.value for t in new.trials] != [t.value for t in old.trials]
    assert after.trials != before.trials


def test_fresh_comes_last() -> None:
    with pytest.raises(DataError, match="at the end"):
        problem_named("hartmann_30/fresh/shuffled")


def test_fresh_starts_are_the_same_each_time_and_never_run_out() -> None:
    fresh = problem("hartmann_30/fresh")
    assert fresh.start(7) == fresh.start(7)
    assert fresh.start(7) != fresh.start(8)
    assert len(fresh.start(500).trials) == 5


def test_their_values_are_those_of_the_function() -> None:
    fresh = problem("ranger_30/fresh")
    for trial in fresh.start(3).trials:
        assert fresh.evaluate(trial.params) == trial.value


def test_they_do_not_need_the_published_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)
    here = problem("hartmann_30/fresh").start(0)
    monkeypatch.chdir(tmp_path)
    assert problem("hartmann_30").published is None
    assert problem("hartmann_30/fresh").start(0) == here


def test_a_problem_is_made_anew_where_the_published_runs_are_available(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)
    assert problem("hartmann_1").published is None
    start = {"source_X": [[[0.1] * 4]], "source_y": [[1.0]]}
    first = {"initial_X": [[0.2] * 6] * 5, "initial_y": [0.5] * 5}
    folder = tmp_path / "published"
    folder.mkdir()
    text = json.dumps([{**start, **first}])
    (folder / "replications_hartmann_1.json").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HETBO_PUBLISHED", str(folder))
    assert problem("hartmann_1").published == "hartmann_1"
    assert problem("hartmann_1") is problem("hartmann_1"), "it is made once"
    starts = {
        name: problem(f"hartmann_1{name}").starts
        for name in ("", "/shuffled", "/fixed=0.3", "/fresh", "/shuffled/fresh")
    }
    assert starts == {
        "": "published",
        "/shuffled": "published",
        "/fixed=0.3": "published",
        "/fresh": "drawn",
        "/shuffled/fresh": "drawn",
    }
