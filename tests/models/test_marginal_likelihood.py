"""The closed form against GPyTorch's value and automatic differentiation."""

import numpy as np
import pytest
import torch
from gpytorch.mlls import ExactMarginalLogLikelihood
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo.models import Settings, TransferGP
from hetbo.models.marginal_likelihood import MarginalLikelihood, task_log_prior
from hetbo.models.priors import TaskCovariancePrior
from model_datasets import MODELS, random_dataset

cases = pytest.mark.parametrize("name", MODELS)


def gpytorch_log_posterior(model: TransferGP) -> torch.Tensor:
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    mll.train()
    value = mll(model(*model.train_inputs), model.train_targets, *model.train_inputs)
    return torch.as_tensor(value) * len(model.train_targets)


@cases
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_value_with_priors_is_gpytorchs(name: str, seed: int, noise: bool) -> None:
    model = MODELS[name](random_dataset(seed, noise=noise))
    likelihood = MarginalLikelihood(model)
    z = likelihood.coordinates.draw(np.random.default_rng(seed))
    value, _ = likelihood(z)
    likelihood.write(z)
    expected = gpytorch_log_posterior(model).item()
    assert value == pytest.approx(expected, abs=1e-8, rel=1e-8)


@cases
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_gradient_is_that_of_automatic_differentiation(name: str, seed: int, noise: bool) -> None:
    model = MODELS[name](random_dataset(seed, noise=noise))
    likelihood = MarginalLikelihood(model)
    z = likelihood.coordinates.draw(np.random.default_rng(seed))
    _, gradient = likelihood(z)
    likelihood.write(z)
    # The means are the best ones, so what they would do with the other parameters is left out.
    torch.autograd.backward(gpytorch_log_posterior(model))
    for group, slot in likelihood.coordinates.slots.items():
        if slot.parameter.numel() == 0:
            continue
        assert slot.parameter.grad is not None
        expected = slot.parameter.grad.numpy().ravel()
        if slot.log:
            expected = expected * np.exp(z[slot.where])
        scale = np.abs(expected).max(initial=1.0)
        assert_allclose(gradient[slot.where], expected, atol=1e-5 * scale, err_msg=group)


@cases
def test_the_means_are_the_best_ones(name: str) -> None:
    model = MODELS[name](random_dataset(3))
    likelihood = MarginalLikelihood(model)
    likelihood.write(likelihood.coordinates.draw(np.random.default_rng(3)))
    torch.autograd.backward(gpytorch_log_posterior(model) / len(model.train_targets))
    assert model.mean_module.constants.grad.abs().max() < 1e-10


def test_coordinates_read_what_they_wrote() -> None:
    model = MODELS["imputed, residual"](random_dataset(5))
    coordinates = MarginalLikelihood(model).coordinates
    z = coordinates.draw(np.random.default_rng(0))
    coordinates.write(z)
    assert_allclose(coordinates.read(), z, atol=1e-12)
    assert (z >= coordinates.bounds[0]).all()
    assert (z <= coordinates.bounds[1]).all()


@given(st.integers(1, 5), st.integers(0, 1000))
def test_task_prior_in_closed_form(size: int, seed: int) -> None:
    factor = np.random.default_rng(seed).normal(size=(size, size))
    B = factor @ factor.T + 0.1 * np.eye(size)
    matrix = torch.tensor(B, requires_grad=True)
    defaults = Settings()
    prior = TaskCovariancePrior(defaults.task_scale, defaults.task_correlation)
    expected = prior.log_prob(matrix)
    torch.autograd.backward(expected)
    value, derivative = task_log_prior(B, defaults.task_scale, defaults.task_correlation)
    assert value == pytest.approx(expected.item(), rel=1e-10)
    assert matrix.grad is not None
    symmetric = (matrix.grad + matrix.grad.mT) / 2
    assert_allclose(derivative, symmetric.numpy(), rtol=1e-8, atol=1e-8)
