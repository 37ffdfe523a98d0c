"""Numbers as the cells of a table show them."""

from hetbo_bench.analysis.estimates import Difference, Estimate, Interval, Ratio

NOTHING = "—"
"""Stands where there is no number."""


def number_cell(value: float, decimals: int) -> str:
    """Return a number with so many decimals."""
    return f"{value:z.{decimals}f}"


def estimate_cell(estimate: Estimate, decimals: int) -> str:
    """Return a mean plus or minus two standard errors."""
    error = estimate.standard_error
    shown = NOTHING if error is None else number_cell(2.0 * error, decimals)
    return f"{number_cell(estimate.mean, decimals)}±{shown}"


def difference_cell(difference: Difference, decimals: int) -> str:
    """Return a difference, in standard errors too, and its interval on a second line."""
    units = difference.in_standard_errors
    shown = NOTHING if units is None else f"{units:+z.1f}"
    first = f"{difference.mean:+z.{decimals}f} ({shown})"
    interval = difference.interval
    return first if interval is None else f"{first}\n{interval_cell(interval, decimals)}"


def interval_cell(interval: Interval, decimals: int) -> str:
    """Return both ends of an interval."""
    return f"[{number_cell(interval.low, decimals)}, {number_cell(interval.high, decimals)}]"


def ratio_cell(ratio: Ratio | None) -> str:
    """Return a ratio and its interval."""
    if ratio is None or ratio.value is None:
        return NOTHING
    first = f"{ratio.value:.2f}"
    return first if ratio.interval is None else f"{first} {interval_cell(ratio.interval, 2)}"
