"""Kernel matrices against the formulas, written out entry by entry."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from hetbo import Float, JointSpace, Space, Trial
from hetbo.encoding import Dataset
from hetbo.models import (
    ConditionalGP,
    ImputedGP,
    StationaryKernel,
    TargetGP,
    TransferGP,
    fit,
)
from model_datasets import MODELS, dataset, random_dataset

FloatArray = NDArray[np.float64]

seeds = st.integers(0, 10_000)


def scrambled(model: TransferGP, seed: int) -> TransferGP:
    """The model with random parameters inside their constraints."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue
            free = "factor" in name or "logits" in name or "constants" in name
            shape = tuple(parameter.shape)
            draws = rng.normal(size=shape) if free else rng.uniform(0.1, 0.9, shape)
            parameter.copy_(torch.from_numpy(draws))
    return model


def covariance(model: TransferGP) -> FloatArray:
    """The prior covariance of the trials, through GPyTorch."""
    model.train()
    matrix: FloatArray = model(*model.train_inputs).covariance_matrix.detach().numpy()
    return matrix


def numbers(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.detach().numpy(), dtype=np.float64)


def squared_exponential(
    data: Dataset,
    names: tuple[str, ...],
    kernel: StationaryKernel,
    x: FloatArray,
    z: FloatArray,
) -> float:
    total = 0.0
    for name, scale in zip(names, numbers(kernel.lengthscale), strict=True):
        for column in data.encoder.columns.of(name):
            total += ((x[column] - z[column]) / scale) ** 2
    return math.exp(-0.5 * total)


def written_out(
    data: Dataset,
    value: Callable[[int, int, FloatArray, FloatArray], float],
    X: FloatArray | None = None,
) -> FloatArray:
    """A kernel matrix, entry by entry, of points whose gaps are 0 if nothing else is given."""
    points = list(
        zip(data.experiment.tolist(), np.nan_to_num(data.X) if X is None else X, strict=True)
    )
    return np.array([[value(i, j, x, z) for j, z in points] for i, x in points])


@given(seeds, st.integers(1, 4))
def test_conditional_kernel_is_the_sum_over_shared_blocks(seed: int, experiments: int) -> None:
    data = random_dataset(seed, experiments=experiments, trials=3)
    model = scrambled(ConditionalGP(data), seed)
    shared = model.covar_module.shared
    B, weights = numbers(shared.task.matrix), numbers(shared.raw_weight)
    members = data.encoder.joint.members

    def value(i: int, j: int, x: FloatArray, z: FloatArray) -> float:
        terms = (
            B[i, j] * weight * squared_exponential(data, block.parameters, kernel, x, z)
            for block, weight, kernel in zip(
                data.encoder.joint.blocks, weights, shared.blocks, strict=True
            )
            if set(block.parameters) <= set(members[i].space) & set(members[j].space)
        )
        return float(sum(terms))

    assert_allclose(covariance(model), written_out(data, value), rtol=1e-9, atol=1e-12)


@given(seeds, st.integers(1, 4))
def test_residual_kernel_adds_to_pairs_of_one_experiment(seed: int, experiments: int) -> None:
    data = random_dataset(seed, experiments=experiments, trials=3)
    model = scrambled(ImputedGP(data, residual=True), seed)
    residual = model.covar_module.residual
    assert residual is not None
    variances = numbers(residual.raw_variance)
    names = data.encoder.joint.space.names

    def value(i: int, j: int, x: FloatArray, z: FloatArray) -> float:
        within = squared_exponential(data, names, residual.base, x, z)
        return float(variances[i] * within) if i == j else 0.0

    with_residual = covariance(model)
    model.covar_module.residual = None
    added = with_residual - covariance(model)
    assert_allclose(added, written_out(data, value), rtol=1e-9, atol=1e-12)


@given(seeds, st.integers(1, 4))
def test_imputed_kernel_compares_points_whose_gaps_are_filled(seed: int, experiments: int) -> None:
    data = random_dataset(seed, experiments=experiments, trials=3)
    model = scrambled(ImputedGP(data), seed)
    shared = model.covar_module.shared
    B = numbers(shared.task.matrix)
    filled = data.X.copy()
    values = iter(model.imputation.raw_values.detach().numpy())
    logits = model.imputation.logits.detach().numpy()
    for gap in model.imputation.numeric:
        filled[data.experiment == gap.experiment, gap.columns[0]] = next(values)
    for gap in model.imputation.categorical:
        shares = np.exp(logits[: len(gap.columns)])
        logits = logits[len(gap.columns) :]
        rows = data.experiment == gap.experiment
        filled[np.ix_(rows, list(gap.columns))] = shares / shares.sum()
    assert np.isfinite(filled).all()
    names = data.encoder.joint.space.names

    def value(i: int, j: int, x: FloatArray, z: FloatArray) -> float:
        return float(B[i, j] * squared_exponential(data, names, shared.blocks[0], x, z))

    assert_allclose(covariance(model), written_out(data, value, filled), rtol=1e-9, atol=1e-12)


@given(seeds)
def test_main_effects_add_one_kernel_for_each_parameter_alone(seed: int) -> None:
    data = random_dataset(seed, experiments=1, trials=4)
    model = scrambled(TargetGP(data, main_effects=True), seed)
    names = data.encoder.joint.target.space.names
    shared = model.covar_module.shared
    parts = [names, *((name,) for name in names)] if len(names) > 1 else [names]
    assert len(shared.blocks) == len(parts)
    terms = list(zip(numbers(shared.raw_weight), parts, shared.blocks, strict=True))

    def value(_: int, __: int, x: FloatArray, z: FloatArray) -> float:
        total = sum(w * squared_exponential(data, part, k, x, z) for w, part, k in terms)
        return float(numbers(shared.task.matrix)[0, 0] * total)

    assert_allclose(covariance(model), written_out(data, value), rtol=1e-9, atol=1e-12)


def test_main_effects_learn_a_sum_from_few_trials() -> None:
    def function(x: FloatArray) -> FloatArray:
        total: FloatArray = np.sin(5 * x[:, 0]) + np.cos(4 * x[:, 1]) + x[:, 2] ** 2 - x[:, 3]
        return total

    rng = np.random.default_rng(0)
    X, elsewhere = rng.random((20, 4)), rng.random((300, 4))
    space = Space.from_mapping({name: Float(0, 1) for name in "abcd"})
    trials = [
        Trial(dict(zip(space, x.tolist(), strict=True)), float(value))
        for x, value in zip(X, function(X), strict=True)
    ]
    data = Dataset.build(JointSpace.merge(space, []), trials, goal="maximize")
    errors = []
    for main_effects in (True, False):
        model = fit(TargetGP(data, main_effects=main_effects), rng=np.random.default_rng(0))
        predicted = model.posterior(torch.from_numpy(elsewhere).unsqueeze(1)).mean
        wrong = data.scales[0].unscale(numbers(predicted).ravel()) - function(elsewhere)
        errors.append(float(np.sqrt(np.mean(wrong**2))))
    assert errors[0] < errors[1] / 4


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=15)
@given(seed=seeds)
def test_covariances_are_symmetric_and_positive_semi_definite(name: str, seed: int) -> None:
    K = covariance(scrambled(MODELS[name](random_dataset(seed, trials=4)), seed))
    assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * max(1.0, K.max())


def test_experiments_that_share_nothing_are_independent() -> None:
    data = dataset(
        {"target": ("a", "b"), "source": ("c",)}, lambda p: p["a"], {"target": 4, "source": 5}
    )
    K = covariance(scrambled(ConditionalGP(data, residual=True), 1))
    apart = data.experiment[:, None] != data.experiment
    assert (K[apart] == 0).all()
    assert (K[~apart] != 0).all()


def test_one_length_scale_serves_all_columns_of_a_category() -> None:
    model = ImputedGP(random_dataset(1, experiments=4))
    space = model.data.encoder.joint.space
    assert model.covar_module.shared.blocks[0].lengthscale.shape == (len(space),)
    assert len(model.data.encoder.columns) > len(space)
