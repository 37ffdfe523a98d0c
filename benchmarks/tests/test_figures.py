"""Figures made from runs."""

import struct
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from hetbo.errors import DataError, HetboError
from hetbo_bench.analysis.curve_styles import COLOURS, SPARE_COLOURS, curve_styles, plain_name
from hetbo_bench.analysis.grouping import runs_by_problem
from hetbo_bench.paper.published import published_curves
from hetbo_bench.running.runs import Run
from made_runs import PUBLISHED_METHODS, drawn_traces, made_run, made_runs, without_published

pytest.importorskip("matplotlib")

from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.image import imread

from hetbo_bench.analysis.figures import MissingMatplotlibError, problems_figure, write_figures

HARTMANN = [
    *made_runs("auto", drawn_traces(0, 5), problem="hartmann_30", published="hartmann_30"),
    *made_runs("vanilla-paper", drawn_traces(1, 5), problem="hartmann_30", published="hartmann_30"),
]
OTHER = [
    *made_runs("auto", drawn_traces(2, 5), problem="fcnet_30", goal="minimize"),
    *made_runs("optuna-tpe", drawn_traces(3, 5), problem="fcnet_30", goal="minimize"),
]


def figure_of(runs: list[Run], *problems: str) -> Figure:
    """Return a figure of some problems."""
    return problems_figure(runs_by_problem(runs), problems)


def labels(figure: Figure) -> list[str]:
    """Return what the legend says."""
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_files_are_written_without_the_published_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_published(tmp_path, monkeypatch)
    paths = write_figures([*HARTMANN, *OTHER], tmp_path / "new" / "folder")
    names = [path.name for path in paths]
    assert names == [
        "paper_problems.pdf",
        "paper_problems.png",
        "other_problems.pdf",
        "other_problems.png",
    ]
    assert all(path.read_bytes().startswith(b"%PDF") for path in paths[::2])
    for path in paths[1::2]:
        width, height = struct.unpack(">II", path.read_bytes()[16:24])
        assert width >= 600
        assert height >= 450
        pixels = imread(path)
        assert (pixels[..., :3].min(axis=-1) < 0.9).mean() > 0.01, "the figure is blank"


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    first = write_figures(OTHER, tmp_path / "a")
    again = write_figures(OTHER[::-1], tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_the_papers_figures_have_its_problems_side_by_side(tmp_path: Path) -> None:
    ranger = [
        made_run(run.trace, problem="ranger_30", method=run.method, replication=run.replication)
        for run in HARTMANN
    ]
    names = {path.stem for path in write_figures(ranger, tmp_path)}
    assert names == {"paper_problems", "paper_source_trials"}
    figure = figure_of([*HARTMANN, *ranger], "hartmann_30", "ranger_30", "rpart_30")
    assert [axes.get_title() for axes in figure.axes] == ["hartmann_30", "ranger_30", "rpart_30"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"evaluations"}
    assert figure.axes[0].get_ylabel() == "best value so far"


def test_a_curve_is_the_mean_and_its_band_two_standard_errors() -> None:
    axes = figure_of(OTHER, "fcnet_30").axes[0]
    traces = -np.array(drawn_traces(2, 5))
    line = next(line for line in axes.lines if line.get_color() == COLOURS["auto"])
    assert np.asarray(line.get_xdata()).tolist() == list(range(5, 41))
    assert np.asarray(line.get_ydata()) == pytest.approx(traces.mean(axis=0)[4:])
    band = next(
        b for b in axes.collections if tuple(np.asarray(b.get_facecolor())[0, :3]) == (0, 0, 0)
    )
    outline = np.asarray(band.get_paths()[0].vertices)
    ends = outline[outline[:, 0] == 40, 1]
    error = traces[:, -1].std(ddof=1) / np.sqrt(5)
    assert ends.max() - ends.min() == pytest.approx(4 * error)


def test_published_curves_are_dashed_in_the_same_colour() -> None:
    figure = figure_of(HARTMANN, "hartmann_30")
    dashed = [line for line in figure.axes[0].lines if line.is_dashed()]
    assert len(dashed) == len(PUBLISHED_METHODS)
    vanilla = next(line for line in dashed if line.get_color() == COLOURS["vanilla"])
    expected = published_curves()["hartmann_30"]["vanilla"].mean[4:]
    assert np.asarray(vanilla.get_ydata()) == pytest.approx(expected)
    ours = [line.get_color() for line in figure.axes[0].lines if not line.is_dashed()]
    assert ours == [COLOURS["auto"], COLOURS["vanilla"]]


def test_the_legend_names_every_method() -> None:
    found = labels(figure_of([*HARTMANN, *OTHER], "hartmann_30"))
    assert found == [
        "auto",
        "vanilla, paper's settings",
        *(f"{m.replace('-', ' ')}, published" for m in PUBLISHED_METHODS if m != "vanilla"),
        "published, in the same colour",
    ]
    assert labels(figure_of(OTHER, "fcnet_30")) == ["auto", "optuna tpe"]


@pytest.mark.parametrize("problems", [("hartmann_30",), ("hartmann_30", "ranger_30", "rpart_30")])
def test_the_legend_fits_into_the_figure(problems: tuple[str, ...]) -> None:
    names = [*PUBLISHED_METHODS, "conditional-presence", "learned-imputation-slips"]
    runs = [
        run
        for name in names
        for run in made_runs(f"{name}-paper", drawn_traces(0, 2), problem="hartmann_30")
    ]
    figure = figure_of(runs, *problems)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    extent = legend.get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.width


def test_goals_are_told_where_lower_is_better() -> None:
    assert figure_of(HARTMANN, "hartmann_30").axes[0].get_title() == "hartmann_30"
    assert "lower is better" in figure_of(OTHER, "fcnet_30").axes[0].get_title()


def test_a_method_looks_the_same_in_every_figure() -> None:
    few, many = curve_styles({"auto", "vanilla"}), curve_styles({*PUBLISHED_METHODS, "auto", "ax"})
    assert few["vanilla"] == many["vanilla"]
    assert few["auto"].width > max(s.width for m, s in many.items() if m != "auto")
    paper = curve_styles({"vanilla", "vanilla-paper"})
    assert paper["vanilla"].colour == paper["vanilla-paper"].colour
    assert paper["vanilla"].marker != paper["vanilla-paper"].marker
    assert plain_name("learned-imputation-paper") == "learned imputation, paper's settings"
    assert len({*COLOURS.values(), *SPARE_COLOURS}) == len(COLOURS) + len(SPARE_COLOURS)


def test_unknown_methods_get_colours_of_their_own() -> None:
    styles = curve_styles({"b", "a", "vanilla"})
    assert [styles["a"].colour, styles["b"].colour] == list(SPARE_COLOURS[:2])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_axes_show_where_methods_differ(sign: float) -> None:
    # Poor at first, then within 0.01 of the optimum, as on the paper's tables.
    trace = [sign * value for value in [0.1, 0.2, 0.3, 0.4, 0.5, *np.linspace(0.72, 0.73, 35)]]
    goal = "maximize" if sign > 0 else "minimize"
    runs = [made_run(trace, goal=goal, optimum=sign * 0.73, replication=r) for r in range(2)]
    low, high = figure_of(runs, "made").axes[0].get_ylim()
    assert low < sign * 0.73 < high
    assert low < sign * 0.725 < high
    assert high - low < 0.03


def test_only_the_methods_asked_for_are_drawn_even_one_flat_run(tmp_path: Path) -> None:
    runs = [made_run([1.0] * 40), made_run([2.0] * 40, problem="other", method="ax")]
    assert len(write_figures(runs, tmp_path, methods=["vanilla"])) == 2


def test_short_runs_are_drawn_with_as_much_of_the_published_curves() -> None:
    short = [
        made_run(run.trace[:12], problem="hartmann_30", replication=run.replication)
        for run in HARTMANN[:5]
    ]
    assert figure_of(short, "hartmann_30").axes[0].get_xlim() == (5, 12)


def test_nothing_global_is_used_or_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    before = rcParams.copy()
    figure_of(OTHER, "fcnet_30").savefig(BytesIO())
    assert rcParams.copy() == before


def test_no_runs_are_refused(tmp_path: Path) -> None:
    with refused(DataError, "no runs"):
        write_figures([], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_error_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refused(MissingMatplotlibError, "pip install matplotlib"):
        write_figures(OTHER, tmp_path)
    assert issubclass(MissingMatplotlibError, HetboError)
