"""The look that all charts share. Text and grid follow the page's colours, by its style sheet."""

from typing import Any

Figure = dict[str, Any]
"""A Plotly figure as plain data: traces and layout."""

TEAL, ORANGE, SLATE, RUST = "#17948c", "#e07f2e", "#8390a3", "#c8553d"
SERIES = (TEAL, ORANGE, "#4b7fdb", "#9a6ad6", "#d4608c", "#8b9c34", "#a9744a", "#3aa0c4")
"""Colours of things without an order; all can be read on white and on near black."""
SHADES = (("#a9b1bd", 0.3), ("#93b4bd", 0.35), ("#6aa9ab", 0.45), ("#3e9e9b", 0.6), (TEAL, 0.85))
"""Colours and opacities from poor to good."""
TEAL_BAND = "rgba(23, 148, 140, 0.18)"

_CLEAR = "rgba(0, 0, 0, 0)"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def axis(*, name: str = "", **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an axis that cannot be dragged, so that a finger scrolls the page.

    Args:
        name: What stands below it, if anything.
        options: What is particular to this axis.
    """
    return {
        "title": {"text": name, "font": {"size": 12}},
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": "#e4e4df",
        "linecolor": "#e4e4df",
        "automargin": True,
        "exponentformat": "e",
        "ticks": "",
        "type": "linear",
        **options,
    }


def hidden_axis(**options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an axis that only places things."""
    return axis(visible=False, showgrid=False, **options)


def figure(traces: list[dict[str, Any]], *, height: int, **layout: Any) -> Figure:  # noqa: ANN401
    """Return a figure in the common look.

    Args:
        traces: The traces.
        height: The height in pixels; the width is the page's.
        layout: What is particular to this figure, the axes for instance.
    """
    return {
        "data": traces,
        "layout": {
            "height": height,
            "margin": {"l": 44, "r": 14, "t": 10, "b": 40},
            "paper_bgcolor": _CLEAR,
            "plot_bgcolor": _CLEAR,
            "font": {"family": _FONT, "size": 12, "color": "#5d6675"},
            "showlegend": False,
            "dragmode": False,
            "hovermode": "closest",
            "hoverlabel": {
                "align": "left",
                "bgcolor": "#262b36",
                "bordercolor": "#262b36",
                "font": {"color": "#ffffff", "size": 12},
            },
            **layout,
        },
    }


def trace(mode: str, x: list[Any], y: list[Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a trace of points or lines; `text`, if given, is what hovering shows."""
    hover = "text" if "text" in options else "skip"
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hoverinfo": hover, **options}


def band(x: list[Any], low: list[float], high: list[float]) -> dict[str, Any]:
    """Return the area between two lines."""
    return trace(
        "lines",
        [*x, *reversed(x)],
        [*high, *reversed(low)],
        fill="toself",
        fillcolor=TEAL_BAND,
        line={"width": 0},
    )
