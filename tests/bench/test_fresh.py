"""Starts that nothing was tuned on."""

import pytest

from hetbo.bench.problems.named import problem_named
from hetbo.bench.problems.problem import Problem
from hetbo.errors import DataError


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


def test_they_do_not_need_the_published_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    here = problem("hartmann_30/fresh").start(0)
    monkeypatch.setattr("hetbo.bench.problems.hartmann.replications_of", lambda _: None)
    problem_named.cache_clear()
    assert problem("hartmann_30/fresh").start(0) == here
    problem_named.cache_clear()
