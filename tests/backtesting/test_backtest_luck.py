import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from hetbo.backtesting._luck import combined, interval_of_mean, saved_in_most_runs, share_slower

COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=20)


def test_ties_and_the_draw_itself_count_by_half() -> None:
    # Of 1, 3, 3, 8 and the draw 3 itself: one is slower, three are as slow.
    assert share_slower(3, [1, 3, 3, 8]) == (1 + 3 / 2) / 5


@given(COUNTS, st.integers(1, 30))
def test_a_draw_is_slower_or_quicker(vanilla: list[int], needed: int) -> None:
    quicker = share_slower(-needed, [-other for other in vanilla])
    assert share_slower(needed, vanilla) + quicker == pytest.approx(1)


def test_one_share_stands_for_itself_and_two_make_a_triangle() -> None:
    assert combined([0.3]) == pytest.approx(0.3)
    assert combined([0.3, 0.2]) == pytest.approx(0.5**2 / 2)
    assert combined([0.9, 0.8]) == pytest.approx(1 - 0.3**2 / 2)
    assert combined([0.0]) == 0
    assert combined([1.0] * 5) == pytest.approx(1)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_chance_of_a_sum_is_that_of_even_draws(count: int) -> None:
    sums = np.random.default_rng(0).random((200_000, count)).sum(axis=1)
    for total in (0.2 * count, 0.4 * count, 0.7 * count):
        share = float((sums <= total).mean())
        assert combined([total / count] * count) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(("targets", "trials"), [*itertools.product([2, 3, 5], [3, 8])])
def test_a_source_that_does_nothing_is_seldom_named(targets: int, trials: int) -> None:
    rng = np.random.default_rng(targets)
    draws = np.minimum(rng.geometric(1 / trials, (2000, targets, 41)), 30)
    shares = [[share_slower(one[0], one[1:].tolist()) for one in case] for case in draws]
    for level in (0.05, 0.01):
        allowed = level + 3 * math.sqrt(level / len(draws))
        assert np.mean([combined(one) <= level for one in shares]) <= allowed
        assert np.mean([combined([1 - s for s in one]) <= level for one in shares]) <= allowed


@given(COUNTS, COUNTS)
def test_nine_of_ten_pairs_of_runs_lie_within(vanilla: list[int], transfer: list[int]) -> None:
    low, high = saved_in_most_runs(vanilla, transfer)
    pairs = [one - other for one in vanilla for other in transfer]
    assert min(pairs) <= low <= high <= max(pairs)
    assert (low, high) == pytest.approx(
        (np.quantile(pairs, 0.05, method="linear"), np.quantile(pairs, 0.95, method="linear"))
    )


def test_the_interval_of_a_mean_is_students() -> None:
    values = [1.0, 4.0, 2.5, 7.0]
    error = np.std(values, ddof=1) / 2
    expected = student.interval(0.95, 3, loc=np.mean(values), scale=error)
    assert interval_of_mean(values) == pytest.approx(expected)
    assert interval_of_mean([1.0]) is None
