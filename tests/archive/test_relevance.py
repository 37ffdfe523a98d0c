"""Which sources the target goes along with: densities against plain ones, and what is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from hetbo._arrays import FloatArray
from hetbo.archive import _relevance
from hetbo.archive._relevance import Hypotheses, correlation_densities
from hetbo.models import CORRELATIONS, squared_exponential


def waves(count: int, seed: int = 0) -> FloatArray:
    """Shape `count × 3`: directions of smooth functions."""
    return np.random.default_rng([seed, 1]).normal(size=(count, 3)) * 4


def functions(X: FloatArray, directions: FloatArray) -> FloatArray:
    values: FloatArray = np.sin(X @ directions.T)
    return values


def likeness(F: FloatArray) -> FloatArray:
    return np.array(np.corrcoef(F.T), dtype=np.float64)


COVER = np.random.default_rng(0).random((300, 3))


def case(
    directions: FloatArray, count: int, seed: int
) -> tuple[Hypotheses, FloatArray, FloatArray]:
    """Hypotheses about sources, their functions at random trials, and the trials' correlations."""
    F = functions(COVER, directions)
    centres = F.mean(axis=0)
    X = np.random.default_rng(seed).random((count, 3))
    own = squared_exponential(X / 0.4, X / 0.4)
    return Hypotheses.of(F - centres, likeness(F)), functions(X, directions) - centres, own


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), count=st.integers(1, 12))
def test_evidence_is_that_of_a_dense_normal(seed: int, count: int) -> None:
    hypotheses, F, R = case(waves(4, seed), count, seed)
    y = np.random.default_rng(seed).normal(size=count)
    constant = 0.5 * count * np.log(2 * np.pi)
    for sign, found in zip((1, -1), hypotheses.log_evidence(F, R, y), strict=True):
        for index, weights in enumerate(hypotheses.weights):
            f = F @ weights
            densities = []
            for share in (0.2, 0.5, 0.8, 0.95) if index else (0.0,):
                K = (1 - share) * R + 1.0 + 0.01 * np.eye(count)
                if index:
                    K += (0.2 * share + 0.02) * np.outer(f, f)
                mean = sign * 0.9 * np.sqrt(share) * f
                densities.append(multivariate_normal(mean, K).pdf(y))
            assert_allclose(found[index], np.log(np.mean(densities)) + constant, rtol=1e-6)


def test_combinations_have_a_spread_of_one() -> None:
    directions = waves(5)
    hypotheses, _, _ = case(directions, 1, 0)
    F = functions(COVER, directions)
    assert not hypotheses.weights[0].any()
    assert_allclose(((F - F.mean(axis=0)) @ hypotheses.weights[1:].T).std(axis=0), 1.0)
    assert_allclose(np.exp(hypotheses.log_prior).sum(), 1.0)


def test_without_trials_each_source_counts() -> None:
    directions = waves(6)
    directions[3:] = directions[0]
    hypotheses, _, _ = case(directions, 1, 0)
    combined = hypotheses.combined(np.zeros((0, 6)), np.zeros((0, 0)), np.zeros(0))
    assert (combined > 0).all()
    # What sources 0, 3, 4 and 5 agree on counts by their number.
    assert combined[[0, 3, 4, 5]].sum() > 0.6 * combined.sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_one_source_among_a_hundred_is_found(seed: int, sign: int) -> None:
    hypotheses, F, R = case(waves(100, seed), 30, seed)
    combined = hypotheses.combined(F, R, sign * 1.5 * F[:, 17] + 0.3)
    assert np.abs(combined).argmax() == 17
    assert sign * combined[17] > 0.5 * np.abs(combined).sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_group_among_unrelated_ones_is_found(seed: int) -> None:
    directions = waves(60, seed)
    rng = np.random.default_rng(seed)
    directions[:8] = directions[0] + 0.3 * rng.normal(size=(8, 3))
    hypotheses, F, R = case(directions, 15, seed)
    target = functions(np.random.default_rng(seed).random((15, 3)), directions[:1])[:, 0]
    combined = np.abs(hypotheses.combined(F, R, 2 * target))
    assert combined[:8].sum() > 0.7 * combined.sum()


@pytest.mark.parametrize("seed", range(4))
def test_unrelated_sources_are_left_alone(seed: int) -> None:
    hypotheses, F, R = case(waves(30, seed), 40, seed)
    root = np.linalg.cholesky(R + 0.01 * np.eye(40))
    y = root @ np.random.default_rng([seed, 5]).normal(size=40)
    combined = hypotheses.combined(F, R, y)
    assert (F @ combined).std() < 0.5


def test_the_order_of_sources_makes_no_difference() -> None:
    directions = waves(7)
    order = np.random.default_rng(0).permutation(7)
    found = []
    for chosen in (np.arange(7), order):
        hypotheses, F, R = case(directions[chosen], 12, 0)
        found.append(hypotheses.combined(F, R, np.cos(np.arange(12.0))))
    assert_allclose(found[1], found[0][order], atol=1e-10)


def test_correlations_are_told_by_their_likelihood() -> None:
    directions = waves(3)
    _, F, R = case(directions, 25, 3)
    F /= functions(COVER, directions).std(axis=0)
    own = np.linalg.cholesky(R + 1e-6 * np.eye(25)) @ np.random.default_rng(0).normal(size=25)
    y = 0.9 * F[:, 1] + np.sqrt(1 - 0.9**2) * own
    densities = correlation_densities(F, R, y)
    assert_allclose(densities.sum(axis=0), 1.0)
    assert abs(CORRELATIONS[densities[:, 1].argmax()] - 0.9) < 0.15
    opposite = correlation_densities(F, R, -y)
    assert_allclose(opposite[::-1], densities, atol=1e-12)
    K = (1 - CORRELATIONS[100] ** 2) * R + 1.0 + 0.01 * np.eye(25)
    plain = multivariate_normal(CORRELATIONS[100] * F[:, 1], K).logpdf(y)
    K = (1 - CORRELATIONS[300] ** 2) * R + 1.0 + 0.01 * np.eye(25)
    plain -= multivariate_normal(CORRELATIONS[300] * F[:, 1], K).logpdf(y)
    ratio = np.log(densities[100, 1] / densities[300, 1])
    assert_allclose(ratio, _relevance._TEMPERED * plain, rtol=1e-6)
