"""Trust in the sources: how far each was followed as trials came in."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.errors import FitError
from hetbo.methods import MOST_SOURCES, WarmStarts, trust_in_sources, verdict
from hetbo.optimizer import Optimizer
from hetbo.plot._chart import Drawing, chart
from hetbo.plot._progress import counting
from hetbo.plot._run import Run
from hetbo.plot._style import (
    SERIES,
    SLATE,
    SLATE_BAND,
    Figure,
    axis,
    band,
    figure,
    trace,
)
from hetbo.plot._text import counted, label, plotly, quoted

_logger = logging.getLogger(__name__)

_MOST_STEPS, _FEWEST_STEPS = 41, 4
_QUICK_ROWS = 200
"""Up to so many trials in all, a step takes about a second; beyond, fewer steps are made."""
_EARLIER = 1.5
_NAMED_SOURCES = 2


@dataclass(frozen=True, slots=True)
class TrustHistory:
    """How far each source was trusted as trials came in.

    Attributes:
        steps: After how many trials; the last step is today's.
        trust: The trust in each source at each step, by name, the most trusted source first.
    """

    steps: tuple[int, ...]
    trust: Mapping[str, tuple[float, ...]]


@chart("Trust in the sources")
def trust(run: Run) -> Drawing:
    """Draw the trust in each source after the first trials, the models fitted anew."""
    history = trust_history(run)
    return Drawing(
        trust_sentence(history),
        trust_figure(history),
        caption="Trust runs from 0 to 1: the weight of the models that use sources, times the "
        "correlation of source and target, times the share of the source's values that is not "
        "noise. From 0.7 on a source is followed closely, from 0.3 on with caution. The models "
        "were fitted again to the first trials alone: this is what they make of them now, not a "
        "record of the run.",
    )


def trust_history(run: Run) -> TrustHistory:
    """Return how far each source was trusted as trials came in."""
    _ = run.transfer
    today = run.explanation.sources
    rows = sum(len(source.complete) for source in run.engine.joint.sources) + len(run.trials)
    *before, last = chosen_steps(len(run.trials), rows)
    steps = dict(trust_steps(run.optimizer, run.each(before)))
    # The last step is what `explain` says today, so that the chart ends where the text does.
    steps[last] = today
    ranked = sorted(today, key=lambda name: -today[name])
    return TrustHistory(
        tuple(steps), {name: tuple(trust[name] for trust in steps.values()) for name in ranked}
    )


def chosen_steps(count: int, rows: int) -> list[int]:
    """Return after how many trials to look: after each, or after some, early ones rather.

    Args:
        count: How many trials there are.
        rows: How many trials there are with those of the sources.
    """
    affordable = int(_MOST_STEPS * min(1.0, (_QUICK_ROWS / max(rows, 1)) ** 2))
    most = min(max(affordable, _FEWEST_STEPS), count + 1)
    if most == count + 1:
        return list(range(most))
    # Trust and progress change most in the beginning, where a fit is cheap as well.
    places = count * np.linspace(0, 1, most) ** _EARLIER
    return sorted({round(place) for place in places.tolist()})


def trust_steps(
    optimizer: Optimizer, steps: Iterable[int]
) -> Iterator[tuple[int, Mapping[str, float]]]:
    """Yield each step and the trust in the sources after so many trials, the models fitted anew.

    Args:
        optimizer: The optimizer; it stays as it is.
        steps: After how many trials to look.
    """
    engine = optimizer.engine
    warm_starts: WarmStarts = {}
    for step in steps:
        known = optimizer.trials[:step]
        try:
            if engine.uses_models(known):
                rng = np.random.default_rng([*optimizer.seeds, step])
                fitted = engine.fit(known, rng, warm_starts=warm_starts)
                warm_starts = fitted.warm_starts
                yield step, trust_in_sources(engine, fitted)
        except FitError as error:
            _logger.warning("the report leaves out the step after %d trials: %s", step, error)


def trust_sentence(history: TrustHistory) -> str:
    """Return which source is trusted most, and since when."""
    parts = []
    for name, values in list(history.trust.items())[:_NAMED_SOURCES]:
        since = _since(history.steps, list(map(verdict, values)))
        when = f" from {counted(since, 'trial')} on" if since else " throughout"
        when = when if len(history.steps) > 1 else ""
        parts.append(f"{quoted(name)} {verdict(values[-1])}{when}")
    others = len(history.trust) - len(parts)
    parts += [f"{counted(others, 'other is', 'others are')} trusted no more than that"][:others]
    return "; ".join(parts)


def _since(steps: Sequence[int], verdicts: Sequence[str]) -> int:
    """Return from how many trials on the verdict has been today's; 0 if it never differed."""
    differed = [position for position, one in enumerate(verdicts) if one != verdicts[-1]]
    return steps[differed[-1] + 1] if differed else 0


def trust_figure(history: TrustHistory) -> Figure:
    """Return the most trusted sources as lines, all others as a band."""
    steps, sources = list(history.steps), list(history.trust.items())
    traces = [
        trace(
            "lines+markers",
            steps,
            list(values),
            name=f"{plotly(label(name))}: {values[-1]:.2f}",
            text=[
                f"{plotly(label(name))}<br>after {counted(step, 'trial')}: {value:.2f}"
                for step, value in zip(steps, values, strict=True)
            ],
            line={"color": colour, "width": 2.5},
            marker={"color": colour, "size": 6 if len(steps) > 1 else 10},
        )
        for colour, (name, values) in zip(SERIES, sources[:MOST_SOURCES], strict=False)
    ]
    if others := [values for _, values in sources[MOST_SOURCES:] if values[-1] > 0]:
        low = [min(values) for values in zip(*others, strict=True)]
        high = [max(values) for values in zip(*others, strict=True)]
        name = f"{counted(len(others), 'other')}: {_range(low[-1], high[-1])}"
        line = {"color": SLATE, "width": 0 if len(steps) > 1 else 1}
        traces.append(band(steps, low, high, name=name, fillcolor=SLATE_BAND, line=line))
    return figure(
        traces,
        height=300,
        xaxis=axis(name="trials known", **counting(steps[-1])),
        yaxis=axis(name="trust", range=[-0.03, 1.03], tickvals=[0, 0.3, 0.7, 1]),
    )


def _range(low: float, high: float) -> str:
    ends = f"{low:.2f}", f"{high:.2f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
