"""The sampled expected improvement against BoTorch's formula, and against the exact one."""

import numpy as np
import pytest
import torch
from botorch.acquisition.logei import qLogExpectedImprovement
from numpy.testing import assert_allclose
from torch import Tensor

from hetbo.acquisition import log_expected_improvement
from hetbo.models import ImputedGP
from hetbo_bench.paper.sampled_log_ei import SampledLogEI
from model_datasets import random_dataset

MEAN = np.array([-20.0, -3.0, -0.5, 0.0, 0.29, 0.3, 0.5, 1.0])
SD = np.array([0.5, 0.1, 0.3, 0.2, 1e-4, 0.01, 0.01, 2.0])
BEST, SPREAD = 0.3, 0.05


def sampled() -> SampledLogEI:
    return SampledLogEI(np.random.default_rng(0), spread=SPREAD)


def botorchs(mean: Tensor, sd: Tensor) -> Tensor:
    """BoTorch's formula on the same draws, of values in units of the outcome."""
    acquisition = qLogExpectedImprovement(
        ImputedGP(random_dataset(0)), best_f=torch.tensor(BEST * SPREAD, dtype=torch.float64)
    )
    draws = torch.from_numpy(sampled()._draws).unsqueeze(-1)
    outcomes = (mean + sd * draws) * SPREAD
    logs = acquisition._sample_forward(outcomes.unsqueeze(-1)).squeeze(-1)
    mean_log: Tensor = logs.logsumexp(0) - np.log(len(draws))
    return mean_log


def test_it_is_botorchs_with_its_gradient() -> None:
    mean = torch.from_numpy(MEAN).requires_grad_()
    sd = torch.from_numpy(SD).requires_grad_()
    theirs = botorchs(mean, sd)
    by_mean, by_sd = torch.autograd.grad(theirs.sum(), [mean, sd])
    ours = sampled()(MEAN, SD, BEST)
    assert_allclose(ours[0], theirs.detach().numpy() - np.log(SPREAD), rtol=1e-7)
    assert_allclose(ours[1], by_mean.numpy(), rtol=1e-6)
    assert_allclose(ours[2], by_sd.numpy(), rtol=1e-6, atol=1e-9)


def test_it_is_near_the_exact_one_where_draws_improve() -> None:
    likely = (MEAN - BEST) / SD > -1.5
    ours, _, _ = sampled()(MEAN[likely], SD[likely], BEST)
    exact, _, _ = log_expected_improvement(MEAN[likely], SD[likely], BEST)
    assert likely.sum() >= 4
    assert_allclose(ours, exact, atol=0.05)


def test_where_no_draw_improves_it_prefers_the_higher_mean() -> None:
    high_and_sure, low_and_wide = (-1.0, 0.1), (-2.0, 0.4)
    mean, sd = np.array([high_and_sure, low_and_wide]).T
    ours, _, _ = sampled()(mean, sd, BEST)
    exact, _, _ = log_expected_improvement(mean, sd, BEST)
    assert ours[0] > ours[1]
    assert exact[0] < exact[1]


@pytest.mark.parametrize("spread", [1.7e308, 5e-324])
def test_outcomes_as_far_apart_as_floats_go_do_not_overflow(spread: float) -> None:
    ours = SampledLogEI(np.random.default_rng(0), spread=spread)(MEAN, SD, BEST)
    assert all(np.isfinite(part).all() for part in ours)


def test_draws_depend_on_the_generator_alone() -> None:
    first, second = sampled()(MEAN, SD, BEST)[0], sampled()(MEAN, SD, BEST)[0]
    assert (first == second).all()
