"""The paper's two figures, and one for all other problems, made from runs."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hetbo.errors import HetboError
from hetbo_bench.analysis.curve_styles import (
    COLOURS,
    PUBLISHED_DASHES,
    CurveStyle,
    base_method,
    curve_styles,
    plain_name,
)
from hetbo_bench.analysis.estimates import FloatArray, standard_errors
from hetbo_bench.analysis.grouping import (
    FIRST_CHOSEN,
    MethodRuns,
    ProblemRuns,
    in_order,
    runs_by_problem,
)
from hetbo_bench.paper.published import published_curves
from hetbo_bench.running.runs import Run

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PAPER_FIGURES: Mapping[str, tuple[str, ...]] = {
    "paper_problems": ("hartmann_30", "ranger_30", "rpart_30"),
    "paper_source_trials": ("ranger_10", "ranger_30", "ranger_50"),
}
"""The paper's figures of results: the names of the files and the problems side by side."""

OTHER_FIGURE = "other_problems"
"""The name of the files that show all other problems."""

_COLUMNS = 3
_PANEL_WIDTH, _PANEL_HEIGHT, _LEGEND_ROW = 4.0, 3.2, 0.25
_LEGEND_COLUMNS = 4
_LETTER, _LEGEND_HANDLE = 0.078, 0.55  # the widths of a legend's parts, on the large side
_FROM = FIRST_CHOSEN - 1  # the first evaluation that panels show: where all methods are equal
_HIDDEN = 0.05  # the share of points that may fall off an axis
_MARGIN = 0.06  # the space above and below, as a share of an axis
_RESOLUTION = 150  # in dots per inch; the sizes above are in inches


class MissingMatplotlibError(HetboError, ImportError):
    """A figure was asked for, which needs Matplotlib, and that is not installed."""


def write_figures(
    runs: Iterable[Run],
    folder: "str | os.PathLike[str]",
    *,
    methods: Collection[str] | None = None,
    problems: Collection[str] | None = None,
) -> list[Path]:
    """Write figures of runs into a folder, as PDF and PNG.

    The paper's figures are written if at least one of their problems was run, and one figure of
    all other problems if there are any. The same runs give the same files, byte by byte.

    Args:
        runs: The runs, in any order.
        folder: Where to write; it is made if it does not exist.
        methods: Which methods to show; all if None.
        problems: Which problems to show, by name or by how their names begin; all if None.

    Returns:
        The files.

    Raises:
        DataError: There are no runs, none of a method, or runs that do not belong together.
        MissingMatplotlibError: Matplotlib is not installed.
    """
    _require_matplotlib()
    grouped = runs_by_problem(runs, methods=methods, problems=problems)
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    written = []
    for name, side_by_side in _figures(grouped).items():
        figure = problems_figure(grouped, side_by_side)
        for ending, dated in (("pdf", "CreationDate"), ("png", "Software")):
            path = where / f"{name}.{ending}"
            figure.savefig(path, dpi=_RESOLUTION, metadata={dated: None})
            written.append(path)
    return written


def _figures(grouped: Mapping[str, ProblemRuns]) -> dict[str, tuple[str, ...]]:
    """Return which figures there are, and the problems that they show."""
    figures = {
        name: problems
        for name, problems in PAPER_FIGURES.items()
        if any(problem in grouped for problem in problems)
    }
    shown = {problem for problems in PAPER_FIGURES.values() for problem in problems}
    others = tuple(problem for problem in grouped if problem not in shown)
    return figures | ({OTHER_FIGURE: others} if others else {})


def problems_figure(grouped: Mapping[str, ProblemRuns], problems: Sequence[str]) -> "Figure":
    """Return a figure with a panel per problem, and one legend.

    A panel shows each method's mean with a band of two standard errors, and the published means
    dashed, in the same colours.

    Args:
        grouped: The runs by problem. A problem without runs shows what is published.
        problems: Which problems to show.

    Raises:
        MissingMatplotlibError: Matplotlib is not installed.
    """
    _require_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415  # an extra

    styles = curve_styles({name for runs in grouped.values() for name in runs.methods})
    columns = min(_COLUMNS, len(problems))
    rows = math.ceil(len(problems) / columns)
    handles = _legend(grouped, problems, styles)
    legend_columns = _legend_columns(handles, _PANEL_WIDTH * columns)
    legend_height = _LEGEND_ROW * math.ceil(len(handles) / legend_columns)
    figure = Figure(
        figsize=(_PANEL_WIDTH * columns, _PANEL_HEIGHT * rows + legend_height),
        layout="constrained",
    )
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel, problem in zip(panels.flat, problems, strict=False):
        _draw(panel, problem, grouped.get(problem), styles)
    for panel in panels.flat[len(problems) :]:
        panel.set_axis_off()
    for row in panels:
        row[0].set_ylabel("best value so far")
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=legend_columns,
        frameon=False,
    )
    return figure


def _legend_columns(handles: "Sequence[Line2D]", width: float) -> int:
    """Return into how many columns a legend fits that is so wide."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    fitting = int(width / (_LETTER * longest + _LEGEND_HANDLE))
    return max(1, min(_LEGEND_COLUMNS, len(handles), fitting))


def _draw(
    panel: "Axes", problem: str, runs: ProblemRuns | None, styles: Mapping[str, CurveStyle]
) -> None:
    """Draw a problem's curves."""
    means = []
    for name, style in styles.items():
        if runs is not None and name in runs.methods:
            means.append(_draw_method(panel, runs.methods[name], style))
    for name, mean in _published_means(problem, runs).items():
        panel.plot(
            _evaluations(mean),
            mean[_FROM - 1 :],
            color=COLOURS[name],
            linestyle=PUBLISHED_DASHES,
            linewidth=1.1,
            zorder=2.5,
        )
        means.append(mean)
    sign = 1 if runs is None else runs.goal.sign
    panel.set_ylim(*_limits([mean[_FROM - 1 :] for mean in means], sign=sign))
    panel.set_title(problem if sign > 0 else f"{problem}\n(lower is better)")
    panel.set_xlabel("evaluations")
    panel.set_xlim(_FROM, max(len(mean) for mean in means))
    panel.grid(visible=True, color="#e6e6e6", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.ticklabel_format(axis="y", useOffset=False)


def _draw_method(panel: "Axes", method: MethodRuns, style: CurveStyle) -> FloatArray:
    """Draw a method's mean, with a band of two standard errors if they are known; return it."""
    mean: FloatArray = method.traces.mean(axis=0)
    at, shown = _evaluations(mean), mean[_FROM - 1 :]
    if len(method.traces) > 1:
        error = standard_errors(method.traces[:, _FROM - 1 :])
        panel.fill_between(
            at,
            shown - 2.0 * error,
            shown + 2.0 * error,
            color=style.colour,
            alpha=0.12,
            linewidth=0.0,
            zorder=style.level - 2.0,
        )
    panel.plot(at, shown, zorder=style.level, **_line(style))
    return mean


def _line(style: CurveStyle) -> dict[str, Any]:
    """Return how Matplotlib draws a line in some style."""
    return {
        "color": style.colour,
        "linewidth": style.width,
        "marker": style.marker,
        "markersize": 3.5,
        "markevery": (0, 5),
    }


def _evaluations(trace: FloatArray) -> range:
    return range(_FROM, len(trace) + 1)


def _published_means(problem: str, runs: ProblemRuns | None) -> dict[str, FloatArray]:
    """Return the published means of a problem by method, cut to the length of the runs."""
    name = problem if runs is None else runs.published or runs.problem
    curves = published_curves().get(name, {})
    end = None if runs is None else runs.evaluations
    return {method: np.array(curves[method].mean[:end]) for method in in_order(curves)}


def _limits(means: Sequence[FloatArray], *, sign: int) -> tuple[float, float]:
    """Return the ends of a value axis that show where methods differ.

    The worst few points of all curves fall off the axis: those of the first evaluations, and of
    methods far behind, which would press everything else together.

    Args:
        means: The curves, from the first evaluation that is shown.
        sign: 1 if higher values are better, -1 if lower ones are.
    """
    points = sign * np.concatenate(means)
    worst, best = float(np.quantile(points, _HIDDEN)), float(points.max())
    margin = _MARGIN * (best - worst) or max(abs(best), 1.0) * _MARGIN
    low, high = sorted((sign * (worst - margin), sign * (best + margin)))
    return low, high


def _legend(
    grouped: Mapping[str, ProblemRuns], problems: Sequence[str], styles: Mapping[str, CurveStyle]
) -> "list[Line2D]":
    """Return the legend's entries: the methods that panels show, and what is dashed."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  # an extra

    ours = {m for problem in problems if problem in grouped for m in grouped[problem].methods}
    handles = [
        Line2D([], [], label=style.label, **_line(style))
        for name, style in styles.items()
        if name in ours
    ]
    published = {m for problem in problems for m in _published_means(problem, grouped.get(problem))}
    dashed: dict[str, Any] = {"linestyle": PUBLISHED_DASHES, "linewidth": 1.1}
    alone = published - {base_method(method) for method in ours}
    handles += [
        Line2D([], [], label=f"{plain_name(name)}, published", color=COLOURS[name], **dashed)
        for name in in_order(alone)
    ]
    if published - alone:
        label = "published, in the same colour"
        handles.append(Line2D([], [], label=label, color="#4d4d4d", **dashed))
    return handles


def _require_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise MissingMatplotlibError(
            "figures need Matplotlib, which is not installed; get it with: pip install matplotlib"
        )
