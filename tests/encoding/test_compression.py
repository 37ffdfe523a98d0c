"""The compressed tail of bad values."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hetbo.encoding._compression import Compression, has_long_bad_tail

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9).filter(
    lambda values: bool(np.ptp(values) > max(1e-6 * np.abs(values).max(), 1e-290))
)


def fitted(values: list[float]) -> Compression:
    compression = Compression.fit(np.array(values))
    assert compression is not None
    return compression


def test_the_worse_half_comes_nearer_and_the_better_half_stays() -> None:
    values = [-7.0, 0.0, 3.0, 7.0, 8.0]
    compression = fitted(values)
    reach = math.sqrt((16 + 25) / 2.5)
    assert compression.middle == 3.0
    assert compression.reach == pytest.approx(reach)
    expected = [3 - reach * math.log(1 + 10 / reach), 3 - reach * math.log(1 + 3 / reach), 3, 7, 8]
    assert compression.compress(np.array(values)).tolist() == pytest.approx(expected)


def test_values_that_are_not_far_below_stay_nearly_the_same() -> None:
    values = np.array([0.0, 0.01, 0.02, 1.0, 2.0])
    np.testing.assert_allclose(fitted(values.tolist()).compress(values), values, atol=2e-4)


def test_the_reach_does_not_shrink_to_what_is_left_between_the_best() -> None:
    values = [-97.0, 0.0, 3.0, 3.1, 3.2]
    assert fitted(values).reach == pytest.approx(np.std(values, ddof=1) / 2)


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0], [3.0] * 5, [5e-324, 0.0]])
def test_values_without_a_difference_need_no_change(values: list[float]) -> None:
    assert Compression.fit(np.array(values)) is None


def test_if_most_are_equally_good_the_others_can_still_be_told_apart() -> None:
    changed = fitted([1.0, 1.0, 1.0, 0.9, 0.0]).compress(np.array([1.0, 0.9, 0.0]))
    assert changed[0] == 1.0
    assert changed[0] > changed[1] > changed[2]


@given(VALUES, st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=9))
def test_it_can_be_undone(values: list[float], others: list[float]) -> None:
    compression = fitted(values)
    y = np.array([*values, *others])
    back = compression.expand(compression.compress(y))
    np.testing.assert_allclose(back, y, rtol=1e-9, atol=1e-9 * float(np.abs(y).max()))


@given(VALUES, st.lists(st.floats(-1e7, 1e7), min_size=2, max_size=9))
def test_the_order_is_kept(values: list[float], others: list[float]) -> None:
    changed = fitted(values).compress(np.sort([*values, *others]))
    assert (np.diff(changed) >= -1e-9 * np.abs(changed).max()).all()


@given(VALUES)
@example([-157.0, -2.2250738585e-313, -2.2250738585e-313])
@example([-0.3, 0.1, 0.1])
def test_nothing_gets_worse_or_better_than_the_best(values: list[float]) -> None:
    y = np.array(values)
    changed = fitted(values).compress(y)
    assert (changed >= y - 1e-9 * np.abs(y).max()).all()
    assert changed.max() == y.max()


@given(VALUES, st.floats(0.01, 100), st.floats(-100, 100))
def test_units_make_no_difference(values: list[float], factor: float, shift: float) -> None:
    assume(factor * np.ptp(values) > 1e-3)
    y = np.array(values)
    expected = fitted(values).compress(y) * factor + shift
    moved = y * factor + shift
    size = float(np.abs([*moved, *(y * factor), shift]).max())
    np.testing.assert_allclose(fitted(moved.tolist()).compress(moved), expected, atol=1e-7 * size)


@given(VALUES, st.floats(-1e7, 1e6))
def test_slopes_are_those_of_differences(values: list[float], place: float) -> None:
    compression = fitted(values)
    step = 1e-5 * compression.reach
    # A step that rounding would swallow, or that goes over an edge, says nothing.
    depth = compression.middle - place
    assume(step > 1e-7 * max(abs(place), abs(compression.middle)))
    assume(min(abs(depth), abs(depth - compression.deepest)) > 2 * step)
    up, at, down = compression.compress(np.array([place + step, place, place - step]))
    [slope] = np.exp(compression.log_slope(np.array([at])))
    assert (up - down) / (2 * step) == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_beyond_what_was_seen_it_goes_on_in_a_straight_line() -> None:
    compression = fitted([-8.0, 0.0, 1.0])
    steps = np.diff(compression.compress(np.array([-8.0, -9.0, -10.0, -1008.0, -1009.0])))
    assert steps[[0, 1, 3]].tolist() == pytest.approx([-1 / (1 + 8 / compression.reach)] * 3)


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_the_size_of_values_makes_no_difference(size: float) -> None:
    values = np.array([0.5, -1.0, 2.0, 2.5])
    expected = fitted(values.tolist()).compress(values) * size
    np.testing.assert_allclose(
        fitted((values * size).tolist()).compress(values * size), expected, rtol=1e-12
    )


def test_a_long_bad_tail() -> None:
    tail = np.tile([-9.0, -4.0, 0.0, 0.5, 1.0], 6)
    assert has_long_bad_tail([tail])
    assert not has_long_bad_tail([tail[:29]])
    assert has_long_bad_tail([tail[:15], tail[:15]])
    assert not has_long_bad_tail([-tail])
    assert not has_long_bad_tail([tail, -tail])
    # Each counts alike, whatever its units.
    assert has_long_bad_tail([tail, tail, tail, tail, tail * 1000, 7 - tail / 1000])
    assert not has_long_bad_tail([np.tile([-2.0, -1.0, 0.0, 1.0, 1.1], 6)])


def test_what_has_no_difference_has_no_tail() -> None:
    assert not has_long_bad_tail([])
    assert not has_long_bad_tail([np.zeros(0), np.ones(1), np.full(40, 0.3), np.zeros(30)])


@given(st.lists(VALUES, min_size=1, max_size=3), st.integers(-20, 20))
def test_tails_do_not_depend_on_units(groups: list[list[float]], power: int) -> None:
    # Powers of two, which round nothing: twice as far to the last digit stays twice as far.
    values = [np.tile(group, 15) for group in groups]
    assert has_long_bad_tail([v * 2.0**power for v in values]) == has_long_bad_tail(values)
