"""Charts of a run as Plotly figures, as in `hetbo.plot.progress(optimizer)`."""

from hetbo.plot._backtest import backtest_cases, backtest_sources
from hetbo.plot._chart import Chart, Drawing, Panel, chart
from hetbo.plot._correlations import correlations
from hetbo.plot._effects import effects
from hetbo.plot._missing_values import missing_values
from hetbo.plot._parallel_coordinates import parallel_coordinates
from hetbo.plot._predictions import predictions
from hetbo.plot._progress import progress
from hetbo.plot._run import NothingToShowError, Run
from hetbo.plot._trust import trust

__all__ = [
    "Chart",
    "Drawing",
    "NothingToShowError",
    "Panel",
    "Run",
    "backtest_cases",
    "backtest_sources",
    "chart",
    "correlations",
    "effects",
    "missing_values",
    "parallel_coordinates",
    "predictions",
    "progress",
    "trust",
]
