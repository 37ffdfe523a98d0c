"""The squared exponential of plain points against its formula and finite differences."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from hetbo.models import squared_exponential, squared_exponential_slope


@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 5), st.integers(0, 3))
def test_it_is_the_formula(seed: int, rows: int, columns: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(rows, d)), rng.normal(size=(columns, d))
    expected = [[0.7 * math.exp(-0.5 * ((a - b) ** 2).sum()) for b in B] for a in A]
    found = squared_exponential(A, B, 0.7)
    assert found.shape == (rows, columns)
    assert_allclose(found, np.reshape(expected, found.shape), rtol=1e-12)


def test_points_at_the_same_place_never_exceed_the_variance() -> None:
    A = np.random.default_rng(0).normal(size=(50, 4)) * 1e4
    assert squared_exponential(A, A).max() <= 1.0


def test_the_slope_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(1)
    X, points, weights = rng.random((6, 3)), rng.random((9, 3)), rng.normal(size=9)
    inverse, step = np.array([2.0, 0.0, 0.7]), 1e-6

    def value(at: NDArray[np.float64]) -> NDArray[np.float64]:
        K = squared_exponential(at * inverse, points * inverse, 1.3)
        return np.asarray(K @ weights)

    weighted = squared_exponential(X * inverse, points * inverse, 1.3) * weights
    slope = squared_exponential_slope(X, points, inverse, weighted)
    for column, shift in enumerate(step * np.eye(3)):
        differences = (value(X + shift) - value(X - shift)) / (2 * step)
        assert_allclose(slope[:, column], differences, atol=1e-8)
