"""The large charts: progress, trust, correlations and predictions."""

import math
from typing import Any

from hetbo.experiments import TrialState
from hetbo.report.findings import Correlations, LeftOut
from hetbo.report.style import (
    ORANGE,
    RUST,
    SERIES,
    SLATE,
    TEAL,
    Figure,
    axis,
    figure,
    hidden_axis,
    trace,
)
from hetbo.report.text import counted, label, number, plotly
from hetbo.report.view import Absent, Run, TrustHistory

MOST_CORRELATED = 12
"""So many sources fit into the matrix."""
MOST_AXES = 40
_ROW, _LABEL_WIDTH = 46, 118
_MOST_HOVERED = 6000
_READABLE_MATRIX = 7
_MOST_NUMBERED = 10


def progress_chart(run: Run) -> Figure:
    """Return each trial's value, the best so far, and what no transfer expected."""
    complete = [(n, t.value) for n, t in enumerate(run.trials) if t.value is not None]
    failed = [n for n, t in enumerate(run.trials) if t.state is TrialState.FAILED]
    traces = [
        trace(
            "markers",
            [n for n, _ in complete],
            [v for _, v in complete],
            text=[f"trial {n}: {number(v)}" for n, v in complete],
            marker={"color": SLATE, "size": 7, "opacity": 0.75},
        ),
        trace(
            "lines",
            list(range(len(run.trials))),
            list(run.best_so_far),
            line={"color": TEAL, "width": 2.5, "shape": "hv"},
        ),
        trace(
            "markers",
            failed,
            [0.02] * len(failed),
            yaxis="y2",
            text=[f"trial {n} failed" for n in failed],
            marker={"color": RUST, "size": 8, "symbol": "x-thin-open", "line": {"width": 2}},
        ),
    ]
    if not isinstance(run.expectations, Absent):
        traces.append(
            trace(
                "lines+markers",
                [e.trial for e in run.expectations],
                [e.expected for e in run.expectations],
                text=[
                    f"expected without the sources<br>before trial {e.trial}: {number(e.expected)}"
                    for e in run.expectations
                ],
                line={"color": ORANGE, "width": 1.5, "dash": "dot"},
                marker={"color": ORANGE, "size": 5},
            )
        )
    best = run.best_trial
    if best is not None:
        traces.append(
            trace(
                "markers",
                [run.best],
                [best.value],
                text=[f"best: trial {run.best}, {number(best.value or 0.0)}"],
                marker={"color": TEAL, "size": 13},
            )
        )
    return figure(
        traces,
        height=360,
        xaxis=axis(name="trial", showgrid=False, **_whole(len(run.trials) - 1)),
        yaxis=axis(),
        yaxis2=hidden_axis(overlaying="y", range=[0, 1]),
    )


def _whole(last: int) -> dict[str, Any]:
    """Return options for an axis that counts trials: whole numbers, room at the ends."""
    end = max(last, 1)
    options: dict[str, Any] = {"range": [-0.03 * end - 0.2, 1.03 * end + 0.2]}
    return options | ({"dtick": 1} if end <= _MOST_NUMBERED else {})


def trust_chart(history: TrustHistory) -> Figure:
    """Return the trust in each source, as trials came in."""
    steps = [step.trials for step in history.steps]
    traces = []
    for index, name in enumerate(history.names):
        trust = [step.trust[index] for step in history.steps]
        colour = series_colour(history, index)
        text = [
            f"{plotly(label(name))}<br>after {counted(s, 'trial')}: {t:.2f}"
            for s, t in zip(steps, trust, strict=True)
        ]
        traces.append(
            trace(
                "lines+markers",
                steps,
                trust,
                text=text,
                line={"color": colour, "width": 2.5 if colour != SLATE else 1},
                marker={"color": colour, "size": 6 if len(steps) > 1 else 10},
            )
        )
    return figure(
        traces,
        height=300,
        xaxis=axis(name="trials known", showgrid=False, **_whole(steps[-1])),
        yaxis=axis(range=[-0.03, 1.03], tickvals=[0, 0.3, 0.7, 1]),
    )


def series_colour(history: TrustHistory, index: int) -> str:
    """Return a source's colour: the most trusted ones have their own, the others are grey."""
    last = history.steps[-1].trust
    rank = sorted(range(len(last)), key=lambda i: -last[i]).index(index)
    return SERIES[rank] if rank < len(SERIES) else SLATE


def correlation_chart(correlations: Correlations) -> Figure:
    """Return the matrix of correlations: the larger a circle, the closer two experiments."""
    kept = shown_experiments(correlations)
    size = len(kept)
    places = [(row, column) for row in range(size) for column in range(size)]
    values = [correlations.matrix[kept[row]][kept[column]] for row, column in places]
    names = [plotly(label(correlations.names[i])) for i in kept]
    rows = [f"{plotly(label(correlations.names[i], 16))}  {n}" for n, i in enumerate(kept, 1)]
    largest = min(52.0, 250 / size)
    readable = size <= _READABLE_MATRIX
    circles = trace(
        "markers+text" if readable else "markers",
        [column for _, column in places],
        [row for row, _ in places],
        text=[f"{value:+.2f}" if readable else "" for value in values],
        hovertext=[
            f"{names[row]}<br>{names[column]}<br>correlation {value:+.2f}"
            for (row, column), value in zip(places, values, strict=True)
        ],
        textfont={"size": 12},
        marker={
            "color": [TEAL if value >= 0 else RUST for value in values],
            "opacity": [0.25 if row == column else 0.5 for row, column in places],
            "size": [max(largest * math.sqrt(abs(value)), 3) for value in values],
            "line": {"width": 0},
        },
    )
    ends = [-0.6, size - 0.4]
    return figure(
        [circles],
        height=round(max(60 + size * (largest + 14), 170)),
        margin={"l": 44, "r": 14, "t": 10, "b": 30},
        xaxis=axis(
            tickvals=list(range(size)),
            ticktext=[str(n) for n in range(1, size + 1)],
            range=ends,
            showgrid=False,
        ),
        yaxis=axis(tickvals=list(range(size)), ticktext=rows, range=ends[::-1], showgrid=False),
    )


def shown_experiments(correlations: Correlations) -> list[int]:
    """Return the target and the sources that go along with it most, either way."""
    row = correlations.matrix[0]
    closest = sorted(range(1, len(row)), key=lambda i: -abs(row[i]))[:MOST_CORRELATED]
    return [0, *sorted(closest)]


def left_out_chart(found: LeftOut) -> Figure:
    """Return each trial's value against its prediction from all others."""
    low, middle, high = found.band.low, found.band.middle, found.band.high
    inside = [a <= y <= b for a, y, b in zip(low, found.observed, high, strict=True)]
    ends = [min(*low, *found.observed), max(*high, *found.observed)]
    traces = [trace("lines", ends, ends, line={"color": SLATE, "width": 1, "dash": "dot"})]
    for kind, colour in ((True, TEAL), (False, ORANGE)):
        chosen = [i for i, fits in enumerate(inside) if fits is kind]
        traces.append(
            trace(
                "markers",
                [found.observed[i] for i in chosen],
                [middle[i] for i in chosen],
                text=[
                    f"trial {found.trials[i]}: measured {number(found.observed[i])}<br>"
                    f"predicted {number(middle[i])}<br>({number(low[i])} to {number(high[i])})"
                    for i in chosen
                ],
                marker={"color": colour, "size": 7},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [high[i] - middle[i] for i in chosen],
                    "arrayminus": [middle[i] - low[i] for i in chosen],
                    "color": colour,
                    "thickness": 1,
                    "width": 0,
                },
            )
        )
    return figure(traces, height=380, xaxis=axis(name="measured value"), yaxis=axis())
