"""The posterior of a fitted model, from one Cholesky factor.

Called with tensors it serves BoTorch; `moments` and `values` serve the search for the next point,
which asks some hundred times for the predictions of a handful of points and would spend its time
in overhead otherwise: they evaluate the same factors in plain NumPy.
"""

import functools
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from hetbo._arrays import BoolArray, FloatArray
from hetbo.errors import FitError
from hetbo.models._findings import LeaveOneOut
from hetbo.models._inputs import split_inputs
from hetbo.models._stationary import (
    Scaled,
    StationaryKernel,
    exponents,
    weighted_differences,
)
from hetbo.models._surrogate import Moments

if TYPE_CHECKING:
    from hetbo.models._base import TransferGP

JITTERS = (0.0, 1e-8, 1e-6, 1e-4)
"""What is added to a covariance's diagonal until it can be factored.

`cholesky` adds these parts of the diagonal's mean. `MarginalLikelihood` adds them as they are:
outcomes are scaled, so that the mean of its diagonal is about 1.
"""

_SMALLEST_VARIANCE = 1e-9
_CHUNK = 1024
"""So many points at once fit into the processor's cache, which is quicker than one large matrix."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Term:
    """One term `A_ii' k(x, x')` of the covariance, its parameters as they were."""

    factor: Tensor
    kernel: StationaryKernel
    inverse: Tensor
    trials: Scaled

    @classmethod
    def of(cls, factor: Tensor, kernel: StationaryKernel, trials: Tensor) -> "_Term":
        inverse = kernel.inverse
        return cls(factor.clone(), kernel, inverse, kernel.scaled(trials, inverse))

    def scaled(self, points: Tensor) -> Scaled:
        return self.kernel.scaled(points, self.inverse)


class Posterior:
    """The posterior of a model whose parameters stay as they are.

    Gradients flow to the points, not to the model's parameters.

    Args:
        model: The model. Its training data may have batch dimensions; `moments`, `values` and
            `leave_one_out` need data without.

    Attributes:
        parameters: The model's parameters when this was made.
        experiment: Shape `… × n`: the trials' experiments.
    """

    def __init__(self, model: "TransferGP") -> None:
        with torch.no_grad():
            self.parameters = parameters_of(model)
            inputs, self._y = model.train_inputs[0], model.train_targets
            filled = model.imputation(inputs)
            self._missing, self._filling = model.imputation.missing, model.imputation.table()
            self._means = model.mean_module.constants.clone()
            self._terms = [
                _Term.of(factor, kernel, filled[..., :-2])
                for factor, kernel in model.covar_module.terms()
            ]
            # Every kernel is 1 at distance 0: the prior variance is a sum of diagonals.
            self._variances = torch.stack([term.factor for term in self._terms]).sum(0).diagonal()
            self._trials = [term.trials for term in self._terms]
            self.experiment = split_inputs(inputs)[1]
            covariance = self._covariance(
                self._trials, self.experiment, self._trials, self.experiment
            )
            noise = model.likelihood.noise_covar(inputs).diagonal()
            factor = cholesky(covariance + torch.diag_embed(noise))
            identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
            # The inverse of the factor, and the covariance's inverse times the centred values.
            self._root = torch.linalg.solve_triangular(factor, identity, upper=False)
            centred = (self._y - model.mean_module(filled)).unsqueeze(-1)
            self._weights = (self._root.mT @ (self._root @ centred)).squeeze(-1)

    def __call__(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and covariance at inputs of `d + 2` columns.

        Args:
            inputs: Shape `… × q × (d + 2)`.

        Returns:
            Mean `… × q` and covariance `… × q × q`.
        """
        points, experiment, _ = split_inputs(inputs)
        points = torch.where(self._missing[experiment], self._filling[experiment], points)
        if self._root.ndim > 2:  # noqa: PLR2004  # each batch has trials of its own
            mean, explained = self._explain(points, experiment)
        else:
            # One set of trials serves all batches: one product of two matrices does as well.
            mean, explained = self._explain(
                points.reshape(-1, points.shape[-1]), experiment.reshape(-1)
            )
            mean = mean.reshape(experiment.shape)
            explained = explained.reshape(*experiment.shape, explained.shape[-1])
        if points.shape[-2] == 1:
            variance = self._variances[experiment] - explained.square().sum(-1)
            return mean, variance.clamp_min(_SMALLEST_VARIANCE).unsqueeze(-1)
        own = [term.scaled(points) for term in self._terms]
        covariance = self._covariance(own, experiment, own, experiment) - explained @ explained.mT
        # Rounding can make it slightly indefinite, for instance where two points are the same.
        lack = (-covariance.diagonal(dim1=-2, dim2=-1)).clamp_min(0.0) + _SMALLEST_VARIANCE
        return mean, covariance + torch.diag_embed(lack)

    def _explain(self, points: Tensor, experiment: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean, and `k(x, X) L⁻ᵀ`, whose square the trials take off the variance."""
        own = [term.scaled(points) for term in self._terms]
        cross = self._covariance(own, experiment, self._trials, self.experiment)
        index = experiment if len(self._means) > 1 else torch.zeros_like(experiment)
        mean = self._means[index] + (cross @ self._weights.unsqueeze(-1)).squeeze(-1)
        return mean, cross @ self._root.mT

    def _covariance(
        self,
        first: Sequence[Scaled],
        first_experiment: Tensor,
        second: Sequence[Scaled],
        second_experiment: Tensor,
    ) -> Tensor:
        rows, columns = first_experiment.unsqueeze(-1), second_experiment.unsqueeze(-2)
        values = [
            term.kernel.between(a, b) * term.factor[rows, columns]
            for term, a, b in zip(self._terms, first, second, strict=True)
        ]
        return functools.reduce(torch.add, values)

    def moments(self, X: FloatArray) -> Moments:
        """Return the predictions at points of the target, with gradients.

        Args:
            X: Shape `k × d`.
        """
        return self._quick.moments(X)

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone, in a fraction of the time.

        Args:
            X: Shape `k × d`.
        """
        return self._quick.values(X)

    @cached_property
    def _quick(self) -> "_Quick":
        return _Quick(
            [_QuickTerm.of(term, self.experiment) for term in self._terms],
            float(self._variances[0]),
            float(self._means[0]),
            self._root.numpy(),
            self._weights.numpy(),
            ~self._missing[0].numpy(),
            self._filling[0].numpy(),
        )

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value.

        The parameters stay those of the fit to all trials; only the values are left out in turn.
        """
        own = self.experiment.cpu().numpy() == 0
        precision = self._root.square().sum(-2).cpu().numpy()[own]
        error = self._weights.cpu().numpy()[own] / precision
        observed = self._y.cpu().numpy()[own]
        # From precisions, as they come: by way of variances the last digits would be others.
        log_density = 0.5 * (np.log(precision) - precision * error**2 - math.log(2 * math.pi))
        return LeaveOneOut(observed, observed - error, precision**-0.5, log_density)


@dataclass(frozen=True, slots=True)
class _QuickTerm:
    """One term of the covariance of the target with the trials."""

    kernel: StationaryKernel
    columns: FloatArray
    inverse: FloatArray
    points: FloatArray
    half_norms: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, term: _Term, experiment: Tensor) -> "_QuickTerm":
        return cls(
            term.kernel,
            term.kernel.columns.numpy(),
            term.inverse.numpy(),
            term.trials.points.numpy(),
            term.trials.half_norms.numpy(),
            term.factor[0, experiment].numpy(),
        )

    def covariance(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scaled points, the term, and its derivative by the kernel's `E`."""
        S = X[:, self.columns] * self.inverse
        half = 0.5 * np.einsum("ij,ij->i", S, S)
        E = exponents(S, self.points, self.half_norms, half[:, np.newaxis])
        value, slope = self.kernel.profile(E)
        value *= self.factor
        return S, value, value if slope is None else value * slope


@dataclass(frozen=True, slots=True)
class _Quick:
    """Predictions of the target in plain NumPy."""

    terms: Sequence[_QuickTerm]
    variance: float
    mean: float
    root: FloatArray
    weights: FloatArray
    tuned: BoolArray
    filling: FloatArray

    def moments(self, X: FloatArray) -> Moments:
        X = np.where(self.tuned, X, self.filling)
        parts = [term.covariance(X) for term in self.terms]
        cross = np.zeros((len(X), len(self.weights)))
        for _, value, _ in parts:
            cross += value
        explained = cross @ self.root.T
        variance = self.variance - np.einsum("ij,ij->i", explained, explained)
        sd = np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))
        pull = explained @ self.root
        mean_gradient, sd_gradient = np.zeros_like(X), np.zeros_like(X)
        for term, (S, _, slope) in zip(self.terms, parts, strict=True):
            c, inverse, P = term.columns, term.inverse, term.points
            down = weighted_differences(slope * self.weights, S, P)
            mean_gradient[:, c] -= inverse * down
            down = weighted_differences(slope * pull, S, P)
            sd_gradient[:, c] += inverse * down / sd[:, np.newaxis]
        sd_gradient[variance <= _SMALLEST_VARIANCE] = 0.0
        return Moments(
            self.mean + cross @ self.weights,
            sd,
            mean_gradient * self.tuned,
            sd_gradient * self.tuned,
        )

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, sd = np.empty(len(X)), np.empty(len(X))
        for first in range(0, len(X), _CHUNK):
            chunk = slice(first, first + _CHUNK)
            points = np.where(self.tuned, X[chunk], self.filling)
            cross = np.zeros((len(points), len(self.weights)))
            for term in self.terms:
                cross += term.covariance(points)[1]
            explained = cross @ self.root.T
            variance = self.variance - np.einsum("ij,ij->i", explained, explained)
            sd[chunk] = np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))
            mean[chunk] = self.mean + cross @ self.weights
        return mean, sd


def parameters_of(model: "TransferGP") -> Tensor:
    """Return all parameters as one vector, to see whether they have changed."""
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def cholesky(covariance: Tensor) -> Tensor:
    """Return the Cholesky factor, adding as little to the diagonal as it takes.

    Args:
        covariance: Shape `… × n × n`.

    Raises:
        FitError: No addition helps.
    """
    scale = covariance.diagonal(dim1=-2, dim2=-1).mean(-1) if covariance.shape[-1] else None
    for jitter in JITTERS:
        added = covariance
        if jitter and scale is not None:
            _logger.warning("the covariance is not positive definite; adding %g to it", jitter)
            added = covariance + torch.diag_embed(
                (jitter * scale).unsqueeze(-1).expand(covariance.shape[:-1])
            )
        factor, info = torch.linalg.cholesky_ex(added)
        if not info.any() and bool(factor.isfinite().all()):
            return factor
    raise FitError(
        f"the covariance of the trials cannot be factored, even with {JITTERS[-1]:g} of its mean "
        "added to the diagonal; is there a NaN or an infinite value in the data or parameters?"
    )
