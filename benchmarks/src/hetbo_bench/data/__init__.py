"""Data that problems and comparisons need: the paper's runs, HPO-B's tables."""

__all__ = [
    "download",
    "hpob_files",
    "hpob_tables",
    "resume",
]
