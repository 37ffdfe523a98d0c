"""The closed form against GPyTorch's value and automatic differentiation."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo.models import Settings
from hetbo.models._task_covariance import TaskCovariancePrior, task_log_prior
from model_datasets import MODELS, random_dataset
from model_laws import (
    check_gradient,
    check_log_posterior,
    gpytorch_log_posterior,
    with_random_parameters,
)

cases = pytest.mark.parametrize("name", MODELS)


@cases
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_value_with_priors_is_gpytorchs(name: str, seed: int, noise: bool) -> None:
    check_log_posterior(MODELS[name](random_dataset(seed, noise=noise)), seed)


@cases
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_gradient_is_that_of_automatic_differentiation(name: str, seed: int, noise: bool) -> None:
    check_gradient(MODELS[name](random_dataset(seed, noise=noise)), seed)


@cases
def test_the_means_are_the_best_ones(name: str) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(3)), 3)
    torch.autograd.backward(gpytorch_log_posterior(model) / len(model.train_targets))
    assert model.mean_module.constants.grad.abs().max() < 1e-10


def test_a_vector_reads_what_it_wrote() -> None:
    model = MODELS["imputed, residual"](random_dataset(5))
    vector = model.parameter_vector()
    z = vector.draw(np.random.default_rng(0))
    vector.write(z)
    assert_allclose(vector.read(), z, atol=1e-12)
    assert (z >= vector.bounds[0]).all()
    assert (z <= vector.bounds[1]).all()


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
