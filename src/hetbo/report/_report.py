"""From an optimizer to an HTML file."""

import os
from collections.abc import Sequence

from hetbo._files import check_replaceable, is_page, write_text_atomically
from hetbo.errors import HetboError, shown
from hetbo.optimizer import Optimizer
from hetbo.plot import Chart, Run
from hetbo.plot._run import Progress
from hetbo.report._page import CHARTS, page

_TITLE = "What was tried, and what was learned"


def write_report(
    optimizer: Optimizer,
    path: str | os.PathLike[str],
    *,
    title: str = _TITLE,
    value: str = "value",
    charts: Sequence[Chart] = (),
    progress: Progress | None = None,
) -> None:
    """Write a report about an optimizer to one HTML file that works offline.

    Args:
        optimizer: The optimizer. It stays as it is.
        path: The file to write, at once or not at all; its folder must exist.
        title: What stands above the report.
        value: What the measured value is called.
        charts: More charts, shown after those of hetbo; see `hetbo.plot.chart`.
        progress: Called after each step of what takes long, with the number of steps that are
            done and that of all steps.

    Raises:
        HetboError: A chart is none, or there are two of one name.
        DataError: The path is a folder, a device or a pipe, or a file that is no page.
    """
    check_replaceable(path, is_page)  # before the work, which can take minutes
    html = report_html(optimizer, title=title, value=value, charts=charts, progress=progress)
    write_text_atomically(path, html, only_over=is_page)


def report_html(
    optimizer: Optimizer,
    *,
    title: str = _TITLE,
    value: str = "value",
    charts: Sequence[Chart] = (),
    progress: Progress | None = None,
) -> str:
    """Return the page that `write_report` writes; the same state gives the same page."""
    names = [chart.name for chart in CHARTS]
    for chart in charts:
        if not isinstance(chart, Chart):
            raise HetboError(
                f"charts= holds {shown(chart)}; "
                "make a chart of a function with @hetbo.plot.chart(name)"
            )
        if chart.name in names:
            raise HetboError(f"duplicate chart {shown(chart.name)}; give it another name")
        names.append(chart.name)
    with optimizer.engine.one_thread(optimizer.trials):
        return page(Run(optimizer, value=value, progress=progress), title, charts)
