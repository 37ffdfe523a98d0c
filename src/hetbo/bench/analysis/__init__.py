"""From finished runs to comparisons, tables and figures."""
