"""Means, standard errors, bootstrap intervals, ratios and ranks of a few numbers."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]

RESAMPLES = 2000
"""A bootstrap interval comes from so many resamples."""

COVERAGE = 0.95
"""How much of the resamples an interval covers."""

_SEED = 20240909
_FEWEST = 2
_NOISE = 1e-9  # equal differences differ by so much from rounding, relative to their mean


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile bootstrap interval, over replications.

    Attributes:
        low: Its lower end.
        high: Its upper end.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over replications.

    Attributes:
        mean: The mean.
        standard_error: Its standard error; None if it is not known, as with one replication.
    """

    mean: float
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one side is than the other, on average.

    Attributes:
        mean: The mean difference; above 0 if the first side is better.
        standard_error: Its standard error; None if it is not known.
        in_standard_errors: The mean difference in units of its standard error; None if that is
            not known, or is 0 though the mean is not, up to rounding.
        interval: Where the mean difference may lie; None if it is not known.
    """

    mean: float
    standard_error: float | None
    in_standard_errors: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Ratio:
    """A sum over replications relative to the same sum of the other side.

    Attributes:
        value: The ratio; None if the other side's sum is 0.
        interval: Where it may lie; None if it is not known.
        replications: How many replications both sides have.
    """

    value: float | None
    interval: Interval | None
    replications: int


def estimate(values: FloatArray) -> Estimate:
    """Return the mean of some values, one per replication, and its standard error."""
    return Estimate(float(values.mean()), standard_error(values))


def standard_error(values: FloatArray) -> float | None:
    """Return the standard error of the mean of values; None if there are fewer than two."""
    return float(standard_errors(values)) if len(values) >= _FEWEST else None


def standard_errors(values: FloatArray) -> FloatArray:
    """Return the standard errors of the means over the first axis, of two or more values each."""
    return np.asarray(stats.sem(values, axis=0))


def paired_difference(
    ours: FloatArray, theirs: FloatArray, *, sign: int, rounding: float = 0.0
) -> Difference:
    """Return how much better our values are than theirs, replication by replication.

    Args:
        ours: Our values, one per replication.
        theirs: Their values, in the same order.
        sign: 1 if higher values are better, -1 if lower ones are.
        rounding: A mean difference this small is none.
    """
    differences = sign * (ours - theirs)
    return _difference(
        float(differences.mean()),
        standard_error(differences),
        bootstrap_mean(differences),
        rounding=rounding,
    )


def unpaired_difference(
    ours: Estimate, theirs: Estimate, *, sign: int, rounding: float = 0.0
) -> Difference:
    """Return how much better our mean is than theirs, from two independent sets of replications.

    Args:
        ours: Our mean.
        theirs: Their mean.
        sign: 1 if higher values are better, -1 if lower ones are.
        rounding: A difference this small is none.
    """
    error = None
    if ours.standard_error is not None and theirs.standard_error is not None:
        error = float(np.hypot(ours.standard_error, theirs.standard_error))
    return _difference(sign * (ours.mean - theirs.mean), error, None, rounding=rounding)


def _difference(
    mean: float, error: float | None, interval: Interval | None, *, rounding: float
) -> Difference:
    if error is None:
        units = None
    elif abs(mean) <= rounding:
        units = 0.0
    elif error > _NOISE * abs(mean):
        units = mean / error
    else:
        units = 0.0 if mean == 0.0 else None
    return Difference(mean, error, units, interval)


def ratio_of_sums(ours: FloatArray, theirs: FloatArray) -> Ratio:
    """Return our sum relative to theirs, with a bootstrap interval over paired replications.

    Args:
        ours: Our values, one per replication, at least 0.
        theirs: Their values, in the same order, at least 0.
    """
    total = float(theirs.sum())
    value = float(ours.sum()) / total if total > 0.0 else None
    return Ratio(value, bootstrap_ratio(ours, theirs), len(ours))


def bootstrap_mean(values: FloatArray) -> Interval | None:
    """Return where the mean may lie; None if there are fewer than two values."""
    return _interval(np.mean, values)


def bootstrap_ratio(ours: FloatArray, theirs: FloatArray) -> Interval | None:
    """Return where the ratio of two sums may lie; None if a resample leaves it undefined."""

    def ratio(above: FloatArray, below: FloatArray, *, axis: int) -> FloatArray:
        total = np.asarray(below.sum(axis=axis))
        undefined = np.full(total.shape, np.nan)
        return np.asarray(np.divide(above.sum(axis=axis), total, out=undefined, where=total > 0))

    return _interval(ratio, ours, theirs)


def _interval(statistic: Callable[..., FloatArray], *paired: FloatArray) -> Interval | None:
    if len(paired[0]) < _FEWEST:
        return None
    with warnings.catch_warnings():
        # A resample that leaves the statistic undefined leaves the interval undefined.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            paired,
            statistic,
            n_resamples=RESAMPLES,
            paired=True,
            confidence_level=COVERAGE,
            method="percentile",
            rng=np.random.default_rng(_SEED),
        ).confidence_interval
    return None if np.isnan(found.low) else Interval(float(found.low), float(found.high))


def ranks(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the rank of each score, 1 for the highest; equal scores share their mean rank."""
    ranked = stats.rankdata([-score for score in scores.values()]).tolist()
    return dict(zip(scores, ranked, strict=True))
