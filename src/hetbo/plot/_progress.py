"""Progress: each trial's value, and the best so far."""

from typing import Any

from hetbo.experiments import TrialState
from hetbo.plot._chart import Drawing, chart
from hetbo.plot._run import NothingToShowError, Run, nothing_yet
from hetbo.plot._style import RUST, SLATE, TEAL, Figure, axis, figure, hidden_axis, trace
from hetbo.plot._text import number

_MOST_NUMBERED = 10


@chart("Progress")
def progress(run: Run) -> Drawing:
    """Draw each trial's value and the best so far."""
    if run.best is None:
        raise NothingToShowError(f"{nothing_yet(run)}.")
    return Drawing(
        _sentence(run),
        _figure(run),
        caption="A trial's number counts from 0; the line is the best value up to then.",
    )


def counting(last: int) -> dict[str, Any]:
    """Return options for an axis that counts trials: whole numbers, room at the ends."""
    end = max(last, 1)
    options: dict[str, Any] = {"range": [-0.03 * end - 0.2, 1.03 * end + 0.2], "showgrid": False}
    return options | ({"dtick": 1} if end <= _MOST_NUMBERED else {})


def _sentence(run: Run) -> str:
    best = number(run.best_so_far[-1] or 0.0)
    if run.count(TrialState.COMPLETE) == 1:
        return f"One trial has a value so far: {best}"
    return f"Trial {run.best} gave the best value, {best}"


def _figure(run: Run) -> Figure:
    complete = [(n, t.value) for n, t in enumerate(run.trials) if t.value is not None]
    failed = [n for n, t in enumerate(run.trials) if t.state is TrialState.FAILED]
    best = run.best_so_far[-1] or 0.0
    traces = [
        trace(
            "markers",
            [n for n, _ in complete],
            [v for _, v in complete],
            name="a trial's value",
            text=[f"trial {n}: {number(v)}" for n, v in complete],
            marker={"color": SLATE, "size": 7, "opacity": 0.75},
        ),
        trace(
            "lines",
            list(range(len(run.trials))),
            list(run.best_so_far),
            name="best so far",
            line={"color": TEAL, "width": 2.5, "shape": "hv"},
        ),
        trace(
            "markers",
            [run.best],
            [best],
            text=[f"best: trial {run.best}, {number(best)}"],
            marker={"color": TEAL, "size": 13},
        ),
    ]
    if failed:
        crosses = trace(
            "markers",
            failed,
            [0.02] * len(failed),
            yaxis="y2",
            name="failed",
            text=[f"trial {n} failed" for n in failed],
            marker={"color": RUST, "size": 8, "symbol": "x-thin-open", "line": {"width": 2}},
        )
        traces.insert(2, crosses)
    return figure(
        traces,
        height=360,
        xaxis=axis(name="trial", **counting(len(run.trials) - 1)),
        yaxis=axis(name=run.value_axis),
        yaxis2=hidden_axis(overlaying="y", range=[0, 1]),
    )
