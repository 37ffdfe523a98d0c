"""The small charts, one per parameter: effects and learned values."""

import math
from typing import Any

from hetbo.models import LearnedChoice, LearnedNumber, LearnedValue
from hetbo.report.findings import Effect
from hetbo.report.style import ORANGE, TEAL, Figure, axis, band, figure, hidden_axis, trace
from hetbo.report.text import label, number, plotly, shown_value
from hetbo.spaces import Categorical, Float, Int, Parameter

_MARGIN = {"l": 46, "r": 10, "t": 6, "b": 26}
_MOST_CHOICES = 12
_DENSITY_STEP = 10
_FEWEST_TICKS, _MOST_TICKS = 3, 5


def effect_chart(effect: Effect, ends: tuple[float, float]) -> Figure:
    """Return how the prediction changes with one parameter.

    Args:
        effect: The effect.
        ends: The lowest and highest value of all effects, so that charts can be compared.
    """
    low, high = ends
    pad = (high / 2 - low / 2) * 0.1 or 1.0
    x, options, here = _axis(effect)
    b = effect.band
    texts = [
        f"{plotly(shown_value(place))}: {number(middle)}<br>({number(lo)} to {number(hi)})"
        for place, middle, lo, hi in zip(effect.places, b.middle, b.low, b.high, strict=True)
    ]
    if isinstance(effect.definition, Categorical):
        up = [hi - middle for hi, middle in zip(b.high, b.middle, strict=True)]
        down = [middle - lo for lo, middle in zip(b.low, b.middle, strict=True)]
        error = {"type": "data", "symmetric": False, "array": up, "arrayminus": down}
        error |= {"color": TEAL, "thickness": 6, "width": 0}
        traces = [
            trace("markers", x, list(b.middle), text=texts, marker={"color": TEAL, "size": 9})
            | {"error_y": error, "opacity": 0.75}
        ]
    else:
        line = trace("lines", x, list(b.middle), text=texts, line={"color": TEAL, "width": 2})
        traces = [band(x, list(b.low), list(b.high)), line]
    best = {"color": ORANGE, "size": 9}
    at = [b.middle[x.index(here)]]
    traces.append(trace("markers", [here], at, text=["the best trial"], marker=best))
    return figure(
        traces,
        height=180,
        margin=_MARGIN,
        xaxis=axis(showgrid=False, **options),
        yaxis=axis(range=[low - pad, high + pad], nticks=5),
    )


def _axis(effect: Effect) -> tuple[list[Any], dict[str, Any], Any]:
    """Return the places on the axis, the axis's options, and the place of the best trial."""
    if not isinstance(effect.definition, Categorical):
        return list(effect.places), _scale(effect.definition), effect.at
    count = len(effect.places)
    here = effect.definition.index(effect.at)
    longest = max(26 // count, 4)
    options: dict[str, Any] = {"range": [-0.6, count - 0.4], "tickvals": []}
    if count <= _MOST_CHOICES:
        options |= {
            "tickvals": list(range(count)),
            "ticktext": [plotly(label(shown_value(p), longest)) for p in effect.places],
            "tickangle": 0,
        }
    return list(range(count)), options, here


def _scale(definition: Parameter) -> dict[str, Any]:
    if isinstance(definition, Float | Int) and definition.log:
        ticks = _log_ticks(definition.low, definition.high)
        return {"type": "log", "tickvals": ticks, "ticktext": [number(t, 3) for t in ticks]}
    few = isinstance(definition, Int) and definition.high - definition.low <= _MOST_CHOICES
    return {"nticks": 5, **({"tickformat": "d"} if few else {})}


def _log_ticks(low: float, high: float) -> list[float]:
    """Return a few round numbers of a range whose ends are above 0."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1,), (1, 3), (1, 2, 5)):
        ticks = [d * 10.0**e for e in range(first, last + 1) for d in digits]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= _FEWEST_TICKS:
            return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]
    return [low, high]


def learned_chart(value: LearnedValue, definition: Parameter) -> Figure:
    """Return how likely each value of a missing parameter is.

    Args:
        value: What was learned.
        definition: The parameter in the joint space.
    """
    if isinstance(value, LearnedNumber):
        return _number_chart(value, definition)
    return _choice_chart(value)


def _number_chart(value: LearnedNumber, definition: Parameter) -> Figure:
    x = value.positions[::_DENSITY_STEP].tolist()
    y = value.density[::_DENSITY_STEP].tolist()
    top = max(y)
    traces = [
        band(x, [0.0] * len(y), y),
        trace(
            "lines",
            x,
            y,
            text=[
                f"{number(place, 4)}: density {height:.2f}"
                for place, height in zip(x, y, strict=True)
            ],
            line={"color": TEAL, "width": 2},
        ),
        trace(
            "lines",
            [value.low, value.high],
            [-0.12 * top] * 2,
            line={"color": ORANGE, "width": 3},
        ),
        trace(
            "markers",
            [value.estimate],
            [-0.12 * top],
            text=[f"most likely {number(value.estimate, 4)}"],
            marker={"color": ORANGE, "size": 10},
        ),
    ]
    return figure(
        traces,
        height=130,
        margin={**_MARGIN, "l": 12},
        xaxis=axis(showgrid=False, **_scale(definition)),
        yaxis=hidden_axis(range=[-0.25 * top, max(1.1 * top, 1.5)]),
    )


def _choice_chart(value: LearnedChoice) -> Figure:
    ranked = sorted(value.probabilities, key=lambda pair: -pair[1])[:_MOST_CHOICES]
    rows = list(range(len(ranked)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [probability for _, probability in ranked],
        "y": rows,
        "width": 0.6,
        "hoverinfo": "text",
        "hovertext": [f"{plotly(shown_value(c))}: {p:.1%}" for c, p in ranked],
        "marker": {"color": TEAL, "opacity": 0.75},
    }
    return figure(
        [bars],
        height=max(130, 34 + 22 * len(rows)),
        margin={**_MARGIN, "l": 12, "r": 24},
        xaxis=axis(range=[0, 1], tickvals=[0, 0.5, 1], tickformat=".0%"),
        yaxis=axis(
            tickvals=rows,
            ticktext=[plotly(label(shown_value(choice), 14)) for choice, _ in ranked],
            range=[len(rows) - 0.4, -0.6],
            showgrid=False,
        ),
    )
