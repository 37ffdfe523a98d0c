"""Exact and sparse posteriors against textbook formulas, brute force and finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import lognorm, multivariate_normal

from archive_data import random_rows
from hetbo._arrays import FloatArray
from hetbo.archive._gp import (
    Evidence,
    exact_posterior,
    inducing_rows,
    most_likely,
    noise_of,
    sparse_posterior,
)
from hetbo.models import DEFAULT, squared_exponential

Z = np.log([0.4, 0.7, 1.1, 1.3, 0.05])


def evidence(count: int = 15, seed: int = 0) -> Evidence:
    rows = random_rows(count, seed=seed)
    return Evidence(rows.X, rows.y, rows.noise, rows.groups)


def dense_covariance(own: Evidence, z: FloatArray) -> FloatArray:
    """The trials' covariance, written out, the mean's prior included."""
    ell, variance, noise = np.exp(z[:-2])[own.groups], math.exp(z[-2]), math.exp(z[-1])
    difference = (own.X[:, np.newaxis] - own.X) / ell
    K: FloatArray = variance * np.exp(-0.5 * (difference**2).sum(axis=-1))
    return K + np.diag(noise_of(own.known, noise)) + 1e-8 * np.eye(len(K))


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_evidence_is_the_textbooks_at_the_best_mean(seed: int) -> None:
    own = evidence(seed=seed)
    K = dense_covariance(own, Z)
    ones = np.linalg.solve(K, np.ones(len(K)))
    beta = ones @ own.y / (ones.sum() + 1.0)
    expected = multivariate_normal(np.full(len(K), beta), K).logpdf(own.y) - 0.5 * beta**2
    lengths = DEFAULT.length_scale(3)
    for log_value, location, scale in [
        *((z, lengths.location, lengths.scale) for z in Z[:3]),
        (Z[3], 0.0, 0.5),
        (Z[4], DEFAULT.noise.location, DEFAULT.noise.scale),
    ]:
        density = lognorm(s=scale, scale=math.exp(location)).logpdf(math.exp(log_value))
        expected += density + math.log(scale) + 0.5 * math.log(2 * math.pi)
    assert_allclose(own(Z)[0], expected, rtol=1e-9)


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_gradient_of_the_evidence(seed: int) -> None:
    own = evidence(seed=seed)
    z = Z + 0.3 * np.random.default_rng(seed).normal(size=5)
    step = 1e-6 * np.eye(5)
    differences = [(own(z + h)[0] - own(z - h)[0]) / 2e-6 for h in step]
    assert_allclose(own(z)[1], differences, rtol=1e-4, atol=1e-4)


def test_columns_of_a_category_share_a_length_scale() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(12), np.eye(3)[rng.integers(3, size=12)]])
    own = Evidence(X, rng.normal(size=12), np.full(12, np.nan), np.array([0, 1, 1, 1]))
    z = np.log([0.5, 0.8, 1.0, 0.1])
    assert own.parameters == 2
    differences = [(own(z + h)[0] - own(z - h)[0]) / 2e-6 for h in 1e-6 * np.eye(4)]
    assert_allclose(own(z)[1], differences, rtol=1e-4, atol=1e-4)


def test_a_fit_is_at_least_as_likely_as_its_starts_and_nearby_points() -> None:
    own = evidence(30)
    z = most_likely(own)
    best = own(z)[0]
    assert best >= own(own.first())[0]
    for h in 0.01 * np.eye(5):
        low, high = own.bounds
        assert best >= max(own(np.clip(z + s * h, low, high))[0] for s in (-1, 1)) - 1e-3


def test_exact_posterior_and_left_out_trials_by_brute_force() -> None:
    own = evidence()
    posterior, left_out = exact_posterior(own, Z)
    new = np.random.default_rng(1).random((4, 3))
    # The mean's prior is normal with variance 1, so that it is one more covariance; the plain
    # posterior variance leaves out that the mean is estimated.
    K = dense_covariance(own, Z)
    scale = np.exp(-Z[:3])
    k = squared_exponential(new * scale, own.X * scale, math.exp(Z[3]))
    mean, variance = posterior(new)
    assert_allclose(mean, k @ np.linalg.solve(K, own.y - posterior.mean) + posterior.mean)
    assert_allclose(variance, math.exp(Z[3]) - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)))
    for i in range(len(own.y)):
        rest = np.arange(len(own.y)) != i
        weights = np.linalg.solve(K[np.ix_(rest, rest)], own.y[rest] - posterior.mean)
        assert_allclose(left_out.mean[i], posterior.mean + K[i, rest] @ weights)
        explained = K[i, rest] @ np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
        assert_allclose(left_out.sd[i] ** 2, K[i, i] - explained)


@pytest.mark.parametrize("cautious", [False, True])
def test_inducing_points_at_all_trials_are_exact(cautious: bool) -> None:
    own = evidence(40)
    new = np.random.default_rng(1).random((6, 3))
    exact, exactly_left_out = exact_posterior(own, Z)
    sparse, left_out = sparse_posterior(own, Z, own.X, cautious=cautious)
    for one, other in zip(exact.moments(new), sparse.moments(new), strict=True):
        assert_allclose(one, other, atol=2e-4)
    assert_allclose(left_out.mean, exactly_left_out.mean, atol=2e-4)
    assert_allclose(left_out.sd, exactly_left_out.sd, atol=2e-4)


@pytest.mark.parametrize("cautious", [False, True])
@pytest.mark.parametrize("count", [60, 3000])
def test_sparse_posterior_is_the_written_out_formula(count: int, cautious: bool) -> None:
    own = evidence(count)
    U = own.X[:20]
    posterior, left_out = sparse_posterior(own, Z, U, cautious=cautious)
    scale, variance = np.exp(-Z[:3]), math.exp(Z[3])
    Kuu = squared_exponential(U * scale, U * scale, variance) + 1e-7 * variance * np.eye(20)
    Kuf = squared_exponential(U * scale, own.X * scale, variance)
    told = np.einsum("ij,ji->i", Kuf.T, np.linalg.solve(Kuu, Kuf))
    precision = 1 / (noise_of(own.known, math.exp(Z[4])) + cautious * (variance - told) + 1e-8)
    S = np.linalg.inv(Kuu + (Kuf * precision) @ Kuf.T)
    new = np.random.default_rng(1).random((5, 3))
    k = squared_exponential(new * scale, U * scale, variance)
    mean, found = posterior(new)
    expected = posterior.mean + k @ S @ Kuf @ (precision * (own.y - posterior.mean))
    assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
    told = np.einsum("ij,jk,ik->i", k, np.linalg.inv(Kuu) - S, k)
    assert_allclose(found, variance - told, rtol=1e-4, atol=1e-5)
    # The mean is the best one of the linear model, its normal prior included.
    Q = Kuf.T @ np.linalg.solve(Kuu, Kuf) + np.diag(1 / precision)
    if count < 100:
        ones = np.linalg.solve(Q, np.ones(count))
        assert_allclose(posterior.mean, ones @ own.y / (ones.sum() + 1.0), rtol=1e-5)
        i = 7
        rest = np.arange(count) != i
        weights = np.linalg.solve(Q[np.ix_(rest, rest)], own.y[rest] - posterior.mean)
        assert_allclose(left_out.mean[i], posterior.mean + Q[i, rest] @ weights, rtol=1e-4)
        explained = Q[i, rest] @ np.linalg.solve(Q[np.ix_(rest, rest)], Q[rest, i])
        assert_allclose(left_out.sd[i] ** 2, Q[i, i] - explained, rtol=1e-4)


def test_gradients_of_the_posterior() -> None:
    own = evidence(50)
    posterior, _ = sparse_posterior(own, Z, own.X[:15], cautious=True)
    X = np.random.default_rng(2).random((4, 3))
    _, _, by_mean, by_variance = posterior.moments(X)
    for c, h in enumerate(1e-6 * np.eye(3)):
        above, below = posterior(X + h), posterior(X - h)
        assert_allclose(by_mean[:, c], (above[0] - below[0]) / 2e-6, rtol=1e-5, atol=1e-6)
        assert_allclose(by_variance[:, c], (above[1] - below[1]) / 2e-6, rtol=1e-4, atol=1e-5)


def test_inducing_rows_are_new_and_begin_with_those_that_are_asked_for() -> None:
    X = np.random.default_rng(0).random((100, 2)) * 5
    X[50:] = X[:50]
    rows = inducing_rows(X, 30, first=np.array([3, 53, 9]), among=np.arange(100))
    assert rows[:2].tolist() == [3, 9]
    assert len({tuple(x) for x in X[rows]}) == len(rows) == 30
    K = squared_exponential(X, X[rows])
    left = 1 - np.einsum("ij,ji->i", K, np.linalg.solve(squared_exponential(X[rows], X[rows]), K.T))
    drawn = np.random.default_rng(1).permutation(50)[:30]
    K = squared_exponential(X, X[drawn])
    own = squared_exponential(X[drawn], X[drawn])
    of_drawn = 1 - np.einsum("ij,ji->i", K, np.linalg.solve(own, K.T))
    assert left.max() < of_drawn.max()
