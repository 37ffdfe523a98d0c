"""All trials at once: parallel coordinates, with rows for axes, so that they fit a phone."""

import math

from hetbo.experiments import TrialState
from hetbo.plot._chart import Drawing, chart
from hetbo.plot._run import NothingToShowError, Run, nothing_yet
from hetbo.plot._style import ORANGE, SHADES, Figure, axis, figure, hidden_axis, trace
from hetbo.plot._text import counted, label, number, plotly, shown_value
from hetbo.spaces import Parameter, Value

_MOST_AXES = 40
_ROW, _LABEL_WIDTH = 46, 118
_MOST_HOVERED = 6000


@chart("All trials at once")
def parallel_coordinates(run: Run) -> Drawing:
    """Draw each complete trial as a line that runs down through all parameters."""
    if run.best is None:
        raise NothingToShowError(f"{nothing_yet(run)}.")
    complete = run.count(TrialState.COMPLETE)
    left = len(run.space) - _MOST_AXES
    more = f" {counted(left, 'parameter')} more not shown." if left > 0 else ""
    return Drawing(
        "The one trial with a value"
        if complete == 1
        else f"All {complete} trials with a value, the best in orange",
        _figure(run),
        caption="Each line from top to bottom is a trial, each row a parameter, from its lowest "
        "value on the left to its highest on the right. The stronger the colour, the better."
        + more,
    )


def _figure(run: Run) -> Figure:
    space, outcome = run.space, run.value
    names = space.names[:_MOST_AXES]
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
    scale = parameter.scale
    if scale is None:
        return _share(parameter.index(value), 0, len(parameter.values or ()) - 1)
    place = scale.check(value)
    if scale.log:
        return _share(math.log(place), math.log(scale.low), math.log(scale.high))
    return _share(place, scale.low, scale.high)


def _share(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value / 2 - low / 2) / (high / 2 - low / 2)


def _tick(name: str, ends: str) -> str:
    return f"{plotly(name)}<br><span style='font-size:10px'>{plotly(label(ends, 20))}</span>"


def _ends(parameter: Parameter) -> str:
    if parameter.scale is None:
        return " · ".join(map(shown_value, parameter.values or ()))
    return f"{number(parameter.scale.low, 3)} … {number(parameter.scale.high, 3)}"
