"""Intervals of correlations, against plain conditioning and against known truths."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from hetbo import Experiment, Float, JointSpace, Space, Trial
from hetbo._arrays import FloatArray
from hetbo.encoding import Dataset
from hetbo.models import (
    ConditionalGP,
    Correlation,
    FittedGP,
    ImputedGP,
    TransferGP,
    fit,
    pooled_correlation,
)

SPACE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))


def two_experiments(r: float, *, own: int, seed: int, old: int = 30) -> Dataset:
    """Draw a target and a source from two Gaussian processes of correlation `r`."""
    rng = np.random.default_rng(seed)
    X = rng.random((old + own, 2))
    distance = (((X[:, np.newaxis] - X) / 0.35) ** 2).sum(-1)
    root = np.linalg.cholesky(np.exp(-0.5 * distance) + 1e-6 * np.eye(len(X)))
    first, second = (root @ rng.normal(size=(len(X), 2))).T
    target = r * first + np.sqrt(1 - r * r) * second
    source = Experiment("old", SPACE, _trials(X[:old], first[:old]), goal="maximize")
    joint = JointSpace.merge(SPACE, [source])
    return Dataset.build(joint, _trials(X[old:], target[old:]), goal="maximize")


def _trials(X: FloatArray, values: FloatArray) -> list[Trial]:
    return [
        Trial({"x": x, "y": y}, value)
        for (x, y), value in zip(X.tolist(), values.tolist(), strict=True)
    ]


def correlation_of(
    models: Sequence[tuple[TransferGP, float]], first: int, second: int
) -> Correlation:
    return pooled_correlation((FittedGP(m).correlation(first, second), w) for m, w in models)


def fitted(data: Dataset, *, residual: bool = False) -> TransferGP:
    return fit(ImputedGP(data, residual=residual), rng=np.random.default_rng(0))


@pytest.mark.parametrize("residual", [False, True])
def test_the_interval_is_that_of_the_conditional_likelihood(residual: bool) -> None:
    model = fitted(two_experiments(0.6, own=9, seed=3), residual=residual)
    found = correlation_of([(model, 1.0)], 0, 1)
    # The same in the open: one dense covariance for each correlation, and SciPy's densities.
    inputs, y = model.train_inputs[0], model.train_targets.numpy()
    own = inputs[:, -2] == 0
    B = model.covar_module.shared.task.matrix.detach().numpy()
    r_model = B[0, 1] / np.sqrt(B[0, 0] * B[1, 1])
    with torch.no_grad():
        fit_at = (model.covar_module(inputs, inputs).to_dense()).numpy()
        noise = model.likelihood.noise_covar(inputs).diagonal().numpy()
    variances = B.diagonal().copy()
    if model.covar_module.residual is not None:
        variances += model.covar_module.residual.raw_variance.detach().numpy()
    ceiling = float(np.sqrt(B[0, 0] * B[1, 1] / variances[0] / variances[1]))
    cross = np.outer(own, ~own) | np.outer(~own, own)
    grid = np.linspace(-0.99, 0.99, 397)
    grid = grid[np.abs(grid) < ceiling]
    logs = np.empty(len(grid))
    mean_variance = model.mean_module.spread**2
    same = ~cross
    for index, r in enumerate(grid):
        K = np.where(cross, fit_at / r_model * (r / ceiling), fit_at) + np.diag(noise)
        K += mean_variance * same
        logs[index] = multivariate_normal(np.zeros(len(y)), K).logpdf(y)
    count = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    count -= model.mean_module.constants.numel()
    weights = np.exp((logs - logs.max()) * (max(len(y) - count, 1) + 1) / len(y))
    cumulative = np.cumsum(weights) / weights.sum()
    expected = np.interp([0.025, 0.975], cumulative, grid)
    assert (found.low, found.high) == pytest.approx(expected, abs=0.015)


def test_without_trials_of_one_of_them_nothing_is_known() -> None:
    found = correlation_of([(fitted(two_experiments(0.9, own=0, seed=0)), 1.0)], 0, 1)
    assert (found.low, found.high) == pytest.approx((-0.945, 0.945), abs=0.01)
    assert not found.known


def test_one_trial_tells_nothing() -> None:
    for seed in range(6):
        data = two_experiments(0.9, own=1, seed=seed)
        assert not correlation_of([(fitted(data), 1.0)], 0, 1).known


@pytest.mark.parametrize("r", [-0.9, 0.0, 0.9])
def test_many_trials_tell_the_truth(r: float) -> None:
    inside = 0
    for seed in range(8):
        found = correlation_of([(fitted(two_experiments(r, own=25, seed=seed)), 1.0)], 0, 1)
        inside += found.low <= r <= found.high
        assert found.high - found.low < 1
        assert found.low * r > 0 or found.high * r > 0 or not r
    assert inside >= 6


def test_models_are_weighed() -> None:
    data = two_experiments(0.9, own=12, seed=1)
    one, two = fitted(data), fitted(data, residual=True)
    alone = [correlation_of([(model, 1.0)], 0, 1) for model in (one, two)]
    assert correlation_of([(one, 0.5), (two, 0.0)], 0, 1) == alone[0]
    both = correlation_of([(one, 0.5), (two, 0.5)], 0, 1)
    assert min(a.low for a in alone) <= both.low <= max(a.low for a in alone)
    assert both.estimate == pytest.approx(sum(a.estimate for a in alone) / 2)


def test_it_works_for_blocks_and_without_any_model() -> None:
    data = two_experiments(0.9, own=12, seed=1)
    model = fit(ConditionalGP(data), rng=np.random.default_rng(0))
    assert correlation_of([(model, 1.0)], 0, 1).low > 0
    assert correlation_of([], 0, 1) == Correlation(0.0)


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [(-0.2, 0.9, True), (-0.9, 0.2, True), (-0.5, 0.5, False), (0.5, 0.9, True), (-0.1, 0.1, True)],
)
def test_what_counts_as_known(low: float, high: float, known: bool) -> None:
    assert Correlation(0.0, low, high).known is known
