"""Data that problems and comparisons need: the paper's runs, HPO-B's tables."""
