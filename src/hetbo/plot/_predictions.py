"""Predictions: each trial predicted from all others."""

from dataclasses import dataclass

from hetbo.plot._chart import Drawing, chart
from hetbo.plot._mixture import Band, predicted_from_others
from hetbo.plot._run import NothingToShowError, Run
from hetbo.plot._style import ORANGE, SLATE, TEAL, Figure, axis, figure, trace
from hetbo.plot._text import number

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class PredictedTrials:
    """The target's complete trials, each predicted from all others.

    Attributes:
        trials: The numbers of the trials.
        observed: Their values.
        band: The predictions, measurement noise included.
    """

    trials: tuple[int, ...]
    observed: tuple[float, ...]
    band: Band

    @property
    def fits(self) -> tuple[bool, ...]:
        """Whether each value lies within its band."""
        ends = zip(self.band.low, self.observed, self.band.high, strict=True)
        return tuple(low <= value <= high for low, value, high in ends)


@chart("Predictions")
def predictions(run: Run) -> Drawing:
    """Draw each trial's value against its prediction from all others."""
    found = predicted_trials(run)
    inside, count = sum(found.fits), len(found.trials)
    some = f"All {count}" if inside == count else f"{inside} of {count}"
    return Drawing(
        f"{some} values lie within their 95 % band",
        _figure(found),
        caption="Leave-one-out: each trial is predicted from all others; the bar holds the "
        "measured value with 95 % probability. The nearer to the dotted line, the better. The "
        "models' hyperparameters are fitted to all trials, so new trials are predicted slightly "
        "worse.",
    )


def predicted_trials(run: Run) -> PredictedTrials:
    """Return the leave-one-out predictions of the target's trials."""
    fitted = run.fitted
    values = {n: trial.value for n, trial in enumerate(run.trials) if trial.value is not None}
    if len(values) < _FEWEST:
        raise NothingToShowError(
            f"With fewer than {_FEWEST} values there is nothing to predict one from."
        )
    return PredictedTrials(tuple(values), tuple(values.values()), predicted_from_others(fitted))


def _figure(found: PredictedTrials) -> Figure:
    low, middle, high = found.band.low, found.band.middle, found.band.high
    ends = [min(*low, *found.observed), max(*high, *found.observed)]
    traces = [trace("lines", ends, ends, line={"color": SLATE, "width": 1, "dash": "dot"})]
    for fits, colour in ((True, TEAL), (False, ORANGE)):
        chosen = [i for i, one in enumerate(found.fits) if one is fits]
        if not chosen:
            continue
        traces.append(
            trace(
                "markers",
                [found.observed[i] for i in chosen],
                [middle[i] for i in chosen],
                name="value within its band" if fits else "outside",
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
    return figure(
        traces,
        height=380,
        xaxis=axis(name="measured value"),
        yaxis=axis(name="predicted from all other trials"),
    )
