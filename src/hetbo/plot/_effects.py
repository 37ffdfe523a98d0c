"""Effects: how the prediction changes with each parameter around the best trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetbo.plot._chart import Drawing, Panel, chart
from hetbo.plot._mixture import Band, predicted
from hetbo.plot._run import NothingToShowError, Run
from hetbo.plot._style import (
    MOST_CHOICES,
    ORANGE,
    SMALL_MARGIN,
    TEAL,
    Figure,
    axis,
    band,
    figure,
    scale_axis,
    trace,
)
from hetbo.plot._text import label, listed, number, plotly, quoted, shown_value
from hetbo.spaces import Parameter, Value

_GRID = 61
_MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Effect:
    """How the prediction changes with one parameter, all others as in the best trial.

    Attributes:
        parameter: The parameter's name.
        definition: The parameter in the target's space.
        places: The values that the parameter takes.
        band: The predictions there, without measurement noise.
        at: The value in the best trial.
        seen: Whether a model knows the parameter at all.
    """

    parameter: str
    definition: Parameter
    places: tuple[Value, ...]
    band: Band
    at: Value
    seen: bool

    @property
    def size(self) -> float:
        """By how much the prediction changes along the parameter's range."""
        return max(self.band.middle) - min(self.band.middle)


@chart("Effects")
def effects(run: Run) -> Drawing:
    """Draw the predicted value along each parameter, all others as in the best trial."""
    found = effects_of(run)
    shown, rest = found[:_MOST_PANELS], [effect.parameter for effect in found[_MOST_PANELS:]]
    ends = (min(min(e.band.low) for e in shown), max(max(e.band.high) for e in shown))
    return Drawing(
        effects_sentence(found),
        panels=[
            Panel(label(effect.parameter), _words(effect), _figure(effect, ends, run.value_axis))
            for effect in shown
        ],
        caption="The predicted value (line) and where it lies with 95 % probability (band) if one "
        "parameter moves and all others stay as in the best trial (orange). The models' "
        "predictions are mixed by their weights. All charts have the same scale."
        + (f" Smaller effects, not shown: {listed(rest)}." if rest else ""),
    )


def effects_of(run: Run) -> tuple[Effect, ...]:
    """Return the effect of each parameter of the target, the largest first."""
    if run.best_trial is None:
        raise NothingToShowError(
            "No trial has a value yet, so there is no best one to look around."
        )
    best, encoder = run.best_trial.params, run.engine.encoder
    unseen = set.intersection(*(set(model.unseen) for model in run.fitted.models.values()))
    found = []
    for name, definition in run.space.items():
        places = _places(definition, best[name])
        X = np.nan_to_num(encoder.encode([{**best, name: place} for place in places]))
        band = predicted(run.fitted, X)
        found.append(Effect(name, definition, places, band, best[name], name not in unseen))
    return tuple(sorted(found, key=lambda effect: -effect.size))


def _places(definition: Parameter, at: Value) -> tuple[Value, ...]:
    """Return values along a parameter's range, the best trial's among them."""
    scale = definition.scale
    if scale is None:
        return tuple(definition.values or ())
    space = np.geomspace if scale.log else np.linspace
    grid = np.clip(space(scale.low, scale.high, _GRID), scale.low, scale.high).tolist()
    if definition.values is not None:
        grid = [scale.low, scale.high, *map(round, grid)]
    return tuple(sorted({*grid, scale.check(at)}))


def effects_sentence(found: Sequence[Effect]) -> str:
    """Return which parameter matters most around the best trial."""
    first = found[0]
    if first.size == 0:
        return "No parameter changes the prediction around the best trial"
    if len(found) == 1:
        return f"{quoted(first.parameter)} changes the prediction by {number(first.size, 3)}"
    return (
        f"Around the best trial {quoted(first.parameter)} matters most: it changes the prediction "
        f"by up to {number(first.size, 3)}"
    )


def _words(effect: Effect) -> str:
    if not effect.seen:
        return "no model of this method sees it"
    return f"changes the prediction by {number(effect.size, 3)}"


def _figure(effect: Effect, ends: tuple[float, float], value_axis: str) -> Figure:
    """Return the figure of one effect; all have the same ends, so that they can be compared."""
    low, high = ends
    pad = (high / 2 - low / 2) * 0.1 or 1.0
    x, x_axis, here = _axis(effect)
    b = effect.band
    texts = [
        f"{plotly(shown_value(place))}: {number(middle)}<br>({number(lo)} to {number(hi)})"
        for place, middle, lo, hi in zip(effect.places, b.middle, b.low, b.high, strict=True)
    ]
    if effect.definition.scale is None:
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
        margin=SMALL_MARGIN,
        xaxis=x_axis,
        yaxis=axis(name=value_axis, range=[low - pad, high + pad], nticks=5),
    )


def _axis(effect: Effect) -> tuple[list[Any], dict[str, Any], Any]:
    """Return the places on the axis, the axis, and the place of the best trial."""
    if effect.definition.scale is not None:
        return list(effect.places), scale_axis(effect.definition), effect.at
    count = len(effect.places)
    here = effect.definition.index(effect.at)
    options: dict[str, Any] = {"range": [-0.6, count - 0.4], "tickvals": []}
    if count <= MOST_CHOICES:
        longest = max(26 // count, 4)
        options |= {
            "tickvals": list(range(count)),
            "ticktext": [plotly(label(shown_value(p), longest)) for p in effect.places],
            "tickangle": 0,
        }
    return list(range(count)), axis(showgrid=False, **options), here
