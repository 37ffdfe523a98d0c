import re
from pathlib import Path
from typing import Any

import pytest

import hetbo as hb
from hetbo.backtesting import Backtest, Case
from hetbo.plot._backtest import cases_drawing, sources_drawing
from hetbo.report import write_backtest_report

VANILLA = (2, 6, 10)
NASTY = "<script>alert(1)</script>&amp;"


def found(name: str = "b") -> Backtest:
    return Backtest(
        "auto",
        0.05,
        (
            Case("a", 30, 2, 0.5, 30, VANILLA, (1, 3), {name: (1, 3)}),
            Case(name, 30, 2, 0.5, 30, VANILLA, (8,), {"a": (9,)}),
        ),
        {"c": f"All values of {name} are equal."},
        {},
        ("A note.",),
    )


def without_sources() -> Backtest:
    alone = Case("a", 30, 2, 0.5, 30, VANILLA, (6,), {})
    return Backtest("auto", 0.0, (alone,), {}, {}, ())


def named(figure: object) -> dict[str, Any]:
    """Return a figure's traces by their names."""
    assert isinstance(figure, dict)
    return {trace["name"]: trace for trace in figure["data"] if "name" in trace}


def test_cases_show_the_trials_needed() -> None:
    drawing = cases_drawing(found())
    traces = named(drawing.figure)
    # The first case stands at the top, which is the last row.
    assert (traces["without old runs"]["x"], traces["without old runs"]["y"]) == ([6, 6], [0, 1])
    assert (traces["with them"]["x"], traces["with them"]["y"]) == ([2], [1])
    assert (traces["with them, slower"]["x"], traces["with them, slower"]["y"]) == ([8], [0])
    assert drawing.sentence.startswith("Old runs would have saved 4 of 6 trials in 1 of 2 cases")
    assert "on the way to the best 5 % of a case's settings" in drawing.caption


def test_a_case_that_is_slowest_with_old_runs_stays_within() -> None:
    slow = Case("a", 30, 2, 0.5, 30, VANILLA, (31,), {})
    figure = cases_drawing(Backtest("auto", 0.0, (slow,), {}, {}, ())).figure
    assert isinstance(figure, dict)
    assert figure["layout"]["xaxis"]["range"][1] > 31


def test_sources_show_the_trials_saved() -> None:
    drawing = sources_drawing(found())
    trace = named(drawing.figure)["may be luck"]
    assert (trace["x"], trace["y"]) == ([4, -3], [0, 1])
    assert drawing.sentence == "Of no source it is clear whether it helps"


def test_what_sources_do_is_told_above_their_chart() -> None:
    cases = tuple(Case(n, 9, 1, 0.5, 9, VANILLA * 13, (1,), {"s": (11,)}) for n in "xyz")
    drawing = sources_drawing(Backtest("auto", 0.05, cases, {}, {}, ()))
    assert drawing.sentence == "'s' misleads."
    assert list(named(drawing.figure)) == ["misleads"]


def test_both_charts_are_figures_of_their_own() -> None:
    cases, sources = hb.plot.backtest_cases(found()), hb.plot.backtest_sources(found())
    assert cases.layout.title.text.startswith("Old runs would have saved 4 of 6")
    assert sources.layout.xaxis.title.text == "trials saved as the only source"
    with pytest.raises(hb.HetboError, match="No source was tried alone"):
        hb.plot.backtest_sources(without_sources())


@pytest.mark.parametrize("count", [1, 40])
def test_a_chart_grows_with_the_cases(count: int) -> None:
    cases = tuple(
        Case(f"{number:02}", 30, 2, 0.5, 30, VANILLA, (1,), {"s": (1,)}) for number in range(count)
    )
    figure = cases_drawing(Backtest("auto", 0.05, cases, {}, {}, ())).figure
    assert isinstance(figure, dict)
    assert figure["layout"]["height"] >= 30 * count


def test_the_page_says_all_and_needs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_backtest_report(found(), path)
    page = path.read_text("utf-8")
    assert (
        '<p class="lead">Old runs would have saved 4 of 6 trials in 1 of 2 cases and cost' in page
    )
    assert "All values of b are equal." in page
    assert "A note." in page
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="[^"]*"', markup) == ['href="data:,"']
    assert not re.search(r"<script[^>]*src=", page)
    write_backtest_report(found(), path)
    assert path.read_text("utf-8") == page


def test_a_page_without_sources_says_so(tmp_path: Path) -> None:
    write_backtest_report(without_sources(), tmp_path / "page.html")
    assert "No source was tried alone." in (tmp_path / "page.html").read_text("utf-8")


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_backtest_report(found(NASTY), path)
    page = path.read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;" in page
