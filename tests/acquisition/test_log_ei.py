"""log EI against Monte Carlo, against BoTorch's, and its derivatives."""

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo.acquisition import log_expected_improvement
from hetbo.models import ImputedGP
from model_datasets import random_dataset

means = st.floats(-50.0, 50.0)
sds = st.floats(1e-3, 50.0)
steps = st.floats(1e-3, 10.0)


def value_of(mean: float, sd: float, best: float = 0.0) -> float:
    value, _, _ = log_expected_improvement(np.array([mean]), np.array([sd]), best)
    return float(value[0])


def test_it_is_what_monte_carlo_says() -> None:
    z = np.random.default_rng(0).normal(size=400_000)
    for mean, sd, best in [(0.0, 1.0, 0.0), (1.0, 0.5, 2.0), (-3.0, 2.0, -4.0), (0.3, 0.7, 1.1)]:
        drawn = np.maximum(mean + sd * z - best, 0.0).mean()
        assert_allclose(value_of(mean, sd, best), np.log(drawn), atol=0.02)


def test_it_is_botorchs_from_hopeless_to_certain() -> None:
    u = np.concatenate([-np.logspace(7, -3, 400), np.linspace(-2.0, 40.0, 400)])
    ours, _, _ = log_expected_improvement(u, np.ones_like(u), 0.0)
    theirs = _log_ei_helper(torch.from_numpy(u)).numpy()
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-5)


def test_it_is_botorchs_on_a_model() -> None:
    model = ImputedGP(random_dataset(3))
    X = torch.from_numpy(model.data.encoder.snap(model.data.X[:1].repeat(3, axis=0)))
    X = X.nan_to_num(0.0)
    X[1:] = torch.rand(2, X.shape[1], dtype=X.dtype, generator=torch.Generator().manual_seed(0))
    posterior = model.posterior(X.unsqueeze(1))
    mean, sd = posterior.mean.flatten().numpy(), posterior.variance.flatten().sqrt().numpy()
    theirs = LogExpectedImprovement(model, best_f=torch.tensor(0.4, dtype=X.dtype))(X.unsqueeze(1))
    ours, _, _ = log_expected_improvement(mean, sd, 0.4)
    assert_allclose(ours, theirs.detach().numpy(), rtol=1e-8)


def test_derivatives_are_finite_differences() -> None:
    mean = np.array([-900.0, -30.0, -3.0, -1.0, -0.5, 0.0, 0.7, 4.0, 30.0] * 2)
    sd = np.array([0.5] * 9 + [2.0] * 9)
    _, by_mean, by_sd = log_expected_improvement(mean, sd, 0.25)
    step = 1e-5
    up, down = mean + step, mean - step
    numeric = log_expected_improvement(up, sd, 0.25)[0]
    numeric = (numeric - log_expected_improvement(down, sd, 0.25)[0]) / (2 * step)
    assert_allclose(by_mean, numeric, rtol=1e-4)
    numeric = log_expected_improvement(mean, sd + step, 0.25)[0]
    numeric = (numeric - log_expected_improvement(mean, sd - step, 0.25)[0]) / (2 * step)
    assert_allclose(by_sd, numeric, rtol=1e-4, atol=1e-8)


def test_derivatives_far_out_do_not_break() -> None:
    u = np.array([-1e7, -1e5, -1001.0, -1000.0, -999.0])
    _, by_mean, by_sd = log_expected_improvement(u, np.ones_like(u), 0.0)
    assert_allclose(by_mean, -u, rtol=1e-5)
    assert_allclose(by_sd, u * u, rtol=1e-5)


@given(mean=means, sd=sds, step=steps)
def test_a_higher_mean_is_better(mean: float, sd: float, step: float) -> None:
    assert value_of(mean + step, sd) > value_of(mean, sd)


@given(mean=means, sd=sds, step=steps)
def test_more_uncertainty_is_not_worse(mean: float, sd: float, step: float) -> None:
    more, less = value_of(mean, sd + step), value_of(mean, sd)
    # Where improvement is certain, uncertainty no longer counts.
    assert more > less if mean < 3 * sd else more >= less - 1e-12


@given(mean=means, sd=sds, scale=st.floats(1e-3, 1e3))
def test_units_do_not_matter(mean: float, sd: float, scale: float) -> None:
    scaled = value_of(mean * scale, sd * scale)
    assert_allclose(scaled, value_of(mean, sd) + np.log(scale), rtol=1e-6, atol=1e-6)
