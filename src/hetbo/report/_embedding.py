"""A chart as a page shows it: the legend and the name of the vertical axis are HTML, for phones."""

import json
from html import unescape
from typing import Any, NamedTuple

from hetbo.plot import Chart, Drawing, Run
from hetbo.plot._style import SLATE, Figure


class Key(NamedTuple):
    """An entry of a legend: its shape ('dot', 'line' or 'cross'), its colour and its name."""

    shape: str
    colour: str
    name: str


class Embedded(NamedTuple):
    """A chart, what it shows, and the parts of its figures."""

    name: str
    drawing: Drawing
    figures: list[Figure]
    legend: list[Key]
    axis_name: str


def embedded(chart: Chart, run: Run) -> Embedded:
    """Return a chart of a run as a page shows it."""
    return embedded_drawing(chart.name, chart.drawing(run))


def embedded_drawing(name: str, drawing: Drawing) -> Embedded:
    """Return a drawing as a page shows it."""
    given = [drawing.figure] if drawing.figure is not None else [p.figure for p in drawing.panels]
    figures = [_plain(figure) for figure in given]
    names = [_take_axis_name(figure) for figure in figures]
    legend = dict.fromkeys(
        Key(*_look(trace), unescape(trace["name"]))
        for figure in figures
        for trace in figure["data"]
        if trace.get("name") and trace.get("showlegend") is not False
    )
    return Embedded(name, drawing, figures, list(legend), names[0] if names else "")


def _plain(figure: Any) -> Figure:  # noqa: ANN401  # Plotly is untyped
    """Return a figure as data of its own, without a template and a title."""
    from plotly.io.json import to_json_plotly  # noqa: PLC0415  # only a report needs it

    # It writes null in place of numbers that JSON does not have.
    data = json.loads(to_json_plotly(figure, engine="json"))
    layout = {k: v for k, v in data.get("layout", {}).items() if k not in {"template", "title"}}
    return {"data": data.get("data", []), "layout": layout}


def _take_axis_name(figure: Figure) -> str:
    title = figure["layout"].get("yaxis", {}).pop("title", "")
    return unescape(title.get("text", "") if isinstance(title, dict) else title)


def _look(trace: dict[str, Any]) -> tuple[str, str]:
    """Return the shape and the colour of a trace."""
    marker, line = trace.get("marker", {}), trace.get("line", {})
    if "lines" in trace.get("mode", ""):
        return "line", line.get("color", SLATE)
    cross = str(marker.get("symbol", "")).startswith("x")
    colour = marker.get("color", SLATE)
    return "cross" if cross else "dot", colour if isinstance(colour, str) else SLATE
