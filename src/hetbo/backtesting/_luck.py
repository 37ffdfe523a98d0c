"""What is beyond chance, where the measure of chance is how runs without sources differ."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

_COVERAGE = 0.95
_RUNS = 0.9


def share_slower(needed: float, vanilla: Sequence[int]) -> float:
    """Return how often a search without sources takes longer than that; ties count by half.

    A source that has nothing to do with the target leaves a search to its luck. Its number of
    trials is then like one more draw from those without sources, which is counted as well, so that
    this share is a mid-p-value.
    """
    slower = sum(other > needed for other in vanilla)
    level = 1 + sum(other == needed for other in vanilla)
    return (slower + level / 2) / (1 + len(vanilla))


def combined(shares: Sequence[float]) -> float:
    """Return how likely the sum of so many even draws from 0 to 1 is this small (Irwin–Hall)."""
    total, n = math.fsum(shares), len(shares)
    terms = ((-1) ** k * math.comb(n, k) * (total - k) ** n for k in range(math.floor(total) + 1))
    return min(max(math.fsum(terms) / math.factorial(n), 0.0), 1.0)


def saved_in_most_runs(vanilla: Sequence[int], transfer: Sequence[int]) -> tuple[float, float]:
    """Return between what numbers nine in ten pairs of runs differ."""
    differences = np.subtract.outer(np.array(vanilla), np.array(transfer))
    low, high = np.quantile(differences, [(1 - _RUNS) / 2, (1 + _RUNS) / 2]).tolist()
    return low, high


def interval_of_mean(values: Sequence[float]) -> tuple[float, float] | None:
    """Return Student's 95 % interval of a mean; None if there are fewer than two values."""
    if len(values) < 2:  # noqa: PLR2004
        return None
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(student.ppf((1 + _COVERAGE) / 2, len(values) - 1)) * error
    return mean - half, mean + half
