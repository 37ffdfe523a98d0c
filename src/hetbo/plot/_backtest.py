"""A backtest: the trials that each case needed, and those that each source saved."""

from typing import TYPE_CHECKING, Any

from hetbo.backtesting import Backtest, Case, SourceEffect
from hetbo.backtesting._result import goal_of, headline, verdicts
from hetbo.plot._chart import Drawing
from hetbo.plot._run import NothingToShowError
from hetbo.plot._style import ORANGE, RUST, SLATE, TEAL, Figure, axis, figure, trace
from hetbo.plot._text import counted, label, number, plotly

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ROW, _REST, _LABEL_WIDTH = 30, 60, 130
_VERDICTS = {
    "helps": ("helps", TEAL),
    "misleads": ("misleads", RUST),
    "not clear": ("may be luck", SLATE),
    "not used": ("not used", ORANGE),
}
"""What the legend says, and the colour."""


def backtest_cases(found: Backtest) -> "go.Figure":
    """Return how many trials each case of a backtest needed, as a Plotly figure."""
    return _standalone(cases_drawing(found))


def backtest_sources(found: Backtest) -> "go.Figure":
    """Return how many trials each source of a backtest saved by itself, as a Plotly figure."""
    return _standalone(sources_drawing(found))


def cases_drawing(found: Backtest) -> Drawing:
    """Draw how many trials each case needed, without sources and with them."""
    return Drawing(
        headline(found),
        _cases_figure(found.cases[::-1]),
        caption=f"The trials on the way to {goal_of(found)}, on average. Grey bars hold nine of "
        "ten runs without old runs: what lies within one may be luck.",
    )


def sources_drawing(found: Backtest) -> Drawing:
    """Draw how many trials each source saved where it was the only one."""
    if not found.sources:
        raise NothingToShowError("No source was tried alone.")
    return Drawing(
        " ".join(verdicts(found)) or "Of no source it is clear whether it helps",
        _sources_figure(found.sources[::-1]),
        caption="Large: on average over the cases, small: in each. Right of the line a source "
        "saved trials, left of it it cost some. Whether it helps or misleads is said where it is "
        "beyond luck.",
    )


def _standalone(drawing: Drawing) -> "go.Figure":
    from hetbo.plot._figure import standalone  # noqa: PLC0415  # loads Plotly

    return standalone(drawing)


def _cases_figure(cases: tuple[Case, ...]) -> Figure:
    rows = range(len(cases))
    bars = [(row, *_middle_runs(case.vanilla)) for row, case in zip(rows, cases, strict=True)]
    steps = [(row, c.needed_without, c.needed) for row, c in zip(rows, cases, strict=True)]
    quicker = [(row, case) for row, case in zip(rows, cases, strict=True) if case.saved >= 0]
    slower = [(row, case) for row, case in zip(rows, cases, strict=True) if case.saved < 0]
    traces = [
        trace("lines", *_level(bars), line={"color": SLATE, "width": 8}, opacity=0.25),
        trace("lines", *_level(steps), line={"color": SLATE, "width": 1.5}),
        _dots(
            "without old runs",
            SLATE,
            [(r, c.needed_without, _case_text(c)) for r, c in zip(rows, cases, strict=True)],
        ),
    ]
    for name, colour, chosen in (
        ("with them", TEAL, quicker),
        ("with them, slower", RUST, slower),
    ):
        if chosen:
            dots = [(row, case.needed, _case_text(case)) for row, case in chosen]
            traces.append(_dots(name, colour, dots))
    most = max(max(*case.vanilla, *case.transfer) for case in cases)
    across = axis(name="trials needed", range=[0, most + 1])
    return _figure(traces, [case.name for case in cases], across)


def _sources_figure(sources: tuple[SourceEffect, ...]) -> Figure:
    small = [
        (row, saved, f"{_short(one.name)} for {_short(target)}: {_saved(saved)}")
        for row, one in enumerate(sources)
        for target, saved in one.saved.items()
    ]
    ends = [-0.6, len(sources) - 0.4]
    traces = [
        trace("lines", [0, 0], ends, line={"color": SLATE, "width": 1.5}),
        trace(
            "markers",
            [saved for _, saved, _ in small],
            [row for row, _, _ in small],
            text=[text for _, _, text in small],
            marker={"color": SLATE, "size": 5, "opacity": 0.6},
        ),
    ]
    for verdict, (name, colour) in _VERDICTS.items():
        dots = [
            (row, one.mean, f"{_short(one.name)}: {_saved(one.mean)} on average")
            for row, one in enumerate(sources)
            if one.verdict == verdict
        ]
        if dots:
            traces.append(_dots(name, colour, dots))
    across = axis(name="trials saved as the only source")
    return _figure(traces, [one.name for one in sources], across)


def _figure(traces: list[dict[str, Any]], names: list[str], across: dict[str, Any]) -> Figure:
    down = axis(
        tickvals=list(range(len(names))),
        ticktext=[plotly(label(name, 18)) for name in names],
        range=[-0.6, len(names) - 0.4],
        automargin=False,
        showgrid=False,
    )
    return figure(
        traces,
        height=_ROW * len(names) + _REST,
        margin={"l": _LABEL_WIDTH, "r": 16, "t": 8, "b": 44},
        xaxis=across,
        yaxis=down,
    )


def _dots(name: str, colour: str, dots: list[tuple[int, float, str]]) -> dict[str, Any]:
    """Return large dots, each of a row, a place in it and what hovering shows."""
    return trace(
        "markers",
        [place for _, place, _ in dots],
        [row for row, _, _ in dots],
        name=name,
        text=[text for _, _, text in dots],
        marker={"color": colour, "size": 11},
    )


def _level(lines: list[tuple[int, float, float]]) -> tuple[list[Any], list[Any]]:
    """Return level lines, each of a row and two ends, as the points of one trace."""
    x = [end for _, start, stop in lines for end in (start, stop, None)]
    return x, [place for row, _, _ in lines for place in (row, row, None)]


def _middle_runs(needed: tuple[int, ...]) -> tuple[float, float]:
    """Return between what numbers nine of ten runs lie."""
    ordered = sorted(needed)
    out = len(ordered) // 20
    return ordered[out], ordered[-1 - out]


def _case_text(case: Case) -> str:
    low, high = case.saved_in_most_runs
    return (
        f"{_short(case.name)}<br>{number(case.needed_without, 3)} trials without old runs, "
        f"{number(case.needed, 3)} with them<br>{_saved(case.saved)}; in nine of ten runs "
        f"{number(low, 3)} to {number(high, 3)}<br>{counted(case.good, 'setting')} of "
        f"{case.settings} reach {number(case.level)}"
    )


def _short(name: str) -> str:
    return plotly(label(name))


def _saved(trials: float) -> str:
    return f"{'saves' if trials >= 0 else 'costs'} {number(abs(trials), 2)}"
