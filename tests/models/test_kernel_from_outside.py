"""A kernel of one's own is one new class: Matérn-5/2, in this file."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from gpytorch.kernels import MaternKernel
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from torch import Tensor

from hetbo import Optimizer
from hetbo.encoding import Dataset
from hetbo.methods import EnsembleMember, Recipe
from hetbo.models import (
    CommonGP,
    ConditionalGP,
    GPSurrogate,
    ImputedGP,
    MarginalLikelihood,
    StationaryKernel,
    TargetGP,
    TransferGP,
    fit,
)
from model_datasets import random_dataset
from model_laws import (
    check_gradients_of_predictions,
    check_log_posterior,
    check_predictions,
    points_of,
    with_random_parameters,
)

FloatArray = NDArray[np.float64]

MODELS: Mapping[str, Callable[[Dataset], TransferGP]] = {
    "conditional": lambda data: ConditionalGP(data, kernel=Matern, residual=True),
    "imputed": lambda data: ImputedGP(data, kernel=Matern, residual=True),
    "common": lambda data: CommonGP(data, kernel=Matern),
    "target": lambda data: TargetGP(data, kernel=Matern, main_effects=True),
}
cases = pytest.mark.parametrize("name", MODELS)


class Matern(StationaryKernel):
    """`(1 + a + a²/3) exp(-a)`, `a` being √5 times the distance."""

    def of(self, E: Tensor) -> Tensor:
        # The root has no slope at 0; the kernel has one there.
        a = (-10.0 * E).clamp_min(1e-20).sqrt()
        return (1 + a + a.square() / 3) * (-a).exp()

    def profile(self, E: FloatArray) -> tuple[FloatArray, FloatArray]:
        a = np.sqrt(-10.0 * E)
        polynomial = 1 + a + a * a / 3
        return polynomial * np.exp(-a), 5 / 3 * (1 + a) / polynomial


def test_it_is_gpytorchs() -> None:
    kernel = MODELS["target"](random_dataset(2)).covar_module.shared.blocks[0]
    theirs = MaternKernel(nu=2.5)
    theirs.lengthscale = 1.0
    X = torch.from_numpy(np.random.default_rng(0).random((5, 40)))
    scaled = kernel.scaled(X).points
    expected = theirs.to(torch.float64)(scaled, scaled).to_dense()
    assert_allclose(kernel.forward(X, X).detach(), expected.detach(), atol=1e-9)


@cases
def test_the_log_posterior_is_gpytorchs(name: str) -> None:
    check_log_posterior(MODELS[name](random_dataset(2)), 2)


@cases
def test_its_gradient_is_finite_differences(name: str) -> None:
    likelihood = MarginalLikelihood(MODELS[name](random_dataset(2)))
    z = likelihood.vector.draw(np.random.default_rng(0))
    _, gradient = likelihood(z)
    for index in range(len(z)):
        step = 1e-6 * np.eye(len(z))[index]
        numeric = (likelihood(z + step)[0] - likelihood(z - step)[0]) / 2e-6
        assert gradient[index] == pytest.approx(numeric, rel=1e-4, abs=1e-5)


@cases
def test_quick_predictions_are_the_posteriors(name: str) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(2)), 2)
    X = points_of(model, 5)
    check_predictions(model, X)
    check_gradients_of_predictions(model, X)


def test_a_model_with_it_is_fitted_and_chooses() -> None:
    model = fit(MODELS["imputed"](random_dataset(3)), starts=2)
    assert model.fit_report is not None
    assert np.isfinite(model.fit_report.map_value)
    recipe = Recipe({"rough": EnsembleMember(GPSurrogate(MODELS["target"]))}, "Matérn")
    space = random_dataset(3).encoder.joint.target.space
    tuner = Optimizer(space, goal="minimize", method=recipe, seed=0, n_initial=2)
    for value in (3.0, 1.0, 2.0):
        tuner.tell(tuner.ask(), value)
    assert set(tuner.ask().params) == set(space)
