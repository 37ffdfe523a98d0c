"""Functions to optimise, with past experiments in other spaces."""

__all__ = [
    "archive",
    "archive_tables",
    "fresh",
    "functions",
    "grid_tables",
    "hartmann",
    "hpob",
    "hpob_natural",
    "named",
    "objectives",
    "problem",
    "real",
    "tabular",
    "wrappers",
]
