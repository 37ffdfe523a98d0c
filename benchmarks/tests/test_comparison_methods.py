"""Methods against each other: by hand, and by their laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hetbo.errors import DataError
from hetbo_bench.analysis.comparison import compare
from hetbo_bench.analysis.summaries import MethodSummary
from hetbo_bench.running.runs import Run
from made_runs import drawn_traces, made_runs

# Of 8 evaluations, 6 to 8 count. The optimum is 10.
SLOW = [[0, 0, 0, 0, 0, 2, 2, 2], [0, 0, 0, 0, 0, 4, 6, 8]]
QUICK = [[0, 0, 0, 0, 0, 8, 8, 8], [0, 0, 0, 0, 0, 9, 9, 9]]


def summary_of(runs: list[Run], method: str, *, problem: str = "made") -> MethodSummary:
    """Return how a method did on a problem."""
    compared = {found.problem: found for found in compare(runs).problems}
    return {found.method: found for found in compared[problem].methods}[method]


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_a_small_case_by_hand(goal: str) -> None:
    runs = [*made_runs("vanilla", SLOW, goal=goal), *made_runs("auto", QUICK, goal=goal)]
    sign = 1 if goal == "maximize" else -1
    vanilla, auto = summary_of(runs, "vanilla"), summary_of(runs, "auto")
    assert vanilla.replications == 2
    assert vanilla.at == {}
    # Means 2 and 6: their mean is 4, and half their distance is the standard error.
    assert vanilla.average.mean == sign * 4.0
    assert vanilla.average.standard_error == pytest.approx(2.0)
    # Regrets 8 and 4 against 2 and 1.
    assert vanilla.regret.mean == pytest.approx(6.0)
    assert auto.regret.mean == pytest.approx(1.5)
    assert auto.relative_regret is not None
    assert auto.relative_regret.value == pytest.approx(3 / 12)
    assert auto.relative_regret.interval is not None
    assert auto.relative_regret.interval.low == pytest.approx(1 / 4)
    assert auto.relative_regret.interval.high == pytest.approx(1 / 4)
    assert vanilla.relative_regret is None
    assert auto.seconds == 0.5


def test_values_are_shown_after_10_20_30_and_40_evaluations() -> None:
    traces = drawn_traces(3, 20)
    shown = summary_of(made_runs("auto", traces), "auto").at
    assert list(shown) == [10, 20, 30, 40]
    for at, found in shown.items():
        column = [trace[at - 1] for trace in traces]
        assert found.mean == pytest.approx(np.mean(column))
        assert found.standard_error == pytest.approx(stats.sem(column))
    short = summary_of(made_runs("auto", drawn_traces(3, 2, evaluations=24)), "auto").at
    assert list(short) == [10, 20]


def test_regret_is_relative_on_the_replications_that_both_have() -> None:
    runs = [*made_runs("vanilla", SLOW), *made_runs("auto", [*QUICK[1:], *SLOW[:1]], first=1)]
    ratio = summary_of(runs, "auto").relative_regret
    assert ratio is not None
    assert ratio.value == pytest.approx(1 / 4)
    assert (ratio.interval, ratio.replications) == (None, 1)
    apart = [*made_runs("vanilla", SLOW), *made_runs("auto", QUICK, first=2)]
    assert summary_of(apart, "auto").relative_regret is None


def test_vanilla_in_the_papers_settings_stands_in_for_a_missing_vanilla() -> None:
    runs = [*made_runs("vanilla-paper", SLOW), *made_runs("auto", QUICK)]
    (problem,) = compare(runs).problems
    assert problem.reference == "vanilla-paper"
    assert summary_of(runs, "auto").relative_regret is not None
    both = [*runs, *made_runs("vanilla", QUICK)]
    assert compare(both).problems[0].reference == "vanilla"
    (alone,) = compare(made_runs("auto", QUICK)).problems
    assert alone.reference is None
    assert alone.methods[0].relative_regret is None


def test_any_method_can_be_what_regret_is_relative_to() -> None:
    runs = [*made_runs("vanilla", SLOW), *made_runs("auto", QUICK)]
    (problem,) = compare(runs, against="auto").problems
    assert problem.reference == "auto"
    ratio = {method.method: method.relative_regret for method in problem.methods}
    to_vanilla = summary_of(runs, "auto").relative_regret
    assert ratio["auto"] is None
    assert ratio["vanilla"] is not None
    assert to_vanilla is not None
    assert to_vanilla.value is not None
    assert ratio["vanilla"].value == pytest.approx(1 / to_vanilla.value)
    with pytest.raises(DataError, match="'nobody', only of auto, vanilla"):
        compare(runs, against="nobody")
    # Who is compared with has to be there, whoever else is left out.
    named = compare([*runs, *made_runs("ax", QUICK)], methods=["vanilla"], against="auto")
    assert [method.method for method in named.problems[0].methods] == ["auto", "vanilla"]


def test_one_replication_has_no_errors_and_no_nan() -> None:
    comparison = compare([*made_runs("auto", QUICK[:1]), *made_runs("vanilla", SLOW[:1])])
    auto = comparison.problems[0].methods[0]
    assert auto.average.standard_error is None
    assert auto.relative_regret is not None
    assert auto.relative_regret.value == pytest.approx(2 / 8)
    assert "nan" not in repr(comparison)


def test_ranks_respect_the_goal_and_share_ties() -> None:
    runs = []
    for problem, goal in [("up", "maximize"), ("down", "minimize")]:
        for method, traces in [("auto", QUICK), ("ax", QUICK), ("vanilla", SLOW)]:
            runs += made_runs(method, traces, problem=problem, goal=goal)
    ranking = compare(runs).ranking
    assert ranking is not None
    assert ranking.problems["up"] == {"auto": 1.5, "ax": 1.5, "vanilla": 3.0}
    assert ranking.problems["down"] == ranking.problems["up"]
    assert ranking.average == {"auto": 1.5, "ax": 1.5, "vanilla": 3.0}


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_ranks_are_scipys_on_each_problem_and_their_mean_over_problems(seed: int, n: int) -> None:
    goals = {"p": "maximize", "q": "minimize", "r": "maximize"}
    runs = [
        run
        for k, (problem, goal) in enumerate(goals.items())
        for m in range(n)
        for run in made_runs(
            f"m{m}", drawn_traces(seed + 31 * k + 7 * m, 2), problem=problem, goal=goal
        )
    ]
    ranking = compare(runs).ranking
    assert ranking is not None
    expected = []
    for k in range(3):
        means = [np.mean(np.array(drawn_traces(seed + 31 * k + 7 * m, 2))[:, 5:]) for m in range(n)]
        expected.append(stats.rankdata(np.negative(means)))
    found = [list(by_method.values()) for by_method in ranking.problems.values()]
    # Problems come in the order of their names, as they do in `goals`.
    assert found == [ranks.tolist() for ranks in expected]
    assert list(ranking.average.values()) == pytest.approx(np.mean(expected, axis=0))


def test_only_problems_of_all_methods_and_shared_replications_are_ranked() -> None:
    runs = [
        *made_runs("auto", [*SLOW, *QUICK], problem="a"),
        *made_runs("vanilla", [QUICK[0], *SLOW[:1]], problem="a", first=2),
        *made_runs("auto", QUICK, problem="b"),
    ]
    comparison = compare(runs)
    assert comparison.ranking is not None
    # On replications 2 and 3 auto is the quick one.
    assert comparison.ranking.problems == {"a": {"auto": 1.0, "vanilla": 2.0}}
    note, left_out = comparison.notes
    assert "from 2 (vanilla) to 4 replications" in note
    assert "the 2 that all methods share" in note
    assert "no ranks on b:" in left_out


def test_regret_over_all_problems_is_the_geometric_mean_of_the_ratios() -> None:
    traces = {"a": QUICK, "b": SLOW}
    runs = [
        run
        for problem, own in traces.items()
        for method, shown in [("auto", own), ("vanilla", SLOW)]
        for run in made_runs(method, shown, problem=problem)
    ]
    comparison = compare(runs)
    assert comparison.ranking is not None
    ratios = [summary.relative_regret for p in comparison.problems for summary in p.methods]
    values = [ratio.value for ratio in ratios if ratio is not None and ratio.value is not None]
    assert len(values) == 2
    found = comparison.ranking.relative_regret
    assert found["auto"] == pytest.approx(stats.gmean(values))
    assert found["vanilla"] is None


def test_a_regret_of_0_on_one_problem_makes_the_geometric_mean_0() -> None:
    best = [[10.0] * len(trace) for trace in SLOW]
    runs = [
        *made_runs("auto", best, problem="a"),
        *made_runs("auto", SLOW, problem="b"),
        *made_runs("vanilla", SLOW, problem="a"),
        *made_runs("vanilla", SLOW, problem="b"),
    ]
    ranking = compare(runs).ranking
    assert ranking is not None
    assert ranking.relative_regret["auto"] == 0.0


def test_runs_of_different_versions_are_noted() -> None:
    first, second = made_runs("auto", QUICK[:2])
    alike = {"code": "a", "torch": "2"}
    same = [replace(run, versions=alike) for run in (first, second)]
    assert compare(same).notes == ()
    for other in ({**alike, "code": "b"}, {"torch": "2"}):
        (note,) = compare([same[0], replace(second, versions=other)]).notes
        assert "not all runs of auto" in note
        assert "(code)" in note


def test_problems_are_chosen_by_how_their_names_begin() -> None:
    names = ("fcnet-a", "fcnet-b", "mlp-a")
    runs = [run for name in names for run in made_runs("auto", QUICK, problem=name)]
    chosen = [p.problem for p in compare(runs, problems=["fcnet"]).problems]
    assert chosen == ["fcnet-a", "fcnet-b"]
    assert [p.problem for p in compare(runs, problems=["mlp", "fcnet-b"]).problems] == [
        "fcnet-b",
        "mlp-a",
    ]
    runs += made_runs("auto", QUICK, problem="mlp-a/fresh")
    assert [p.problem for p in compare(runs, problems=["mlp-a"]).problems] == ["mlp-a"]
    assert len(compare(runs, problems=["mlp-a/f", "mlp-a"]).problems) == 2
    with pytest.raises(DataError, match="'mpl', only on fcnet-a, fcnet-b, mlp-a"):
        compare(runs, problems=["mpl"])
    with pytest.raises(DataError, match="leave it out"):
        compare(runs, problems=[])


def test_methods_that_share_nothing_are_not_ranked() -> None:
    runs = [*made_runs("auto", QUICK, problem="a"), *made_runs("vanilla", SLOW, problem="b")]
    comparison = compare(runs)
    assert comparison.ranking is None
    assert "no ranks" in comparison.notes[-1]
    alone = compare(runs, methods=["auto"])
    assert (alone.ranking, alone.notes) == (None, ())


def test_disjoint_replications_are_not_ranked() -> None:
    runs = [*made_runs("auto", QUICK), *made_runs("vanilla", SLOW, first=5)]
    comparison = compare(runs)
    assert comparison.ranking is None
    assert comparison.problems[0].shared_replications == 0
