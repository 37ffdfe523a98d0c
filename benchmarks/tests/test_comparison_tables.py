"""Comparisons as text: readable in 100 columns, as Markdown, as JSON."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hetbo_bench.analysis.comparison import compare
from hetbo_bench.analysis.rendering import (
    comparison_to_json,
    comparison_to_markdown,
    problem_tables,
    render_comparison,
)
from hetbo_bench.analysis.summaries import Comparison
from made_runs import PUBLISHED_METHODS, drawn_traces, made_run, made_runs, publish

PAPER_METHODS = ("random", *(f"{m}-paper" for m in PUBLISHED_METHODS if m != "random"))
TRACES = drawn_traces(7, 6)


def rendered(comparison: Comparison, *, width: int = 100) -> str:
    """Return what a terminal shows."""
    stream = StringIO()
    render_comparison(comparison, Console(file=stream, width=width))
    return stream.getvalue()


def scaled(traces: list[list[float]]) -> list[list[float]]:
    """Return traces between 0.72 and 0.73, as on the paper's tables."""
    return [[0.72 + value / 1000 for value in trace] for trace in traces]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """Return all methods on one problem of the paper's size, with published runs."""
    published = {m: scaled(drawn_traces(i, 6)) for i, m in enumerate(PUBLISHED_METHODS)}
    publish(published, tmp_path, monkeypatch, problem="ranger_30")
    methods = [*PAPER_METHODS, *PUBLISHED_METHODS[:4], "vanilla", "auto"]
    return compare(
        made_run(
            trace,
            problem="ranger_30",
            published="ranger_30",
            method=method,
            replication=r,
            optimum=0.730703,
        )
        for i, method in enumerate(methods)
        for r, trace in enumerate(scaled(drawn_traces(20 + i, 6)))
    )


def test_tables_fit_100_columns_without_breaking_a_cell(paper: Comparison) -> None:
    text = rendered(paper)
    assert max(map(len, text.splitlines())) <= 100
    for problem in paper.problems:
        for table in problem_tables(problem):
            assert table.title in text
            for row in table.rows:
                for line in (line for cell in row for line in cell.split("\n")):
                    assert line in text, f"{line!r} of {table.title!r} is broken"


def test_every_method_is_shown_and_published_ones_are_marked(paper: Comparison) -> None:
    text = rendered(paper)
    for method in [*PAPER_METHODS, "auto", *(f"{m} †" for m in PUBLISHED_METHODS)]:
        assert text.count(f"{method} ") >= 3
    assert "within" in text
    assert "Ranks" in text


def test_numbers_are_shown_as_they_are() -> None:
    slow = [[0, 0, 0, 0, 0, 2, 2, 2, 2, 2], [0, 0, 0, 0, 0, 4, 4, 4, 4, 8]]
    quick = [[0, 0, 0, 0, 0, 8, 8, 8, 8, 8], [0, 0, 0, 0, 0, 9, 9, 9, 9, 9]]
    comparison = compare([*made_runs("vanilla", slow), *made_runs("auto", quick)])
    values, whole = problem_tables(comparison.problems[0])
    assert values.rows == (("auto", "2", "8.500±1.000"), ("vanilla", "2", "5.000±6.000"))
    # Means 2 and 4.8, regrets 8 and 5.2; auto's regrets are 2 and 1.
    assert whole.rows[1] == ("vanilla", "3.400±2.800", "6.600±2.800", "—", "0.50")
    assert whole.rows[0][3].startswith("0.23 [0.19, 0.25]")


def test_what_is_not_known_is_a_dash() -> None:
    text = rendered(compare(made_runs("auto", TRACES[:1])))
    assert "±—" in text
    assert "nan" not in text.lower()
    assert "None" not in text


def test_notes_are_printed() -> None:
    comparison = compare([*made_runs("auto", TRACES), *made_runs("vanilla", TRACES[:2])])
    assert comparison.notes[0] in " ".join(rendered(comparison).split())
    assert f"- {comparison.notes[0]}." in comparison_to_markdown(comparison)


def test_a_problems_name_is_no_markup() -> None:
    text = rendered(compare(made_runs("auto", TRACES, problem="[red]p")))
    assert "[red]p (maximize" in text


def test_many_problems_are_ranked_in_several_tables() -> None:
    names = [f"hartmann_30/fixed=0.{i}/shuffled" for i in range(7)]
    runs = [
        run
        for name in names
        for method in ("auto", "vanilla")
        for run in made_runs(method, TRACES, problem=name)
    ]
    text = rendered(compare(runs))
    assert text.count("Rank by the mean") == 2
    assert text.count("All 7 problems") == 1
    assert "regret relative to vanilla," in text
    assert max(map(len, text.splitlines())) <= 100


def test_markdown_tables_are_whole(paper: Comparison) -> None:
    text = comparison_to_markdown(paper)
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(blocks) == 7
    for block in blocks:
        assert {line.count("|") for line in block} == {block[0].count("|")}
        assert block[1].startswith("| --- | ---: |")


def test_json_has_all_digits_and_no_nan(paper: Comparison) -> None:
    data: Any = json.loads(comparison_to_json(paper), parse_constant=pytest.fail)
    problem = paper.problems[0]
    auto = data["problems"][0]["methods"][0]
    assert auto["method"] == "auto"
    assert auto["at"]["10"]["mean"] == problem.methods[0].at[10].mean
    assert data["ranking"]["average"] == paper.ranking.average if paper.ranking else False
    against = data["problems"][0]["against_published"][0]
    assert against["at"]["40"]["interval"].keys() == {"low", "high"}
