"""The look that all charts share."""

import math
from collections.abc import Mapping
from typing import Any

from hetbo.plot._text import number, plotly
from hetbo.spaces import Parameter

Figure = dict[str, Any]
"""A Plotly figure as plain data: traces and layout."""

TEAL, ORANGE, SLATE, RUST = "#17948c", "#e07f2e", "#8390a3", "#c8553d"
SERIES = (
    *(TEAL, ORANGE, "#4b7fdb", "#9a6ad6", "#d4608c"),
    *("#8b9c34", "#a9744a", "#3aa0c4", "#c9a227", "#58a65c"),
)
"""Colours of things without an order; all can be read on white and on near black."""
SHADES = (("#a9b1bd", 0.3), ("#93b4bd", 0.35), ("#6aa9ab", 0.45), ("#3e9e9b", 0.6), (TEAL, 0.85))
"""Colours and opacities from poor to good."""
TEAL_BAND, SLATE_BAND = "rgba(23, 148, 140, 0.18)", "rgba(131, 144, 163, 0.18)"
SMALL_MARGIN = {"l": 46, "r": 10, "t": 6, "b": 26}
MOST_CHOICES = 12
"""So many choices can be told apart on a small figure's axis."""

_CLEAR = "rgba(0, 0, 0, 0)"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_FEWEST_TICKS, _MOST_TICKS = 3, 5

AXIS = {
    "zeroline": False,
    "gridcolor": "#e4e4df",
    "linecolor": "#e4e4df",
    "automargin": True,
    "exponentformat": "e",
    "ticks": "",
    "title": {"font": {"size": 12}},
}
LOOK: Mapping[str, Any] = {
    "layout": {
        "margin": {"l": 44, "r": 14, "t": 10, "b": 40},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "colorway": SERIES,
        "font": {"family": _FONT, "size": 12, "color": "#5d6675"},
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "bgcolor": "#262b36",
            "bordercolor": "#262b36",
            "font": {"color": "#ffffff", "size": 12},
        },
        "xaxis": AXIS,
        "yaxis": AXIS,
    }
}
"""A Plotly template: what all figures have in common."""


def axis(*, name: str = "", **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an axis of numbers.

    Args:
        name: What stands beside it, if anything; not escaped yet.
        options: What is particular to this axis.
    """
    title = {"title": {"text": plotly(name)}} if name else {}
    return {"type": "linear", **title, **options}


def hidden_axis(**options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an axis that only places things."""
    return axis(visible=False, showgrid=False, **options)


def scale_axis(definition: Parameter) -> dict[str, Any]:
    """Return an axis along a parameter's numbers."""
    scale, values = definition.scale, definition.values
    if scale is not None and scale.log:
        ticks = _log_ticks(scale.low, scale.high)
        texts = [number(tick, 3) for tick in ticks]
        return axis(showgrid=False, type="log", tickvals=ticks, ticktext=texts)
    few = values is not None and len(values) <= MOST_CHOICES + 1
    return axis(showgrid=False, nticks=5, **({"tickformat": "d"} if few else {}))


def _log_ticks(low: float, high: float) -> list[float]:
    """Return a few round numbers of a range whose ends are above 0."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1,), (1, 3), (1, 2, 5)):
        ticks = [d * 10.0**e for e in range(first, last + 1) for d in digits]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= _FEWEST_TICKS:
            return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]
    return [low, high]


def figure(traces: list[dict[str, Any]], *, height: int, **layout: Any) -> Figure:  # noqa: ANN401
    """Return a figure as plain data.

    Args:
        traces: The traces.
        height: The height in pixels; the width is the page's.
        layout: What is particular to this figure, the axes for instance.
    """
    return {"data": traces, "layout": {"height": height, **layout}}


def trace(mode: str, x: list[Any], y: list[Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a trace of points or lines: `text` shows on hovering, `name` in the legend."""
    hover = "text" if "text" in options else "skip"
    shown = {"showlegend": "name" in options, "hoverinfo": hover}
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **shown, **options}


def band(
    x: list[Any],
    low: list[float],
    high: list[float],
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return the area between two lines."""
    ends = [*x, *reversed(x)], [*high, *reversed(low)]
    look = {"fillcolor": TEAL_BAND, "line": {"width": 0}, **options}
    return trace("lines", *ends, fill="toself", **look)
