"""Our runs against the paper's, in pairs and without them."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hetbo.errors import DataError
from hetbo_bench.analysis.comparison import compare
from hetbo_bench.analysis.summaries import ProblemComparison, PublishedComparison
from hetbo_bench.paper.published import published_curves
from hetbo_bench.running.runs import Run
from made_runs import PUBLISHED_METHODS, drawn_traces, made_runs, publish, without_published

PUBLISHED = {method: drawn_traces(i, 30) for i, method in enumerate(PUBLISHED_METHODS)}
OURS = drawn_traces(100, 30)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    publish(PUBLISHED, tmp_path, monkeypatch)
    return tmp_path


def on_hartmann(method: str, traces: list[list[float]], *, first: int = 0) -> list[Run]:
    """Return runs that start where the published ones did."""
    return made_runs(method, traces, problem="hartmann_30", published="hartmann_30", first=first)


def only(runs: list[Run]) -> tuple[ProblemComparison, PublishedComparison]:
    """Return what is said about the only problem and its only method."""
    (problem,) = compare(runs).problems
    (against,) = problem.against_published
    return problem, against


@pytest.mark.usefixtures("folder")
def test_differences_are_paired_by_replication() -> None:
    _, against = only(on_hartmann("vanilla-paper", OURS[5:], first=5))
    assert (against.published, against.paired, against.replications) == ("vanilla", True, 25)
    assert list(against.at) == [10, 20, 40]
    for at, found in against.at.items():
        ours = np.array(OURS)[5:, at - 1]
        theirs = np.array(PUBLISHED["vanilla"])[5:, at - 1]
        assert found.mean == pytest.approx((ours - theirs).mean())
        assert found.in_standard_errors == pytest.approx(stats.ttest_rel(ours, theirs).statistic)
        assert found.interval is not None
        assert found.interval.low < found.mean < found.interval.high
    ours, theirs = np.array(OURS)[5:, 5:], np.array(PUBLISHED["vanilla"])[5:, 5:]
    assert against.average.mean == pytest.approx((ours - theirs).mean())
    assert against.relative_regret.value == pytest.approx((10 - ours).sum() / (10 - theirs).sum())


@pytest.mark.usefixtures("folder")
def test_the_same_runs_are_within_two_errors_and_shifted_ones_are_not() -> None:
    same = PUBLISHED["common"]
    assert only(on_hartmann("common-paper", same))[1].within_two_errors is True
    # The paper rounds to six decimals.
    rounded = [[value + 4e-7 for value in trace] for trace in same]
    assert only(on_hartmann("common-paper", rounded))[1].within_two_errors is True
    late = [[*trace[:-1], trace[-1] + 1e-5] for trace in same]
    assert only(on_hartmann("common-paper", late))[1].within_two_errors is False


@pytest.mark.usefixtures("folder")
def test_two_errors_are_two_errors() -> None:
    # The mean of 0 and d is one standard error above 0; with another d it is two, with a third
    # it is three.
    def verdict(differences: list[float]) -> bool | None:
        traces = [
            [value + d for value in trace]
            for trace, d in zip(PUBLISHED["random"], differences, strict=False)
        ]
        return only(on_hartmann("random", traces))[1].within_two_errors

    assert verdict([0.0, 0.1]) is True
    assert verdict([0.0, 0.1, 0.1]) is True
    assert verdict([0.0, 0.1, 0.1, 0.1]) is False
    assert verdict([0.0, -0.1, -0.1, -0.1]) is False


@pytest.mark.usefixtures("folder")
def test_only_methods_in_the_papers_settings_get_a_verdict() -> None:
    for method, expected in [("random", True), ("common-paper", True), ("common", None)]:
        traces = PUBLISHED[method.removesuffix("-paper")]
        assert only(on_hartmann(method, traces))[1].within_two_errors is expected
    assert only(on_hartmann("common-paper", PUBLISHED["common"][:1]))[1].within_two_errors is None


@pytest.mark.usefixtures("folder")
def test_auto_is_compared_with_the_best_published_method() -> None:
    means = {method: np.mean(np.array(rows)[:, 5:]) for method, rows in PUBLISHED.items()}
    best = max(means, key=lambda method: means[method])
    assert only(on_hartmann("auto", OURS))[1].published == best


@pytest.mark.usefixtures("folder")
def test_a_peer_has_no_published_counterpart() -> None:
    (problem,) = compare(on_hartmann("optuna-tpe", OURS)).problems
    assert problem.against_published == ()
    assert set(problem.methods[0].reaches) == set(PUBLISHED_METHODS)


@pytest.mark.usefixtures("folder")
def test_replications_that_the_paper_does_not_have_are_left_out() -> None:
    _, against = only(on_hartmann("vanilla", OURS, first=20))
    assert against.replications == 10
    _, against = only(on_hartmann("vanilla", OURS, first=30))
    assert (against.paired, against.replications) == (False, 30)


def test_where_lower_is_better_differences_above_zero_are_still_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    negated = {m: [[-v for v in trace] for trace in rows] for m, rows in PUBLISHED.items()}
    publish(negated, tmp_path, monkeypatch)
    lower = made_runs("auto", OURS, problem="p", goal="minimize", published="hartmann_30")
    problem, against = only(lower)
    (tmp_path / "up").mkdir()
    publish(PUBLISHED, tmp_path / "up", monkeypatch)
    mirrored, expected = only(made_runs("auto", OURS, problem="p", published="hartmann_30"))
    assert against == expected
    assert problem.methods[0].reaches == mirrored.methods[0].reaches
    assert problem.methods[0].regret == mirrored.methods[0].regret


@pytest.mark.usefixtures("folder")
def test_evaluations_until_the_published_final_mean() -> None:
    final = {m: float(np.mean([trace[-1] for trace in rows])) for m, rows in PUBLISHED.items()}
    goal = final["vanilla"]
    below, above = goal - 0.5, goal + 0.5
    traces = [[0.0] * 9 + [below] * 8 + [above] * 23, [0.0] * 9 + [below] * 8 + [goal] * 23]
    found = only(on_hartmann("vanilla", traces))[0].methods[0].reaches
    assert found["vanilla"] == 18
    never = only(on_hartmann("vanilla", [[0.0] * 40]))[0].methods[0].reaches
    assert set(never.values()) == {None}
    # A published method reaches its own final mean, at the end or before.
    (problem,) = compare(on_hartmann("vanilla", OURS)).problems
    for summary in problem.published:
        own = summary.reaches[summary.method]
        assert own is not None
        assert own <= 40


@pytest.mark.usefixtures("folder")
def test_shorter_runs_are_compared_as_far_as_they_go() -> None:
    short = [trace[:20] for trace in PUBLISHED["vanilla"]]
    _, against = only(on_hartmann("vanilla", short))
    assert list(against.at) == [10, 20]
    assert against.average.mean == 0.0
    assert against.relative_regret.value == 1.0


def test_without_the_folder_the_means_of_the_package_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_published(tmp_path, monkeypatch)
    runs = on_hartmann("learned-imputation-paper", OURS)
    problem, against = only(runs)
    assert (against.paired, against.replications) == (False, 30)
    curve = published_curves()["hartmann_30"]["learned-imputation"]
    column = [trace[9] for trace in OURS]
    found = against.at[10]
    assert found.mean == pytest.approx(np.mean(column) - curve.mean[9])
    error = np.hypot(stats.sem(column), curve.standard_error[9])
    assert found.standard_error == pytest.approx(error)
    assert found.interval is None
    assert against.average.standard_error is None
    assert [summary.method for summary in problem.published] == sorted(PUBLISHED_METHODS)
    (note,) = compare(runs).notes
    assert "not in pairs" in note
    assert "HETBO_PUBLISHED" in note


def test_a_folder_without_traces_leaves_the_means_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETBO_PUBLISHED", str(tmp_path))
    _, against = only(on_hartmann("vanilla-paper", OURS))
    assert against.paired is False


def test_traces_that_are_none_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_PUBLISHED", str(tmp_path))
    (tmp_path / "traces.json").write_text('{"hartmann_30": {}}', encoding="utf-8")
    with pytest.raises(DataError, match=r"traces\.json does not hold published traces"):
        compare(on_hartmann("vanilla-paper", OURS))


@pytest.mark.usefixtures("folder")
def test_runs_that_started_elsewhere_are_not_paired() -> None:
    comparison = compare(made_runs("vanilla", OURS, problem="hartmann_30"))
    assert comparison.problems[0].against_published[0].paired is False
    assert "did not start from the published trials" in comparison.notes[0]


@pytest.mark.usefixtures("folder")
def test_a_problem_that_the_paper_does_not_have_has_nothing_published() -> None:
    comparison = compare(made_runs("vanilla", OURS, problem="fcnet_30"))
    (problem,) = comparison.problems
    assert (problem.published, problem.against_published, comparison.notes) == ((), (), ())
    assert problem.methods[0].reaches == {}


def test_the_packages_means_are_those_of_the_published_runs() -> None:
    folder = Path(__file__).parents[2].parent / "shared" / "data" / "published"
    if not folder.is_dir():
        pytest.skip("the published runs are not available")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HETBO_PUBLISHED", str(folder))
        (problem,) = compare(on_hartmann("vanilla", OURS)).problems
    for summary in problem.published:
        curve = published_curves()["hartmann_30"][summary.method]
        for at, found in summary.at.items():
            assert found.mean == pytest.approx(curve.mean[at - 1], abs=1e-6)
            assert found.standard_error == pytest.approx(curve.standard_error[at - 1], abs=1e-6)
