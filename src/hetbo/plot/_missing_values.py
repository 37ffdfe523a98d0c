"""Missing values: what parameters seem to have been where an experiment did not tune them."""

from collections.abc import Sequence

from hetbo.models import LearnedChoice, LearnedNumber, LearnedValue
from hetbo.plot._chart import Drawing, Panel, chart
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
    hidden_axis,
    scale_axis,
    trace,
)
from hetbo.plot._text import counted, label, listed, number, plotly, quoted, shown_value
from hetbo.spaces import Parameter

_MOST_PANELS = 12
_DENSITY_STEP = 10


@chart("Missing values")
def missing_values(run: Run) -> Drawing:
    """Draw how likely each value of a parameter is that an experiment did not tune."""
    found = learned_of(run)
    ranked = sorted(found, key=lambda value: not value.known)
    rest = ranked[_MOST_PANELS:]
    space = run.engine.joint.space
    return Drawing(
        learned_sentence(found),
        panels=[
            Panel(_name(value), _words(value), _figure(value, space[value.parameter]))
            for value in ranked[:_MOST_PANELS]
        ],
        caption="Values that parameters seem to have had where an experiment did not tune them. "
        "The curve says how likely each value is, the orange line is the 95 % interval, the dot "
        "the most likely value; bars are probabilities."
        + (f" Not shown: {_several(rest)}." if rest else ""),
    )


def learned_of(run: Run) -> tuple[LearnedValue, ...]:
    """Return what was learned about parameters that experiments did not tune."""
    if not any(model.learns_values for model in run.transfer.models.values()):
        raise NothingToShowError(
            f"The method '{run.optimizer.method}' does not learn the values of parameters."
        )
    if not run.explanation.learned:
        raise NothingToShowError(
            "No value is missing: every experiment that is used has all parameters."
        )
    return run.explanation.learned


def learned_sentence(values: Sequence[LearnedValue]) -> str:
    """Return how many missing values could be narrowed down."""
    known, count = sum(value.known for value in values), len(values)
    if count == 1:
        able = "could be narrowed down" if known else "cannot be narrowed down yet"
        return f"The missing value {able}"
    if known == 0:
        return f"None of the {count} missing values can be narrowed down yet"
    some = f"All {count}" if known == count else f"{known} of {count}"
    return f"{some} missing values could be narrowed down"


def _name(value: LearnedValue) -> str:
    return f"{shown_value(value.parameter)} of {quoted(value.experiment)}"


def _several(values: Sequence[LearnedValue]) -> str:
    if len(values) <= _MOST_PANELS:
        return listed(map(_name, values))
    experiments = len({value.experiment for value in values})
    return f"{len(values)} values of {counted(experiments, 'experiment')}"


def _words(value: LearnedValue) -> str:
    """Return a learned value and how well it is known."""
    if not isinstance(value, LearnedNumber):
        perhaps = "" if value.known else "perhaps "
        return f"{perhaps}{shown_value(value.estimate)}, {value.probability:.0%} sure"
    if not value.known:
        return f"perhaps {number(value.estimate, 3)}, but no value of its range is ruled out"
    return (
        f"about {number(value.estimate, 3)}, between {number(value.low, 3)} "
        f"and {number(value.high, 3)}"
    )


def _figure(value: LearnedValue, definition: Parameter) -> Figure:
    if isinstance(value, LearnedNumber):
        return _number_figure(value, definition)
    return _choice_figure(value)


def _number_figure(value: LearnedNumber, definition: Parameter) -> Figure:
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
        margin={**SMALL_MARGIN, "l": 12},
        xaxis=scale_axis(definition),
        yaxis=hidden_axis(range=[-0.25 * top, max(1.1 * top, 1.5)]),
    )


def _choice_figure(value: LearnedChoice) -> Figure:
    ranked = sorted(value.probabilities, key=lambda pair: -pair[1])[:MOST_CHOICES]
    rows = list(range(len(ranked)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [probability for _, probability in ranked],
        "y": rows,
        "width": 0.6,
        "showlegend": False,
        "hoverinfo": "text",
        "hovertext": [f"{plotly(shown_value(c))}: {p:.1%}" for c, p in ranked],
        "marker": {"color": TEAL, "opacity": 0.75},
    }
    return figure(
        [bars],
        height=max(130, 34 + 22 * len(rows)),
        margin={**SMALL_MARGIN, "l": 12, "r": 24},
        xaxis=axis(range=[0, 1], tickvals=[0, 0.5, 1], tickformat=".0%"),
        yaxis=axis(
            tickvals=rows,
            ticktext=[plotly(label(shown_value(choice), 14)) for choice, _ in ranked],
            range=[len(rows) - 0.4, -0.6],
            showgrid=False,
        ),
    )
