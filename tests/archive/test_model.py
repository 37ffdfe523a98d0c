"""The weighted sum against a dense model of weights and functions, and finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from archive_data import data_of, source
from hetbo._arrays import FloatArray
from hetbo.archive import ArchiveSurrogate, FittedArchive
from hetbo.archive._gp import noise_of
from hetbo.archive._model import TargetEvidence, TargetPosterior, Weights, _cholesky
from hetbo.errors import FitError
from hetbo.models import squared_exponential

SOURCES = [source(number) for number in range(5)]


def fitted(trials: int, seed: int = 0) -> FittedArchive:
    data = data_of(SOURCES, trials, seed)
    model = ArchiveSurrogate().fit(data, rng=np.random.default_rng(0))
    assert isinstance(model, FittedArchive)
    return model


def points(count: int, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).random((count, 6))


def dense(model: FittedArchive, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Predictions from one normal vector of `c`, `b`, all `δ`, and `r` everywhere."""
    own, z = model.evidence, model.z
    every = np.concatenate([own.X, X])
    library, weights = model.library, own.weights
    F = library.functions(library.covariances(every)) - weights.centres
    n, count = len(own.y), F.shape[1]
    inverse = own.own.inverse(np.exp(z[2:-1]), 6)
    prior = np.zeros((2 + count + len(every), 2 + count + len(every)))
    doubt = min(1.0, max(n, 1) / 5) ** 2
    prior[0, 0], prior[1, 1] = 1.0, doubt * 0.4**2
    prior[2 : 2 + count, 2 : 2 + count] = doubt * math.exp(z[0]) * np.diag(weights.shares)
    R = squared_exponential(every * inverse, every * inverse, math.exp(z[1]))
    prior[2 + count :, 2 + count :] = R
    phi = F @ weights.combined
    A = np.column_stack([np.ones(len(every)), phi, F, np.eye(len(every))])
    mean, joint = 0.8 * phi, A @ prior @ A.T
    K = joint[:n, :n] + np.diag(noise_of(own.known, math.exp(z[-1])) + 1e-8)
    cross = joint[n:, :n]
    found = mean[n:] + cross @ np.linalg.solve(K, own.y - mean[:n])
    variance = np.diag(joint)[n:] - np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    return found, np.sqrt(variance)


@settings(max_examples=8)
@given(seed=st.integers(0, 100), trials=st.integers(0, 12))
def test_predictions_are_those_of_the_dense_model(seed: int, trials: int) -> None:
    model = fitted(trials, seed)
    X = points(5, seed)
    mean, sd = dense(model, X)
    for found in (model.values(X), (model(X).mean, model(X).sd)):
        assert_allclose(found[0], mean, rtol=1e-6, atol=1e-8)
        assert_allclose(found[1], sd, rtol=1e-5)


@pytest.mark.parametrize("trials", [0, 1, 9])
def test_gradients(trials: int) -> None:
    model, X = fitted(trials), points(4)
    moments = model(X)
    for c, h in enumerate(1e-6 * np.eye(6)):
        above, below = model(X + h), model(X - h)
        mean, sd = (above.mean - below.mean) / 2e-6, (above.sd - below.sd) / 2e-6
        assert_allclose(moments.mean_gradient[:, c], mean, rtol=1e-4, atol=1e-6)
        assert_allclose(moments.sd_gradient[:, c], sd, rtol=1e-4, atol=1e-6)


@settings(max_examples=8)
@given(seed=st.integers(0, 100))
def test_gradient_of_the_evidence(seed: int) -> None:
    model = fitted(8, seed)
    own = model.evidence
    z = model.z + 0.2 * np.random.default_rng(seed).normal(size=len(model.z))
    differences = [(own(z + h)[0] - own(z - h)[0]) / 2e-6 for h in 1e-6 * np.eye(len(z))]
    assert_allclose(own(z)[1], differences, rtol=1e-4, atol=1e-4)


def test_left_out_trials_by_brute_force() -> None:
    model = fitted(9)
    own = model.evidence
    found = model.leave_one_out()
    assert_allclose(found.observed, own.y)
    for i in range(9):
        rest = np.arange(9) != i
        less = TargetEvidence(
            own.own,
            own.weights,
            own.X[rest],
            own.y[rest],
            own.known[rest],
            own.F[rest],
            own.measured,
        )
        mean, sd = TargetPosterior(model.library, less, model.z).values(own.X[i : i + 1])
        assert_allclose(found.mean[i], mean[0], rtol=1e-5, atol=1e-8)
        noise = math.exp(model.z[-1]) + 1e-8
        assert_allclose(found.sd[i], math.sqrt(sd[0] ** 2 + noise), rtol=1e-5)


def test_conditioning_is_having_measured() -> None:
    model, X = fitted(6), points(3)
    believed = model(X).mean
    conditioned = model.condition(X, believed)
    new = points(4, seed=7)
    # What is believed was expected: means stay, uncertainty shrinks.
    assert_allclose(conditioned.values(new)[0], model.values(new)[0], atol=1e-6)
    assert (conditioned.values(new)[1] < model.values(new)[1]).all()
    assert conditioned.values(X)[1].max() < 0.2
    moments = conditioned(new)
    assert_allclose(moments.mean, conditioned.values(new)[0])


def test_shares_are_even_where_nothing_is_told() -> None:
    assert_allclose(Weights(np.zeros(4), np.zeros(4)).shares, 0.25)
    shares = Weights(np.array([1.0, -1.0, 0.0, 0.0]), np.zeros(4)).shares
    assert_allclose(shares, [0.475, 0.475, 0.025, 0.025])


def test_a_covariance_that_cannot_be_factored_is_told_in_words() -> None:
    with pytest.raises(FitError, match="the target's 2 trials cannot be factored"):
        _cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
