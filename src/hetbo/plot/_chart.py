"""What a chart is: a function from a run to a drawing. A new chart is one new file.

    @chart("Noise")
    def noise(run: Run) -> Drawing:
        known = [trial.noise for trial in run.trials if trial.noise is not None]
        if not known:
            raise NothingToShowError("No trial has a known noise.")
        return Drawing(f"The noise is at most {max(known):.3g}", go.Figure(go.Histogram(x=known)))

`noise(optimizer)` is a Plotly figure, and `write_report(..., charts=[noise])` shows it on the page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hetbo.errors import HetboError
from hetbo.optimizer import Optimizer
from hetbo.plot._run import NothingToShowError, Run

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from hetbo.plot._style import Figure


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several small figures side by side.

    Attributes:
        name: What it is about.
        sentence: What to see in it.
        figure: A Plotly figure, or one as plain data.
    """

    name: str
    sentence: str
    figure: "Figure | go.Figure"


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a chart shows of a run.

    Names of traces make the legend. User-given text in a figure must be escaped: Plotly reads tags.

    Attributes:
        sentence: What to see in it; or why there is no figure.
        figure: A Plotly figure, or one as plain data; its title is left to the sentence.
        caption: How to read it.
        panels: Small figures, in place of one large.
    """

    sentence: str
    figure: "Figure | go.Figure | None" = None
    caption: str = ""
    panels: Sequence[Panel] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: called with an optimizer, it is a Plotly figure.

    Attributes:
        name: What it is about, in a word or two.
        draw: From a run to what is shown of it. It raises `NothingToShowError` with the reason if
            there is nothing.
    """

    name: str
    draw: Callable[[Run], Drawing]

    def __call__(self, run: Optimizer | Run) -> "go.Figure":
        """Return the chart as a Plotly figure; an empty one whose title says why if need be.

        Args:
            run: The optimizer, which stays as it is; or a `Run` of it, whose models are fitted
                once for several figures.
        """
        from hetbo.plot._figure import standalone  # noqa: PLC0415  # loads Plotly

        return standalone(self.drawing(run if isinstance(run, Run) else Run(run)))

    def drawing(self, run: Run) -> Drawing:
        """Return what the chart shows; where there is nothing, the sentence says why."""
        try:
            with run.engine.one_thread(run.trials):
                return self.draw(run)
        except NothingToShowError as nothing:
            return Drawing(str(nothing))


def chart(name: str) -> Callable[[Callable[[Run], Drawing]], Chart]:
    """Make a chart of a function from a run to a drawing.

    Args:
        name: What it is about, in a word or two.
    """
    if not isinstance(name, str) or not name.strip():
        raise HetboError(f'a chart needs a name: @chart("Noise"), not @chart({name!r})')

    def made(draw: Callable[[Run], Drawing]) -> Chart:
        return Chart(name, draw)

    return made
