"""The page as text: what it holds, in every situation, and that nothing in it is alive."""

import json
import os
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
    DataError,
    Experiment,
    Float,
    Int,
    Optimizer,
    SourceWarning,
    Space,
    Trial,
    __version__,
)
from hetbo.methods import METHODS
from hetbo.plot import Chart, Drawing, Run
from hetbo.report import write_report
from hetbo.report._page import first_sentences, page
from hetbo.spaces import Value
from report.runs import SPACE, source, told

PLOTLY = "/* Plotly */"
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
        self._in_figure = given.get("type") == "application/json" and given.get("id") != "look"

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
    return page(Run(optimizer), title, plotly_js=PLOTLY)


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


def test_the_measured_value_has_the_name_that_it_was_given() -> None:
    optimizer = told(Optimizer(SPACE, seed=0, goal="minimize"), 1)
    html = page(Run(optimizer, value="loss <b>"), "", plotly_js=PLOTLY)
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


def unshared() -> Optimizer:
    space, sources = Space(a=Float(0, 1)), [source("old", Space(b=Float(0, 1)))]
    with pytest.warns(SourceWarning, match="shares no parameter"):
        return Optimizer(space, sources=sources, method="conditional", seed=0, goal="minimize")


MIXED: tuple[Value, ...] = (True, 1, None, "1", "")
SITUATIONS: dict[str, Optimizer] = {
    "zero trials": Optimizer(SPACE, seed=0, goal="minimize"),
    "zero trials, a source": Optimizer(SPACE, sources=[source()], seed=0, goal="minimize"),
    "one trial": told(Optimizer(SPACE, seed=0, goal="minimize"), 1),
    "no sources": told(Optimizer(SPACE, seed=0, goal="minimize"), 6),
    "one parameter": told(Optimizer(Space(a=Float(0, 1)), seed=0, goal="minimize"), 6),
    "only categories": told(
        Optimizer(
            Space(a=Categorical("x", "y"), b=Categorical(*MIXED)),
            sources=[source("old", Space(a=Categorical("x", "z")))],
            method="learned-imputation",
            seed=0,
            goal="minimize",
        ),
        6,
    ),
    "30 parameters": told(
        Optimizer(
            Space.from_mapping({f"parameter {n}": Float(0, 1) for n in range(30)}),
            seed=0,
            goal="minimize",
        ),
        8,
    ),
    "45 parameters": told(
        Optimizer(
            Space.from_mapping({f"p{n}": Float(0, 1) for n in range(45)}),
            method="random",
            goal="minimize",
        ),
        5,
    ),
    "300 trials": told(Optimizer(SPACE, method="vanilla", seed=0, goal="minimize"), 300),
    "14 sources": told(
        Optimizer(
            Space(a=Float(0, 1)),
            sources=[source(f"old {n}", Space(a=Float(0, 1)), 2) for n in range(14)],
            method="fixed-imputation",
            seed=0,
            goal="minimize",
        ),
        2,
    ),
    "nothing is common": told(unshared(), 4),
    "equal values": told(Optimizer(SPACE, seed=0, goal="minimize"), 0),
    "huge values": told(Optimizer(SPACE, seed=0, n_initial=1, goal="minimize"), 0),
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
    optimizer = Optimizer(
        SPACE, sources=[source(space=old)], method=method, seed=0, n_initial=2, goal="minimize"
    )
    html = short_page(told(optimizer, 3), f"With {method}")
    read(html)
    assert f"<title>With {method}</title>" in html
    assert f"<h1>With {method}</h1>" in html


def test_failed_and_pending_trials_alone_have_no_charts() -> None:
    optimizer = Optimizer(SPACE, seed=0, goal="minimize")
    for suggestion in optimizer.ask(3):
        optimizer.tell_failure(suggestion)
    html = short_page(optimizer)
    assert read(html).figures == []
    assert "No value yet: all 3 trials failed." in html
    optimizer.ask()
    assert "No value yet: 3 of 4 trials failed, the others are pending." in short_page(optimizer)
    waiting = Optimizer(SPACE, seed=0, goal="minimize")
    waiting.ask(2)
    assert "No value yet: 2 trials are pending." in short_page(waiting)
    assert "No trial has been made yet." in short_page(Optimizer(SPACE, seed=0, goal="minimize"))


def test_methods_that_use_no_source_say_so() -> None:
    for method in ("random", "vanilla"):
        html = short_page(
            told(Optimizer(SPACE, sources=[source()], method=method, seed=0, goal="minimize"), 6)
        )
        assert html.count(f"The method &#39;{method}&#39; does not use the sources.") == 3


def test_whatever_names_contain_stands_for_itself(attacked_run: Run) -> None:
    html = page(attacked_run, attacked_run.value, plotly_js=PLOTLY)
    reader = read(html)
    assert html.count("<script") == len(reader.figures) + 3  # the look, Plotly, the page's own
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
    evil = Chart("Evil", lambda _: Drawing("</div>", figure))
    html = page(Run(Optimizer(SPACE, seed=0, goal="minimize")), "", [evil], PLOTLY)
    content = html[html.index('id="evil"') :].split('"application/json">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(content)
    assert json.loads(content) == {
        "data": [],
        "layout": {**figure["layout"], "x": None},
    }


def test_only_our_own_scripts_may_run(tuned_page: Path) -> None:
    policy = re.search(r'Security-Policy" content="([^"]*)"', tuned_page.read_text("utf-8"))
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert policy[1].count("'sha256-") == 2
    assert "script-src 'unsafe" not in policy[1]


def test_a_report_is_written_at_once_and_is_always_the_same(tmp_path: Path) -> None:
    optimizer = told(Optimizer(SPACE, seed=0, method="random", goal="minimize"), 3)
    write_report(optimizer, tmp_path / "a.html", title="Mine")
    write_report(optimizer, str(tmp_path / "b.html"), title="Mine")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_plotly_is_loaded_with_the_first_report_only() -> None:
    code = "import sys, hetbo, hetbo.report; print('plotly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  # our own code
    assert done.stdout.strip() == "False"


def test_known_noise_has_a_column() -> None:
    optimizer = Optimizer(SPACE, seed=0, goal="minimize")
    optimizer.tell({"rate": 0.1, "depth": 1, "kind": "a"}, 1.0, noise=0.25)
    html = short_page(optimizer)
    assert ">noise</button>" in html
    assert '<td class="number" title="0.25"' in html


def test_sources_say_what_differs() -> None:
    old = Experiment(
        "old",
        Space(rate=Float(0.1, 1)),
        [Trial({"rate": 0.5}, 1.0)],
        fixed={"depth": 3},
        goal="minimize",
    )
    html = short_page(Optimizer(SPACE, sources=[old], seed=0, goal="minimize"))
    assert "did not tune kind; held depth at 3" in html
    same = short_page(Optimizer(SPACE, sources=[source()], seed=0, goal="minimize"))
    assert "the same parameters" in same


def test_sentences_are_cut_between_them() -> None:
    assert first_sentences("One. Two. Three.", 40) == "One. Two. Three."
    assert first_sentences("One. Two. Three.", 12) == "One. Two. …"
    assert first_sentences("A long one without an end", 12) == "A long one …"


def test_many_sources_are_few_rows_and_all_of_them_on_demand() -> None:
    sources = [source(f"old {n:02}", Space(a=Float(0, 1)), 1) for n in range(30)]
    optimizer = Optimizer(
        Space(a=Float(0, 1)), sources=sources, method="fixed-imputation", seed=0, goal="minimize"
    )
    html = short_page(told(optimizer, 1))
    read(html)
    first, everything = html.split("<summary>All 30 sources</summary>")
    rows = first[first.index('<table id="sources">') :]
    assert rows.count("<tr>") == 1 + 10
    assert re.search(r"Of the other sources, 20 \w+", rows)
    assert everything.count("<tr>") == 1 + 30


def test_what_is_no_regular_file_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("hetbo.report._report.report_html")
    os.mkfifo(tmp_path / "pipe")
    optimizer = Optimizer(SPACE, seed=0, goal="minimize")
    for path in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with refused(DataError, str(path), "name a"):
            write_report(optimizer, path)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text("<!DOCTYPE html>old")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    write_report(Optimizer(SPACE, seed=0, goal="minimize"), tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text("utf-8").rstrip().endswith("</html>")
