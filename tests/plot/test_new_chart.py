"""A chart of one's own is one function in one file: as a figure, and in a report."""

import json
from collections import Counter
from pathlib import Path

import plotly.graph_objects as go
import pytest

from helpers import refused
from hetbo import Experiment, HetboError, Optimizer, plot, report
from report.runs import SPACE, told


@plot.chart("States")
def states(run: plot.Run) -> plot.Drawing:
    counts = Counter(trial.state.value for trial in run.trials)
    if not counts:
        raise plot.NothingToShowError("No trial has been made yet.")
    figure = go.Figure(go.Bar(x=list(counts), y=list(counts.values()), name="trials"))
    figure.update_layout(yaxis_title="how many", height=200)
    state, most = counts.most_common(1)[0]
    return plot.Drawing(f"{most} of {len(run.trials)} trials are {state}", figure, "Bars count.")


def test_it_is_a_plotly_figure(tuned: Optimizer) -> None:
    figure = states(tuned)
    assert isinstance(figure, go.Figure)
    assert list(figure.data[0].y) == [8, 1, 1]
    assert figure.layout.title.text == "8 of 10 trials are complete"


def test_the_report_shows_it(tuned: Optimizer, tmp_path: Path) -> None:
    report.write_report(tuned, tmp_path / "report.html", charts=[states])
    page = (tmp_path / "report.html").read_text("utf-8")
    own = page[page.index('<section id="states">') : page.index('<section id="trials"')]
    assert "<h2>8 of 10 trials are complete</h2>" in own
    assert '<p class="axis-name">how many</p>' in own
    assert "</i>trials</li>" in own
    assert '<p class="caption">Bars count.</p>' in own
    data = json.loads(own.split('"application/json">')[1].split("</script>")[0])
    assert data["data"][0]["y"] == [8, 1, 1]
    assert set(data["layout"]) == {"height", "yaxis"}


def test_without_data_the_reason_is_shown() -> None:
    empty = Optimizer(SPACE, seed=0, goal="minimize")
    page = report.report_html(empty, charts=[states])
    own = page[page.index('<section id="states" class="absent">') :]
    assert own.index("<p>No trial has been made yet.</p>") < own.index("</section>")
    figure = states(empty)
    assert figure.data == ()
    assert figure.layout.title.text == "No trial has been made yet."


def test_what_is_no_chart_is_refused(tuned: Optimizer) -> None:
    with refused(HetboError, "charts=", "@hetbo.plot.chart"):
        report.report_html(tuned, charts=[lambda run: run])  # type: ignore[list-item]
    with refused(HetboError, "duplicate chart 'Progress'"):
        report.report_html(tuned, charts=[plot.progress])
    with refused(HetboError, '@chart("Noise")'):
        plot.chart(" ")


@pytest.mark.parametrize("name", ["progress", "effects", "trust", "missing_values"])
def test_figures_of_hetbo_stand_by_themselves(name: str, run: plot.Run) -> None:
    chart = getattr(plot, name)
    figure = chart(run)
    drawing = chart.drawing(run)
    assert figure.layout.title.text.replace("<br>", " ") == drawing.sentence
    figures = [drawing.figure] if drawing.figure else [panel.figure for panel in drawing.panels]
    assert len(figure.data) == sum(len(one["data"]) for one in figures)
    assert figure.layout.height > max(one["layout"]["height"] for one in figures)


def test_user_given_text_is_escaped() -> None:
    old = Experiment("<b>old</b>", SPACE, goal="minimize")
    optimizer = told(Optimizer(SPACE, sources=[old], seed=0, goal="minimize", method="vanilla"), 3)
    run = plot.Run(optimizer, value="<a href='x'>loss</a>")
    figure = plot.progress(run)
    assert "<a" not in figure.layout.yaxis.title.text
    assert "loss" in figure.layout.yaxis.title.text
