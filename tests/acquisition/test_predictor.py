"""The quick predictions against those of the models, and their gradients."""

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo.acquisition import Predictor
from hetbo.models import TransferGP
from hetbo.models.marginal_likelihood import MarginalLikelihood
from model_datasets import MODELS, random_dataset

cases = pytest.mark.parametrize("name", MODELS)


def drawn_model(name: str, seed: int, *, noise: bool = False) -> TransferGP:
    """A model with random likely parameters."""
    model = MODELS[name](random_dataset(seed, noise=noise))
    likelihood = MarginalLikelihood(model)
    likelihood.write(likelihood.coordinates.draw(np.random.default_rng(seed)))
    return model


def points(model: TransferGP, count: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """Random points of the target; columns that it does not tune hold anything."""
    encoder = model.data.encoder
    X = np.random.default_rng(seed).random((count, len(encoder.columns)))
    return encoder.snap(X)


@cases
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_predictions_are_the_models(name: str, seed: int, noise: bool) -> None:
    model = drawn_model(name, seed, noise=noise)
    X = points(model, 6, seed)
    posterior = model.posterior(torch.from_numpy(X).unsqueeze(1))
    moments = Predictor(model)(X)
    assert_allclose(moments.mean, posterior.mean.flatten().numpy(), rtol=1e-9, atol=1e-9)
    assert_allclose(moments.sd**2, posterior.variance.flatten().numpy(), rtol=1e-7, atol=1e-9)


@cases
def test_gradients_are_finite_differences(name: str) -> None:
    model = drawn_model(name, 2)
    predictor, X, step = Predictor(model), points(model, 5), 1e-6
    moments = predictor(X)
    for column in range(X.shape[1]):
        up, down = X.copy(), X.copy()
        up[:, column] += step
        down[:, column] -= step
        above, below = predictor(up), predictor(down)
        numeric = (above.mean - below.mean) / (2 * step)
        assert_allclose(moments.mean_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)
        numeric = (above.sd - below.sd) / (2 * step)
        assert_allclose(moments.sd_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)


@cases
def test_conditioned_models_are_predicted_as_well(name: str) -> None:
    model = drawn_model(name, 1)
    X, new = points(model, 4), torch.from_numpy(points(model, 2, 5))
    more = model.condition_on_observations(new, torch.tensor([[0.3], [-0.2]], dtype=new.dtype))
    posterior = more.posterior(torch.from_numpy(X).unsqueeze(1))
    moments = Predictor(more)(X)
    assert_allclose(moments.mean, posterior.mean.flatten().numpy(), atol=1e-9)
    assert_allclose(moments.sd**2, posterior.variance.flatten().numpy(), rtol=1e-7, atol=1e-9)
