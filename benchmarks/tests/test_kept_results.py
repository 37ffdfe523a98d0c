"""What is claimed of the runs that are kept in `results/`."""

from pathlib import Path

import numpy as np
import pytest

from hetbo_bench.analysis.comparison import compare
from hetbo_bench.running.runs import read_runs
from hetbo_bench.running.suites import PAPER_PROBLEMS
from made_runs import without_published

RESULTS = Path(__file__).parents[1] / "results"


def test_auto_is_above_the_best_published_method_on_all_of_the_papers_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_published(tmp_path, monkeypatch)  # the means of the package serve
    compared = compare(read_runs([RESULTS / "paper.jsonl"]), methods=["auto"]).problems
    assert {problem.problem for problem in compared} == set(PAPER_PROBLEMS)
    for problem in compared:
        (auto,) = problem.methods
        assert auto.replications == 50
        best = max(published.average.mean for published in problem.published)
        assert auto.average.mean > best


def test_auto_has_the_best_mean_rank_on_the_tables() -> None:
    runs = read_runs([RESULTS / "tables.jsonl"])
    for family in ("fcnet", "mlp"):
        ranking = compare(runs, problems=[family]).ranking
        assert ranking is not None
        assert min(ranking.average, key=ranking.average.__getitem__) == "auto"


def test_misleading_sources_cost_at_most_a_twentieth() -> None:
    areas: dict[str, dict[str, list[float]]] = {}
    for run in read_runs([RESULTS / "misleading.jsonl", RESULTS / "unrelated.jsonl"]):
        kind = run.problem.split("/")[1]  # from published and from fresh starts
        trace = np.array(run.trace[5:40])
        methods = areas.setdefault(kind, {})
        methods.setdefault(run.method, []).append(float(run.optimum - trace.mean()))
    assert {kind: len(methods["auto"]) for kind, methods in areas.items()} == {
        "shuffled": 50,
        "negated": 50,
        "unrelated": 150,
    }
    for methods in areas.values():
        assert len(methods["auto"]) == len(methods["vanilla"])
        assert np.mean(methods["auto"]) <= 1.05 * np.mean(methods["vanilla"])
