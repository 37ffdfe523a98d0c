"""How two experiments go along with each other, and how well their trials tell.

A fit returns one correlation, which is mostly its prior's while trials are few. So the correlation
of a pair is moved through its range, the rest of the model as it was fitted, and the likelihood of
the one experiment's values given the other's says which correlations the trials do not rule out.
With `A` and `S` the covariances of the two, noise and unknown means included, and `C` their
covariance if they went along perfectly, the values of the first are normal with mean `ρ μ` and
covariance `A - ρ² Q`, where `μ = C S⁻¹ y` and `Q = C S⁻¹ Cᵀ`. In the basis in which `A` is 1 and
`Q` is diagonal, one sum serves all `ρ`.
"""

import numpy as np
import torch
from scipy.linalg import cho_solve, eigh, solve_triangular
from torch import Tensor

from hetbo._arrays import FloatArray
from hetbo._threads import one_thread_for
from hetbo.models._base import TransferGP
from hetbo.models._findings import CORRELATIONS, CorrelationDensity
from hetbo.models._inputs import split_inputs
from hetbo.models._learned_values import spare_trials, student_likelihood
from hetbo.models._posterior import cholesky

_UNKNOWN_MEAN = 10.0
"""The standard deviation of a mean without a prior, in units of the scaled values."""


def correlation_density(model: TransferGP, first: int, second: int) -> CorrelationDensity:
    """Return how two experiments go along in a fitted model, by their positions."""
    estimate, ceiling = _shared_correlations(model, first, second)
    return CorrelationDensity(estimate, _density(model, first, second, ceiling))


def task_correlations(model: TransferGP) -> tuple[FloatArray, FloatArray]:
    """Return how experiments go along with each other in a model, and their variances.

    Returns:
        Shapes `m × m` and `m`, for the target and the sources in the order of the joint space.
    """
    B = model.covar_module.shared.task.matrix.detach().numpy()
    variances = np.diagonal(B).copy()
    if model.covar_module.residual is not None:
        variances += model.covar_module.residual.raw_variance.detach().numpy()
    return B / np.sqrt(np.outer(variances, variances)), variances


def _shared_correlations(model: TransferGP, first: int, second: int) -> tuple[float, float]:
    """Return the correlation in a model, and the largest one that its residuals leave room for."""
    r, variances = task_correlations(model)
    shared = model.covar_module.shared.task.matrix.detach().numpy().diagonal() / variances
    return float(r[first, second]), float(np.sqrt(shared[first] * shared[second]))


def _density(model: TransferGP, first: int, second: int, ceiling: float) -> FloatArray:
    """Return the density of a pair's correlation on the grid, uniform where nothing is known."""
    rho = CORRELATIONS / ceiling
    inside = np.abs(rho) < 1.0
    with torch.no_grad(), one_thread_for(len(model.train_targets)):
        logs = _log_likelihood(model, first, second, rho[inside])
    loss = logs.max() - logs
    density = np.zeros(len(CORRELATIONS))
    density[inside] = student_likelihood(loss, len(model.train_targets), spare_trials(model))
    return density / density.sum()


def _log_likelihood(model: TransferGP, first: int, second: int, rho: FloatArray) -> FloatArray:
    """Return the log likelihoods of the first experiment's values, given the second's."""
    rows = {which: _rows(model, which) for which in (first, second)}
    if not all(len(y) for _, y in rows.values()):
        return np.zeros(len(rho))
    (X, y), (X_other, y_other) = rows[first], rows[second]
    S = cholesky(_covariance(model, X_other)).numpy()
    C = _agreement(model, X, X_other, first, second).numpy()
    root = np.linalg.cholesky(_covariance(model, X).numpy())
    mean = solve_triangular(root, C @ cho_solve((S, True), y_other.numpy()), lower=True)
    half = solve_triangular(S, solve_triangular(root, C, lower=True).T, lower=True)
    shares, basis = eigh(half.T @ half)
    u, v = basis.T @ solve_triangular(root, y.numpy(), lower=True), basis.T @ mean
    left = np.maximum(1.0 - np.outer(rho**2, np.clip(shares, 0.0, 1.0)), 1e-9)
    logs: FloatArray = -0.5 * ((u - np.outer(rho, v)) ** 2 / left + np.log(left)).sum(1)
    return logs


def _rows(model: TransferGP, experiment: int) -> tuple[Tensor, Tensor]:
    """Return the inputs of an experiment's trials, their gaps filled, and their values."""
    inputs = model.imputation(model.train_inputs[0])
    own = split_inputs(inputs)[1] == experiment
    values = model.train_targets[own]
    if len(model.mean_module.constants) == 1:
        values = values - model.mean_module(inputs[own])
    return inputs[own], values


def _covariance(model: TransferGP, X: Tensor) -> Tensor:
    """Return the covariance of one experiment's values, noise and an unknown mean included."""
    noise = torch.diag(model.likelihood.noise_covar(X).diagonal())
    covariance = model.covar_module.forward(X, X) + noise
    if len(model.mean_module.constants) == 1:
        return covariance
    return covariance + min(model.mean_module.spread, _UNKNOWN_MEAN) ** 2


def _agreement(model: TransferGP, X: Tensor, X_other: Tensor, first: int, second: int) -> Tensor:
    """Return the covariance that two experiments would have if they went along perfectly."""
    shared = model.covar_module.shared
    variances = shared.task.matrix.diagonal()
    terms = [mask[first, second] * kernel.forward(X, X_other) for mask, kernel in shared.parts()]
    return (variances[first] * variances[second]).sqrt() * torch.stack(terms).sum(0)
