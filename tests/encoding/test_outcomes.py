import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hetbo import Goal
from hetbo.encoding import OutcomeScale

GOALS = st.sampled_from(Goal)
VALUES = st.lists(st.floats(-1e300, 1e300), max_size=8)


def test_values_get_zero_mean_and_unit_spread() -> None:
    scale = OutcomeScale.fit([1.0, 2.0, 3.0, 6.0], Goal.MAXIMIZE)
    scaled = scale.scale([1.0, 2.0, 3.0, 6.0])
    assert scaled.mean() == pytest.approx(0, abs=1e-12)
    assert scaled.std(ddof=1) == pytest.approx(1)
    assert scale.centre == 3.0
    assert scale.spread == pytest.approx(np.sqrt(14 / 3))


def test_larger_is_better_after_scaling() -> None:
    values = [3.0, 1.0, 2.0]
    assert OutcomeScale.fit(values, Goal.MAXIMIZE).scale(values).tolist() == [1.0, -1.0, 0.0]
    assert OutcomeScale.fit(values, Goal.MINIMIZE).scale(values).tolist() == [-1.0, 1.0, 0.0]


def test_without_values_nothing_is_changed() -> None:
    assert OutcomeScale.fit([], Goal.MAXIMIZE) == OutcomeScale(0.0, 1.0, 1)
    assert OutcomeScale.fit([], Goal.MINIMIZE).scale([]).shape == (0,)


@pytest.mark.parametrize("value", [0.0, 0.25, -3.0, 1e9, 1e-9, 1e300, 5e-324])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("goal", Goal)
def test_values_without_spread_become_zero(value: float, count: int, goal: Goal) -> None:
    scale = OutcomeScale.fit([value] * count, goal)
    assert scale.spread == 1.0
    assert (scale.scale([value] * count) == 0).all()
    assert scale.unscale([0.0]).tolist() == [value]


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("goal", Goal)
def test_the_size_of_values_makes_no_difference(size: float, goal: Goal) -> None:
    values = np.array([0.5, -1.0, 2.0, 2.5])
    expected = OutcomeScale.fit(values, goal).scale(values)
    scale = OutcomeScale.fit(values * size, goal)
    np.testing.assert_allclose(scale.scale(values * size), expected, rtol=1e-12)
    np.testing.assert_allclose(scale.unscale(expected), values * size, rtol=1e-12)


def test_rounding_errors_are_no_spread() -> None:
    values = [0.1 + 0.2, 0.3, 0.3]
    assert OutcomeScale.fit(values, Goal.MINIMIZE).spread == 1.0
    assert OutcomeScale.fit([1e9, 1e9 + 1], Goal.MINIMIZE).spread == pytest.approx(np.sqrt(0.5))


@given(VALUES, GOALS)
def test_scaling_can_be_undone(values: list[float], goal: Goal) -> None:
    scale = OutcomeScale.fit(values, goal)
    scaled = scale.scale(values)
    assert np.isfinite(scaled).all()
    largest = max(map(abs, values), default=0.0)
    np.testing.assert_allclose(scale.unscale(scaled), values, rtol=1e-12, atol=1e-14 * largest)


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=8), GOALS)
def test_no_scaled_value_is_further_out_than_a_sample_allows(
    values: list[float], goal: Goal
) -> None:
    scale = OutcomeScale.fit(values, goal)
    assume(scale.spread != 1.0)
    furthest = (len(values) - 1) / np.sqrt(len(values))
    assert np.abs(scale.scale(values)).max() <= furthest * (1 + 1e-6)


@given(VALUES, GOALS)
def test_scaling_keeps_the_order_that_the_goal_gives(values: list[float], goal: Goal) -> None:
    scaled = OutcomeScale.fit(values, goal).scale(values)
    order = np.argsort(goal.sign * np.array(values), kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.floats(0, 1e6), GOALS)
def test_noise_is_scaled_like_a_difference(values: list[float], noise: float, goal: Goal) -> None:
    scale = OutcomeScale.fit(values, goal)
    [scaled] = scale.scale_noise([noise], [0.0])
    assert scaled >= 0
    assert scaled == pytest.approx(min(noise / scale.spread, 1e6))


@given(VALUES, GOALS)
def test_compressed_values_keep_their_order_and_can_be_had_back(
    values: list[float], goal: Goal
) -> None:
    scale = OutcomeScale.fit(values, goal, compressed=True)
    scaled = scale.scale(values)
    order = np.argsort(goal.sign * np.array(values), kind="stable")
    assert (np.diff(scaled[order]) >= -1e-12).all()
    largest = max(map(abs, values), default=0.0)
    np.testing.assert_allclose(scale.unscale(scaled), values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize("goal", Goal)
def test_compressed_values_get_zero_mean_and_unit_spread(goal: Goal) -> None:
    values = [-50.0, 1.0, 2.0, 3.0, 60.0]
    scaled = OutcomeScale.fit(values, goal, compressed=True).scale(values)
    assert scaled.mean() == pytest.approx(0, abs=1e-12)
    assert scaled.std(ddof=1) == pytest.approx(1)


def test_the_goal_says_which_values_are_compressed() -> None:
    values = [-50.0, 1.0, 2.0, 3.0, 54.0]  # as far below as above
    up = OutcomeScale.fit(values, Goal.MAXIMIZE, compressed=True).scale(values)
    down = OutcomeScale.fit(values, Goal.MINIMIZE, compressed=True).scale(values)
    assert up[2] - up[0] < up[4] - up[2]
    np.testing.assert_allclose(down[::-1], up)


@pytest.mark.parametrize("goal", Goal)
def test_noise_of_compressed_values_shrinks_with_them(goal: Goal) -> None:
    values = [-50.0, 1.0, 2.0, 3.0, 60.0]
    scale = OutcomeScale.fit(values, goal, compressed=True)
    places = np.array([-20.0, 0.0, 2.5, 30.0])
    change = scale.scale(places + 1e-4) - scale.scale(places - 1e-4)
    noise = scale.scale_noise(np.full(4, 2e-4), scale.scale(places))
    np.testing.assert_allclose(noise, np.abs(change), rtol=1e-5)


LARGEST = sys.float_info.max
EXTREMES = st.sampled_from([LARGEST, -LARGEST, 1e308, -1e300, 1e150, 1.0, 0.0, 1e-300, 5e-324])
ANY = EXTREMES | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(ANY, max_size=8), st.lists(ANY, min_size=8, max_size=8), GOALS, st.booleans())
def test_no_finite_values_overflow(
    values: list[float], noise: list[float], goal: Goal, compressed: bool
) -> None:
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        scale = OutcomeScale.fit(values, goal, compressed=compressed)
        scaled = scale.scale(values)
        deviations = scale.scale_noise(np.abs(noise[: len(values)]), scaled)
        back = scale.unscale(scaled)
        far = scale.unscale([1e6, -1e6, LARGEST, -LARGEST])
    assert np.isfinite(scaled).all()
    assert np.isfinite(deviations**2).all()
    assert np.isfinite(far).all()
    assert np.abs(scaled).max(initial=0.0) <= 1e13
    if values:
        order = np.argsort(goal.sign * np.array(values), kind="stable")
        assert (np.diff(scaled[order]) >= 0).all()
        np.testing.assert_allclose(back, values, rtol=1e-6, atol=1e-6 * np.abs(values).max())


def test_both_ends_of_the_floats_stand_on_one_scale() -> None:
    scale = OutcomeScale.fit([LARGEST, -LARGEST, 0.0], Goal.MAXIMIZE)
    assert scale.scale([LARGEST, -LARGEST, 0.0]).tolist() == [1.0, -1.0, 0.0]
    assert scale.unscale([1.0, -1.0, 0.0]).tolist() == [LARGEST, -LARGEST, 0.0]


def test_differences_by_rounding_are_no_spread_however_large_the_values() -> None:
    values = [1e308, np.nextafter(1e308, 0)]
    scaled = OutcomeScale.fit(values, Goal.MAXIMIZE).scale(values)
    assert np.abs(scaled).max() < 1e-3
