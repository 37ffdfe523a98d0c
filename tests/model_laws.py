"""What holds for every Gaussian process of ours, whatever its kernel: for tests of models."""

import numpy as np
import pytest
import torch
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.testing import assert_allclose

from hetbo._arrays import FloatArray
from hetbo.models import FittedGP, MarginalLikelihood, StationaryKernel, TransferGP
from hetbo.models._stationary import Scaled


def with_random_parameters(model: TransferGP, seed: int) -> TransferGP:
    """The model with random likely parameters."""
    likelihood = MarginalLikelihood(model)
    likelihood.write(likelihood.vector.draw(np.random.default_rng(seed)))
    return model


def gpytorch_log_posterior(model: TransferGP) -> torch.Tensor:
    """The log posterior of the parameters as they are, as GPyTorch computes it."""
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    mll.train()
    value = mll(model(*model.train_inputs), model.train_targets, *model.train_inputs)
    model.eval()
    return torch.as_tensor(value) * len(model.train_targets)


def points_of(model: TransferGP, count: int, seed: int = 0) -> FloatArray:
    """Random points of the target; columns that it does not tune hold anything."""
    encoder = model.data.encoder
    return encoder.snap(np.random.default_rng(seed).random((count, len(encoder.columns))))


def check_log_posterior(model: TransferGP, seed: int) -> None:
    """The closed form is GPyTorch's value."""
    likelihood = MarginalLikelihood(model)
    z = likelihood.vector.draw(np.random.default_rng(seed))
    value, _ = likelihood(z)
    likelihood.write(z)
    assert_allclose(value, gpytorch_log_posterior(model).item(), atol=1e-8, rtol=1e-8)


def between_by_differences(kernel: StationaryKernel, a: Scaled, b: Scaled) -> torch.Tensor:
    """A stationary kernel between two sets of points."""
    differences = a.points.unsqueeze(-2) - b.points.unsqueeze(-3)
    return kernel.of(-0.5 * differences.square().sum(-1))


def check_gradient(model: TransferGP, seed: int) -> None:
    """The gradient is that of automatic differentiation."""
    likelihood = MarginalLikelihood(model)
    z = likelihood.vector.draw(np.random.default_rng(seed))
    _, gradient = likelihood(z)
    likelihood.write(z)
    # The means are the best ones, so what they would do with the other parameters is left out.
    # As products, distances of equal points are rounding errors, whose slopes noise of 1e-4 makes
    # 1e8 times as large: the oracle takes differences.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StationaryKernel, "between", between_by_differences)
        torch.autograd.backward(gpytorch_log_posterior(model))
    for name, slot in likelihood.vector.slots.items():
        if slot.parameter.numel() == 0:
            continue
        assert slot.parameter.grad is not None
        expected = slot.parameter.grad.numpy().ravel()
        if slot.log:
            expected = expected * np.exp(z[slot.where])
        scale = np.abs(expected).max(initial=1.0)
        assert_allclose(gradient[slot.where], expected, atol=1e-5 * scale, err_msg=name)


def check_predictions(model: TransferGP, X: FloatArray) -> None:
    """The quick predictions are those of BoTorch's posterior."""
    posterior = model.posterior(torch.from_numpy(X).unsqueeze(1))
    moments, (mean, sd) = FittedGP(model)(X), FittedGP(model).values(X)
    assert_allclose(moments.mean, posterior.mean.detach().flatten(), rtol=1e-9, atol=1e-9)
    assert_allclose(moments.sd**2, posterior.variance.detach().flatten(), rtol=1e-7, atol=1e-9)
    assert_allclose(mean, moments.mean, rtol=1e-10, atol=1e-12)
    assert_allclose(sd, moments.sd, rtol=1e-8, atol=1e-12)


def check_gradients_of_predictions(model: TransferGP, X: FloatArray) -> None:
    """The gradients of quick predictions are finite differences."""
    fitted, step = FittedGP(model), 1e-5  # smaller ones are lost in rounding
    moments = fitted(X)
    for column in range(X.shape[1]):
        move = step * np.eye(X.shape[1])[column]
        above, below = fitted(X + move), fitted(X - move)
        numeric = (above.mean - below.mean) / (2 * step)
        assert_allclose(moments.mean_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)
        numeric = (above.sd - below.sd) / (2 * step)
        assert_allclose(moments.sd_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)
