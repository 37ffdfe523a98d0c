"""The page as text: what it holds, in every situation, and that nothing in it is alive."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from helpers import refused
from hetbo import (
    Categorical,
    Experiment,
    Float,
    HetboError,
    Int,
    Optimizer,
    Space,
    Trial,
    __version__,
)
from hetbo.methods import METHODS
from hetbo.report import report_html, write_report
from hetbo.report.building import view_of
from hetbo.report.markup import chart
from hetbo.report.page import page
from hetbo.report.view import View
from hetbo.spaces import Value
from report.runs import SPACE, source, told

SECTIONS = (
    "progress",
    "search-spaces",
    "trust-in-the-sources",
    "correlations",
    "missing-values",
    "effects",
    "predictions",
    "all-trials-at-once",
    "trials",
    "sources",
)


class Reader(HTMLParser):
    """Reads a page: sections, figures, the cells of tables, and whether tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.sections: list[str] = []
        self.figures: list[dict[str, Any]] = []
        self.cells: list[dict[str, str | None]] = []
        self.addresses: list[str] = []
        self._in_figure = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in {"meta", "link", "path", "rect"}:
            self.open.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in {"src", "href", "action", "data"}]
        if tag == "section":
            self.sections.append(given["id"] or "")
        if tag == "td":
            self.cells.append(given)
        self._in_figure = given.get("type") == "application/json"

    def handle_endtag(self, tag: str) -> None:
        self._in_figure = False
        if tag not in {"path", "rect"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._in_figure:
            self.figures.append(json.loads(data))


def read(html: str) -> Reader:
    reader = Reader(html)
    assert reader.open == []
    assert [name for name in reader.sections if name != "best-parameters"] == list(SECTIONS)
    assert reader.addresses == ["data:,"]
    for figure in reader.figures:
        go.Figure(figure)  # refuses what Plotly does not know
    return reader


def short_page(optimizer: Optimizer, title: str = "A run") -> str:
    return page(view_of(optimizer, title=title), "/* Plotly */")


def test_the_page_holds_every_section_with_its_charts(tuned_page: Path) -> None:
    html = tuned_page.read_text(encoding="utf-8")
    # Plotly once, and before what uses it.
    assert html.count("plotly.js v") == 1
    assert html.index("plotly.js v") < html.index("Plotly.newPlot(chart, data")
    start, end = html.index("<script>/*"), html.index("</script>\n<script>")
    reader = read(html[:start] + html[end + len("</script>\n") :])
    # progress, trust, correlations, 2 missing values, 4 effects, predictions, parallel
    assert len(reader.figures) == 11
    assert f"hetbo {__version__}" in html
    assert "<title>A run</title>" in html
    assert "best expected without the sources" in html


def test_the_measured_value_has_the_name_that_it_was_given() -> None:
    view = view_of(told(Optimizer(SPACE, seed=0), 1), title="", value="loss <b>")
    html = page(view, "/* Plotly */")
    read(html)
    assert "Best loss &lt;b&gt;" in html
    assert "loss &lt;b&gt; (smaller is better)" in html


def test_tables_hold_all_digits(tuned: Optimizer, tuned_page: Path) -> None:
    html = tuned_page.read_text(encoding="utf-8")
    trial = tuned.trials[2]
    row = html[html.index('<table id="trials">') :].split("<tr")[4]
    assert f'title="{trial.value!r}"' in row
    for name in ("rate", "c", "depth"):
        assert f'title="{trial.params[name]!r}"' in row
    assert f'data-key="{trial.value!r}"' in row


MIXED: tuple[Value, ...] = (True, 1, None, "1", "")
SITUATIONS: dict[str, Optimizer] = {
    "zero trials": Optimizer(SPACE, seed=0),
    "zero trials, a source": Optimizer(SPACE, sources=[source()], seed=0),
    "one trial": told(Optimizer(SPACE, seed=0), 1),
    "no sources": told(Optimizer(SPACE, seed=0), 6),
    "one parameter": told(Optimizer(Space(a=Float(0, 1)), seed=0), 6),
    "only categories": told(
        Optimizer(
            Space(a=Categorical("x", "y"), b=Categorical(*MIXED)),
            sources=[source("old", Space(a=Categorical("x", "z")))],
            method="learned-imputation",
            seed=0,
        ),
        6,
    ),
    "30 parameters": told(
        Optimizer(Space.from_mapping({f"parameter {n}": Float(0, 1) for n in range(30)}), seed=0),
        8,
    ),
    "45 parameters": told(
        Optimizer(Space.from_mapping({f"p{n}": Float(0, 1) for n in range(45)}), method="random"),
        5,
    ),
    "300 trials": told(Optimizer(SPACE, method="vanilla", seed=0), 300),
    "14 sources": told(
        Optimizer(
            Space(a=Float(0, 1)),
            sources=[source(f"old {n}", Space(a=Float(0, 1)), 2) for n in range(14)],
            method="fixed-imputation",
            seed=0,
        ),
        2,
    ),
    "no value is missing, nothing is common": told(
        Optimizer(
            Space(a=Float(0, 1)),
            sources=[source("old", Space(b=Float(0, 1)))],
            method="conditional",
            seed=0,
        ),
        4,
    ),
    "equal values": told(Optimizer(SPACE, seed=0), 0),
    "huge values": told(Optimizer(SPACE, seed=0, n_initial=1), 0),
}
for number in range(6):
    SITUATIONS["equal values"].tell({"rate": 0.1, "depth": number + 1, "kind": "a"}, 2.0)
    SITUATIONS["huge values"].tell(
        {"rate": 0.1, "depth": number + 1, "kind": "a"}, (-1) ** number * 1e300, noise=1e290
    )


@pytest.mark.parametrize("name", SITUATIONS)
def test_there_is_a_page_in_every_situation(name: str) -> None:
    html = short_page(SITUATIONS[name])
    reader = read(html)
    assert not re.search(r"\b(nan|inf|NaN|Infinity)\b", html.split("<style>")[0])
    assert len(reader.cells) >= len(SITUATIONS[name].trials) * len(SITUATIONS[name].space)


@pytest.mark.parametrize("method", METHODS)
def test_there_is_a_page_for_every_method(method: str) -> None:
    old = Space(rate=Float(1e-4, 1.0, log=True), gone=Int(1, 3))
    optimizer = Optimizer(SPACE, sources=[source(space=old)], method=method, seed=0, n_initial=2)
    read(short_page(told(optimizer, 3)))


def test_failed_and_pending_trials_alone_have_no_charts() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    for suggestion in optimizer.ask(3):
        optimizer.tell_failure(suggestion)
    html = short_page(optimizer)
    assert read(html).figures == []
    assert "No value yet: all 3 trials failed." in html
    optimizer.ask()
    assert "No value yet: 3 of 4 trials failed, the others are pending." in short_page(optimizer)
    waiting = Optimizer(SPACE, seed=0)
    waiting.ask(2)
    assert "No value yet: 2 trials are pending." in short_page(waiting)
    assert "No trial has been made yet." in short_page(Optimizer(SPACE, seed=0))


def test_methods_that_use_no_source_say_so() -> None:
    for method in ("random", "vanilla"):
        html = short_page(told(Optimizer(SPACE, sources=[source()], method=method, seed=0), 6))
        assert html.count(f"The method &#x27;{method}&#x27; does not use the sources.") == 4


def test_whatever_names_contain_stands_for_itself(attacked_view: View) -> None:
    html = page(attacked_view, "/* Plotly */")
    reader = read(html)
    assert html.count("<script") == len(reader.figures) + 2
    assert "<img" not in html
    assert "<a " not in html
    assert "<!--" not in html
    assert not set(html) & set("\u2028\u2029\u202e\x00")
    assert len(html) < 400_000
    html.encode()
    assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in html


def test_data_cannot_end_its_script() -> None:
    figure: dict[str, Any] = {
        "data": [],
        "layout": {"note": "</script><!-- & \u2028\u2029", "x": float("nan")},
    }
    html = chart(figure, "</div>")
    (content,) = re.findall(r">([^<]*)</script>", html)
    assert not set("<>&\u2028\u2029") & set(content)
    assert json.loads(content) == {**figure, "layout": {**figure["layout"], "x": None}}


def test_only_our_own_scripts_may_run(tuned_page: Path) -> None:
    policy = re.search(r'Security-Policy" content="([^"]*)"', tuned_page.read_text("utf-8"))
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert policy[1].count("'sha256-") == 2
    assert "script-src 'unsafe" not in policy[1]


def test_a_report_is_written_at_once_and_is_always_the_same(tmp_path: Path) -> None:
    optimizer = told(Optimizer(SPACE, seed=0, method="random"), 3)
    write_report(optimizer, tmp_path / "a.html", title="Mine")
    write_report(optimizer, str(tmp_path / "b.html"), title="Mine")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_without_plotly_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with refused(HetboError, "pip install plotly"):
        report_html(Optimizer(SPACE, seed=0))


def test_plotly_is_loaded_with_the_first_report_only() -> None:
    code = "import sys, hetbo, hetbo.report; print('plotly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  # our own code
    assert done.stdout.strip() == "False"


def test_known_noise_has_a_column() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    optimizer.tell({"rate": 0.1, "depth": 1, "kind": "a"}, 1.0, noise=0.25)
    html = short_page(optimizer)
    assert ">noise</button>" in html
    assert '<td class="number" title="0.25"' in html


def test_sources_say_what_differs() -> None:
    old = Experiment(
        "old", Space(rate=Float(0.1, 1)), [Trial({"rate": 0.5}, 1.0)], fixed={"depth": 3}
    )
    html = short_page(Optimizer(SPACE, sources=[old], seed=0))
    assert "did not tune kind; held depth at 3" in html
    same = short_page(Optimizer(SPACE, sources=[source()], seed=0))
    assert "the same parameters" in same
