"""All trials at once: parallel coordinates, with rows for axes, so that they fit a phone."""

import math

from hetbo.report.style import ORANGE, SHADES, Figure, axis, figure, hidden_axis, trace
from hetbo.report.text import label, number, plotly, shown_value
from hetbo.report.view import Run
from hetbo.spaces import Categorical, Parameter, Space, Value

MOST_AXES = 40
_ROW, _LABEL_WIDTH = 46, 118
_MOST_HOVERED = 6000


def parallel_chart(run: Run, space: Space, outcome: str) -> Figure:
    """Return each complete trial as a line that runs down through all parameters.

    Args:
        run: The trials.
        space: What is tuned.
        outcome: What the measured value is called.
    """
    names = space.names[:MOST_AXES]
    done = [(n, t.params, t.value) for n, t in enumerate(run.trials) if t.value is not None]
    done.sort(key=lambda trial: run.goal.sign * trial[2])
    values = [value for *_, value in done]
    low, high = min(values), max(values)
    rows = list(range(len(names) + 1))
    hovered = len(done) * len(rows) <= _MOST_HOVERED
    bins: list[tuple[list[float | None], list[int | None], list[str]]]
    bins = [([], [], []) for _ in SHADES]
    for rank, (n, params, value) in enumerate(done):
        xs, ys, texts = bins[rank * len(SHADES) // len(done)]
        xs += [*(_place(space[name], params[name]) for name in names), _share(value, low, high)]
        ys += rows
        texts += [
            f"trial {n}<br>{plotly(label(name))}: {plotly(shown_value(params[name]))}"
            for name in names
        ]
        texts.append(f"trial {n}<br>{plotly(label(outcome))}: {number(value)}")
        xs.append(None)
        ys.append(None)
        texts.append("")
    traces = [
        trace(
            "lines",
            xs,
            ys,
            line={"color": colour, "width": 1.3},
            opacity=opacity,
            **({"text": texts} if hovered else {}),
        )
        for (xs, ys, texts), (colour, opacity) in zip(bins, SHADES, strict=True)
        if xs
    ]
    best = done[-1]
    traces.append(
        trace(
            "lines+markers",
            [*(_place(space[name], best[1][name]) for name in names), _share(best[2], low, high)],
            rows,
            line={"color": ORANGE, "width": 2.5},
            marker={"color": ORANGE, "size": 6},
            text=[
                *(f"best<br>{plotly(label(n))}: {plotly(shown_value(best[1][n]))}" for n in names),
                f"best<br>{plotly(label(outcome))}: {number(best[2])}",
            ],
        )
    )
    ticks = [_tick(label(name, 16), _ends(space[name])) for name in names]
    ticks.append(_tick(label(outcome, 16), f"{number(low, 3)} … {number(high, 3)}"))
    return figure(
        traces,
        height=_ROW * len(rows) + 30,
        margin={"l": _LABEL_WIDTH, "r": 16, "t": 8, "b": 8},
        xaxis=hidden_axis(range=[-0.02, 1.02]),
        yaxis=axis(
            tickvals=rows,
            ticktext=ticks,
            range=[len(rows) - 0.6, -0.4],
            automargin=False,
        ),
    )


def _place(parameter: Parameter, value: Value) -> float:
    """Return where a value lies in the parameter's range, from 0 to 1."""
    if isinstance(parameter, Categorical):
        return _share(parameter.index(value), 0, len(parameter.choices) - 1)
    place = parameter.check(value)
    if parameter.log:
        return _share(math.log(place), math.log(parameter.low), math.log(parameter.high))
    return _share(place, parameter.low, parameter.high)


def _share(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value / 2 - low / 2) / (high / 2 - low / 2)


def _tick(name: str, ends: str) -> str:
    return f"{plotly(name)}<br><span style='font-size:10px'>{plotly(label(ends, 20))}</span>"


def _ends(parameter: Parameter) -> str:
    if isinstance(parameter, Categorical):
        return " · ".join(shown_value(choice) for choice in parameter.choices)
    return f"{number(parameter.low, 3)} … {number(parameter.high, 3)}"
