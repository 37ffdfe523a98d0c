"""One HTML file that shows what was tried, what was learned, and how far sources are trusted."""

from hetbo.report.writing import report_html, write_report

__all__ = ["report_html", "write_report"]
