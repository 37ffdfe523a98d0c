"""Correlations of the target and its sources, as far as the trials tell."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from hetbo.experiments import TrialState
from hetbo.methods import MOST_SOURCES, correlation_of, transferring
from hetbo.models import Correlation
from hetbo.plot._chart import Drawing, chart
from hetbo.plot._run import NothingToShowError, Run
from hetbo.plot._style import RUST, SLATE, TEAL, Figure, axis, figure, trace
from hetbo.plot._text import counted, label, plotly, quoted

_READABLE = 7
_POSITIVE, _NEGATIVE, _UNKNOWN = "positive", "negative", "not known yet"
_COLOURS = {_POSITIVE: TEAL, _NEGATIVE: RUST, _UNKNOWN: SLATE}


@dataclass(frozen=True, slots=True)
class Correlations:
    """The correlations of the target and the sources that are closest to it.

    Attributes:
        names: The names of the `m` experiments, the target's first.
        matrix: Shape `m × m`.
        others: How many sources with smaller correlations are left out.
    """

    names: tuple[str, ...]
    matrix: tuple[tuple[Correlation, ...], ...]
    others: int = 0


@chart("Correlations")
def correlations(run: Run) -> Drawing:
    """Draw the matrix of correlations: the larger a circle, the closer two experiments."""
    found = correlations_of(run)
    more = (
        found.others and f" {counted(found.others, 'source')} with smaller correlations left out."
    )
    return Drawing(
        correlation_sentence(found),
        _figure(found),
        caption="The models' correlations of experiments, from -1 to +1: a large circle means that "
        "good parameters of one tell much about the other, even if their values are on different "
        "scales. Where the trials rule out neither agreement nor contradiction, the correlation "
        f"is not known yet; hovering shows its 95 % interval.{more or ''}",
    )


def correlations_of(run: Run) -> Correlations:
    """Return the correlations of the target and its closest sources, over all models."""
    models = transferring(run.engine, run.transfer)
    if not run.count(TrialState.COMPLETE):
        raise NothingToShowError("No trial has a value yet, so correlations are not known.")
    to_target = run.explanation.correlations
    closest = sorted(to_target, key=lambda name: _rank(to_target[name]))[:MOST_SOURCES]
    members = run.engine.joint.members
    kept = [i for i, member in enumerate(members) if i == 0 or member.name in closest]
    pairs = {(i, i): Correlation(1.0, 1.0, 1.0) for i in kept}
    for i, j in combinations(kept, 2):
        known = to_target[members[j].name] if i == 0 else correlation_of(models, i, j)
        pairs[i, j] = pairs[j, i] = known
    return Correlations(
        tuple(members[i].name for i in kept),
        tuple(tuple(pairs[i, j] for j in kept) for i in kept),
        len(to_target) - len(closest),
    )


def _rank(found: Correlation) -> tuple[bool, float]:
    return not found.known, -abs(found.estimate)


def correlation_sentence(found: Correlations) -> str:
    """Return which source the target correlates with most, if the trials tell."""
    name, most = min(
        zip(found.names[1:], found.matrix[0][1:], strict=True), key=lambda pair: _rank(pair[1])
    )
    if not most.known:
        return "How the target correlates with the sources is not known yet"
    if most.low <= 0 <= most.high:
        return f"Whether the target correlates with {quoted(name)} is open ({most})"
    way = "positively" if most.low > 0 else "negatively"
    several = len(found.names) - 1 + found.others > 1
    more = ", more than with any other source" if several else ""
    return f"The target is {way} correlated with {quoted(name)} ({most}){more}"


def _figure(found: Correlations) -> Figure:
    size = len(found.names)
    kinds = {
        (row, column): _kind(one)
        for row, line in enumerate(found.matrix)
        for column, one in enumerate(line)
    }
    rows = [f"{plotly(label(name, 16))}  {n}" for n, name in enumerate(found.names, 1)]
    ends = [-0.6, size - 0.4]
    largest = min(52.0, 250 / size)
    return figure(
        [
            _circles(found, [place for place in kinds if kinds[place] == kind], kind, largest)
            for kind in _COLOURS
            if kind in kinds.values()
        ],
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


def _circles(
    found: Correlations, places: list[tuple[int, int]], kind: str, largest: float
) -> dict[str, Any]:
    names = [plotly(label(name)) for name in found.names]
    pairs = [found.matrix[row][column] for row, column in places]
    readable = len(names) <= _READABLE
    texts = ["?" if kind == _UNKNOWN else f"{one.estimate:+.2f}" for one in pairs]
    return trace(
        "markers+text" if readable else "markers",
        [column for _, column in places],
        [row for row, _ in places],
        name=kind,
        text=texts if readable else [""] * len(texts),
        hovertext=[
            f"{names[row]}<br>{names[column]}<br>correlation {one}"
            for (row, column), one in zip(places, pairs, strict=True)
        ],
        textfont={"size": 12},
        marker={
            "color": _COLOURS[kind],
            "opacity": [0.25 if row == column else 0.5 for row, column in places],
            "size": [
                3 if kind == _UNKNOWN else max(largest * math.sqrt(abs(one.estimate)), 3)
                for one in pairs
            ],
            "line": {"width": 0},
        },
    )


def _kind(found: Correlation) -> str:
    if not found.known:
        return _UNKNOWN
    return _POSITIVE if found.estimate >= 0 else _NEGATIVE
