"""One HTML file that shows what was tried, what was learned, and how far sources are trusted."""

from hetbo.report._backtest import write_backtest_report
from hetbo.report._report import report_html, write_report

__all__ = ["report_html", "write_backtest_report", "write_report"]
