"""From a backtest to an HTML file."""

import os

from hetbo._files import is_page, write_text_atomically
from hetbo.backtesting import Backtest
from hetbo.plot import Drawing, NothingToShowError
from hetbo.plot._backtest import cases_drawing, sources_drawing
from hetbo.report._embedding import embedded_drawing
from hetbo.report._page import rendered

_TITLE = "Would old runs have helped?"


def write_backtest_report(found: Backtest, path: str | os.PathLike[str]) -> None:
    """Write a backtest to one HTML file that works offline.

    Args:
        found: The backtest.
        path: The file to write, at once or not at all; its folder must exist.

    Raises:
        DataError: The path is a folder, a device or a pipe, or a file that is no page.
    """
    try:
        sources = sources_drawing(found)
    except NothingToShowError as nothing:
        sources = Drawing(str(nothing))
    page = rendered(
        "backtest.html",
        _TITLE,
        found=found,
        cases=embedded_drawing("Cases", cases_drawing(found)),
        sources=embedded_drawing("Sources alone", sources),
        remarks=[*found.skipped.values(), *found.dropped.values(), *found.notes],
    )
    write_text_atomically(path, page, only_over=is_page)
