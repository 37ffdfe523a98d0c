"""From finished runs to comparisons, tables and figures."""

__all__ = [
    "cells",
    "comparison",
    "curve_styles",
    "estimates",
    "figures",
    "grouping",
    "rendering",
    "summaries",
]
