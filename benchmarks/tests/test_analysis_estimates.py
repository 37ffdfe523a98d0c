"""Means, errors, intervals and ranks against formulas and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hetbo_bench.analysis.estimates import (
    Estimate,
    bootstrap_mean,
    bootstrap_ratio,
    estimate,
    paired_difference,
    ranks,
    ratio_of_sums,
    unpaired_difference,
)

OURS = np.random.default_rng(1).gamma(2.0, 1.0, 50)
THEIRS = OURS + np.random.default_rng(2).normal(0.5, 0.5, 50) + 2.0


def test_the_standard_error_is_the_written_out_one() -> None:
    # Mean 4; squared deviations 9, 1, 1, 9; variance 20 / 3; error sqrt(20 / 3 / 4).
    found = estimate(np.array([1.0, 3.0, 5.0, 7.0]))
    assert found.mean == 4.0
    assert found.standard_error == pytest.approx(math.sqrt(5 / 3))
    assert found.standard_error == pytest.approx(stats.sem([1.0, 3.0, 5.0, 7.0]))


def test_one_value_has_no_error_and_no_interval() -> None:
    one = np.array([2.0])
    assert estimate(one) == Estimate(2.0, None)
    assert bootstrap_mean(one) is None
    assert bootstrap_ratio(one, one) is None
    difference = paired_difference(one, np.array([1.5]), sign=1)
    assert (difference.mean, difference.standard_error) == (0.5, None)
    assert difference.in_standard_errors is None


def test_what_rounding_makes_is_no_difference() -> None:
    """Published values have six decimals: a tiny error would make them many errors apart."""
    ours, theirs = Estimate(0.7307032, 1e-8), Estimate(0.730703, 0.0)
    assert unpaired_difference(ours, theirs, sign=1).in_standard_errors == pytest.approx(20)
    assert unpaired_difference(ours, theirs, sign=1, rounding=1e-6).in_standard_errors == 0.0
    values = np.array([0.7307032, 0.7307033])
    found = paired_difference(values, np.full(2, 0.730703), sign=-1, rounding=1e-6)
    assert found.in_standard_errors == 0.0
    assert found.mean == pytest.approx(-2.5e-7)


def test_intervals_agree_with_scipy() -> None:
    options = {"n_resamples": 20000, "method": "percentile", "rng": np.random.default_rng(0)}
    difference = paired_difference(OURS, THEIRS, sign=1)
    oracle = stats.bootstrap((OURS - THEIRS,), np.mean, **options).confidence_interval
    assert difference.interval is not None
    error = difference.standard_error or 0.0
    assert difference.interval.low == pytest.approx(oracle.low, abs=0.15 * error)
    assert difference.interval.high == pytest.approx(oracle.high, abs=0.15 * error)

    def ratio(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        found: np.ndarray = a.sum(axis=axis) / b.sum(axis=axis)
        return found

    oracle = stats.bootstrap((OURS, THEIRS), ratio, paired=True, **options).confidence_interval
    interval = bootstrap_ratio(OURS, THEIRS)
    assert interval is not None
    assert interval.low == pytest.approx(oracle.low, abs=0.01)
    assert interval.high == pytest.approx(oracle.high, abs=0.01)


def test_intervals_are_the_same_every_time() -> None:
    assert bootstrap_mean(OURS) == bootstrap_mean(OURS)


def test_a_paired_difference_is_the_paired_t_statistic() -> None:
    difference = paired_difference(OURS, THEIRS, sign=1)
    oracle = stats.ttest_rel(OURS, THEIRS)
    assert difference.in_standard_errors == pytest.approx(oracle.statistic)
    mirrored = paired_difference(OURS, THEIRS, sign=-1)
    assert mirrored.mean == -difference.mean
    assert mirrored.in_standard_errors == pytest.approx(-oracle.statistic)


def test_an_unpaired_difference_is_welchs_t_statistic() -> None:
    difference = unpaired_difference(estimate(OURS), estimate(THEIRS), sign=1)
    oracle = stats.ttest_ind(OURS, THEIRS, equal_var=False)
    assert difference.in_standard_errors == pytest.approx(oracle.statistic)
    assert difference.interval is None


def test_an_unpaired_difference_without_an_error_has_none() -> None:
    difference = unpaired_difference(estimate(OURS), Estimate(1.0, None), sign=1)
    assert (difference.standard_error, difference.in_standard_errors) == (None, None)


def test_equal_differences_are_no_infinite_number_of_errors() -> None:
    assert paired_difference(OURS, OURS, sign=1).in_standard_errors == 0.0
    assert paired_difference(OURS + 0.1, OURS, sign=1).in_standard_errors is None


def test_a_ratio_of_sums_is_not_a_mean_of_ratios() -> None:
    ratio = ratio_of_sums(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    assert (ratio.value, ratio.replications) == (2.0, 2)
    assert ratio_of_sums(np.array([3.0, 1.0]), np.array([3.0, 5.0])).value == 0.5


def test_a_ratio_to_nothing_is_undefined() -> None:
    ratio = ratio_of_sums(np.array([1.0, 2.0]), np.zeros(2))
    assert (ratio.value, ratio.interval) == (None, None)
    # One resample in four draws the zero twice.
    ratio = ratio_of_sums(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    assert (ratio.value, ratio.interval) == (3.0, None)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_ranks_are_scipys(scores: list[int]) -> None:
    named = {f"m{i}": float(score) for i, score in enumerate(scores)}
    expected = stats.rankdata([-score for score in scores]).tolist()
    assert list(ranks(named).values()) == expected
