"""The posterior of a fitted model, from one Cholesky factor."""

import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hetbo.errors import FitError
from hetbo.models.kernels import SquaredExponential, split_inputs

if TYPE_CHECKING:
    from hetbo.models.base import TransferGP

JITTERS = (0.0, 1e-8, 1e-6, 1e-4)
"""What is added to a covariance's diagonal, relative to its mean, until it can be factored."""

_SMALLEST_VARIANCE = 1e-9

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scaled:
    """Points in units of a term's length-scales, and half of their squared norms."""

    points: Tensor
    half_norms: Tensor


@dataclass(frozen=True, slots=True)
class Term:
    """One term `A_ii' exp(-½ |x - x'|²)` of the covariance."""

    factor: Tensor
    columns: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, factor: Tensor, base: SquaredExponential) -> "Term":
        """Return the term that a kernel makes with a factor, `m × m`."""
        return cls(factor.clone(), base.columns, base.inverse)

    def scaled(self, points: Tensor) -> Scaled:
        """Return points in units of the term's length-scales."""
        scaled = points[..., self.columns] * self.inverse
        return Scaled(scaled, 0.5 * scaled.square().sum(-1))


class Prediction:
    """The posterior of a model whose parameters stay as they are.

    Gradients flow to the points, not to the model's parameters.

    Args:
        model: The model. Its training data may have batch dimensions.

    Attributes:
        parameters: The model's parameters when this was made.
        terms: The terms of the covariance that depend on the points.
        constant: The term that does not, `m × m`, if there is one.
        trials: The trials' points, once per term.
        experiment: Shape `… × n`: the trials' experiments.
        variances: Shape `m`: the prior variance of each experiment.
        means: The mean of each experiment, or the one of all.
        root: Shape `… × n × n`: the inverse of the Cholesky factor of the trials' covariance.
        weights: Shape `… × n`: that covariance's inverse times the centred values.
    """

    def __init__(self, model: "TransferGP") -> None:
        with torch.no_grad():
            self.parameters = parameters_of(model)
            inputs = model.train_inputs[0]
            filled = model.imputation(inputs)
            self._missing, self._fill = model.imputation.missing, model.imputation.table()
            self.means = model.mean_module.constants.clone()
            shared, residual = model.covar_module.shared, model.covar_module.residual
            pairs = [*zip(shared.factors(), shared.blocks, strict=True)]
            if residual is not None:
                pairs.append((residual.matrix, residual.base))
            self.terms = [Term.of(factor, base) for factor, base in pairs]
            self.constant = (
                None if shared.presence is None else shared.task.matrix * shared.presence.matrix
            )
            # Every term is 1 at distance 0: the prior variance is a sum of diagonals.
            matrices = [term.factor for term in self.terms]
            matrices += [] if self.constant is None else [self.constant]
            self.variances = torch.stack(matrices).sum(0).diagonal()
            self.trials = [term.scaled(filled[..., :-2]) for term in self.terms]
            self.experiment = split_inputs(inputs)[1]
            covariance = self._covariance(
                self.trials, self.experiment, self.trials, self.experiment
            )
            noise = model.likelihood.noise_covar(inputs).diagonal()
            factor = cholesky(covariance + torch.diag_embed(noise))
            identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
            self.root = torch.linalg.solve_triangular(factor, identity, upper=False)
            centred = (model.train_targets - model.mean_module(filled)).unsqueeze(-1)
            self.weights = (self.root.mT @ (self.root @ centred)).squeeze(-1)

    def __call__(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and covariance at inputs of `d + 2` columns.

        Args:
            inputs: Shape `… × q × (d + 2)`.

        Returns:
            Mean `… × q` and covariance `… × q × q`.
        """
        points, experiment, _ = split_inputs(inputs)
        points = torch.where(self._missing[experiment], self._fill[experiment], points)
        if self.root.ndim > 2:  # noqa: PLR2004  # each batch has trials of its own
            mean, explained = self._explain(points, experiment)
        else:
            # One set of trials serves all batches: one product of two matrices does as well.
            mean, explained = self._explain(
                points.reshape(-1, points.shape[-1]), experiment.reshape(-1)
            )
            mean = mean.reshape(experiment.shape)
            explained = explained.reshape(*experiment.shape, explained.shape[-1])
        if points.shape[-2] == 1:
            variance = self.variances[experiment] - explained.square().sum(-1)
            return mean, variance.clamp_min(_SMALLEST_VARIANCE).unsqueeze(-1)
        own = [term.scaled(points) for term in self.terms]
        covariance = self._covariance(own, experiment, own, experiment) - explained @ explained.mT
        # Rounding can make it slightly indefinite, for instance where two points are the same.
        lack = (-covariance.diagonal(dim1=-2, dim2=-1)).clamp_min(0.0) + _SMALLEST_VARIANCE
        return mean, covariance + torch.diag_embed(lack)

    def _explain(self, points: Tensor, experiment: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean, and `k(x, X) L⁻ᵀ`, whose square the trials take off the variance."""
        own = [term.scaled(points) for term in self.terms]
        cross = self._covariance(own, experiment, self.trials, self.experiment)
        index = experiment if len(self.means) > 1 else torch.zeros_like(experiment)
        mean = self.means[index] + (cross @ self.weights.unsqueeze(-1)).squeeze(-1)
        return mean, cross @ self.root.mT

    def _covariance(
        self,
        first: Sequence[Scaled],
        first_experiment: Tensor,
        second: Sequence[Scaled],
        second_experiment: Tensor,
    ) -> Tensor:
        rows, columns = first_experiment.unsqueeze(-1), second_experiment.unsqueeze(-2)
        values = [] if self.constant is None else [self.constant[rows, columns]]
        for term, a, b in zip(self.terms, first, second, strict=True):
            exponent = a.points @ b.points.mT
            exponent = exponent - a.half_norms.unsqueeze(-1) - b.half_norms.unsqueeze(-2)
            values.append(exponent.clamp_max(0.0).exp() * term.factor[rows, columns])
        return functools.reduce(torch.add, values)


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
