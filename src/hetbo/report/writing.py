"""From an optimizer to an HTML file."""

import os

from hetbo.errors import HetboError
from hetbo.files import write_text_atomically
from hetbo.optimizer import Optimizer
from hetbo.report.building import Progress, view_of
from hetbo.report.page import page

_TITLE = "What was tried, and what was learned"


def write_report(
    optimizer: Optimizer,
    path: str | os.PathLike[str],
    *,
    title: str = _TITLE,
    value: str = "value",
    progress: Progress | None = None,
) -> None:
    """Write a report about an optimizer to one HTML file that works offline.

    Args:
        optimizer: The optimizer. It stays as it is.
        path: The file to write, at once or not at all; its folder must exist.
        title: What stands above the report.
        value: What the measured value is called.
        progress: Called after each step of the work, with the number of steps that are done and
            that of all steps.

    Raises:
        HetboError: Plotly is not installed.
    """
    write_text_atomically(path, report_html(optimizer, title=title, value=value, progress=progress))


def report_html(
    optimizer: Optimizer,
    *,
    title: str = _TITLE,
    value: str = "value",
    progress: Progress | None = None,
) -> str:
    """Return a report about an optimizer as one HTML page that works offline.

    The same state of an optimizer gives the same page.

    Args:
        optimizer: The optimizer. It stays as it is.
        title: What stands above the report.
        value: What the measured value is called.
        progress: Called after each step of the work, with the number of steps that are done and
            that of all steps.

    Raises:
        HetboError: Plotly is not installed.
    """
    plotly_js = _plotly_js()
    view = view_of(optimizer, title=title, value=value, progress=progress)
    return page(view, plotly_js)


def _plotly_js() -> str:
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415  # only a report needs it
    except ImportError as error:
        raise HetboError("a report needs plotly: pip install plotly") from error
    return str(get_plotlyjs())
