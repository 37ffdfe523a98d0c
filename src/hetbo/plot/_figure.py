"""A drawing as a Plotly figure that stands by itself: with a title, a legend, room for both."""

from collections.abc import Sequence
from textwrap import wrap

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from hetbo.plot._chart import Drawing, Panel
from hetbo.plot._style import LOOK
from hetbo.plot._text import plotly

_COLUMNS = 3
_ROW_HEIGHT = 230
_TITLE_LINE, _LEGEND_LINE = 24, 34
_LONGEST_LINE = 90
_LONGEST_PANEL_LINE = 44


def standalone(drawing: Drawing) -> go.Figure:
    """Return a drawing as a figure, its sentence as the title."""
    figure = _side_by_side(drawing.panels) if drawing.panels else go.Figure(drawing.figure)
    if not figure.data:
        figure.update_xaxes(visible=False).update_yaxes(visible=False)
        figure.update_layout(height=100)
    title = wrap(drawing.sentence, _LONGEST_LINE)
    top = 10 + _TITLE_LINE * len(title)
    if any(trace.name and trace.showlegend is not False for trace in figure.data):
        top += _LEGEND_LINE
    old = figure.layout.margin.t if figure.layout.margin.t is not None else 10
    height = figure.layout.height
    return figure.update_layout(
        template=LOOK,
        paper_bgcolor="white",
        title={
            "text": "<br>".join(map(plotly, title)),
            "font": {"size": 16, "color": "#1d2330"},
            "x": 0.01,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 12},
        },
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        margin={"t": old + top},
        height=None if height is None else height + top,
    )


def _side_by_side(panels: Sequence[Panel]) -> go.Figure:
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    lines = [[f"<b>{plotly(p.name)}</b>", *map(plotly, _wrapped(p.sentence))] for p in panels]
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=["<br>".join(one) for one in lines],
        horizontal_spacing=0.08,
        vertical_spacing=0.5 / rows,
    )
    figure.update_annotations(font_size=12)
    for position, panel in enumerate(panels):
        place = {"row": 1 + position // columns, "col": 1 + position % columns}
        own = go.Figure(panel.figure)
        figure.add_traces(own.data, rows=place["row"], cols=place["col"])
        figure.update_xaxes(own.layout.xaxis, **place)
        figure.update_yaxes(own.layout.yaxis, **place)
        if position % columns:
            figure.update_yaxes(title=None, **place)
    return figure.update_layout(
        height=_ROW_HEIGHT * rows, margin_t=16 * max(map(len, lines[:columns]))
    )


def _wrapped(sentence: str) -> list[str]:
    return wrap(sentence, _LONGEST_PANEL_LINE)
