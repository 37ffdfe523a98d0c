"""The log posterior of a model's parameters and its gradient, in closed form.

At the sizes of Bayesian optimisation time goes to overhead, not to arithmetic: this evaluates in
plain NumPy what the modules of `kernels.py` and `parts.py` define, with one Cholesky factor and
one gradient `G = dL/dK` for all parameters. GPyTorch stays the place where the parameters live.

With `L = log N(y; Hβ, K) + log p(β) + log p(θ)`, `β` the means and `θ` everything else, the best
`β` for each `θ` has a closed form too. The search is over `θ` alone, and by the envelope theorem
`dL/dθ` needs no term for it.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.linalg import lapack

from hetbo.encoding.encoder import FloatArray
from hetbo.models.coordinates import Coordinates
from hetbo.models.fills import Fills
from hetbo.models.kernels import SquaredExponential
from hetbo.models.parts import LOGIT_SPREAD, SMALLEST_KNOWN_NOISE

if TYPE_CHECKING:
    from hetbo.models.base import TransferGP

_LOG_2PI = math.log(2 * math.pi)


class NotPositiveDefinite(ArithmeticError):  # noqa: N818  # caught by the fit alone
    """The covariance at some parameters cannot be factored."""


class MarginalLikelihood:
    """The log posterior of a model's parameters, given its trials.

    Args:
        model: The model. Its parameters change only by `write`.

    Attributes:
        coordinates: What the entries of the vector `z` of parameters are.
        evaluations: How often it was evaluated.
        jitter: What is added to the diagonal of `K`.
    """

    def __init__(self, model: "TransferGP") -> None:
        self.coordinates = Coordinates(model)
        self.evaluations = 0
        self.jitter = 0.0
        inputs = model.train_inputs[0].detach().cpu().numpy()
        experiment = inputs[:, -2].astype(np.intp)
        self._y = model.train_targets.detach().cpu().numpy()
        self._fills = Fills(model.imputation, inputs[:, :-2], experiment)
        self._kernel = _Kernel(model, self.coordinates, experiment)
        noises = len(model.likelihood.noise)
        self._noise_of = experiment if noises > 1 else np.zeros_like(experiment)
        self._learned = inputs[:, -1] < 0
        self._known = np.where(self._learned, 0.0, np.maximum(inputs[:, -1], SMALLEST_KNOWN_NOISE))
        self._constants = model.mean_module.constants
        self._mean_precision = model.mean_module.spread**-2
        means = len(self._constants)
        self._H = np.eye(means)[experiment if means > 1 else np.zeros_like(experiment)]
        # Without a prior the mean of an experiment without trials is free: it stays at 0.
        free = ~self._H.any(axis=0)
        self._mean_ridge = np.where(free, max(self._mean_precision, 1.0), self._mean_precision)
        self._prior = _Priors(self.coordinates)

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × k`: the box that is searched."""
        return self.coordinates.bounds

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the log posterior and its gradient.

        Args:
            z: Shape `k`: the parameters.

        Raises:
            NotPositiveDefinite: The covariance cannot be factored there.
        """
        value, grad, _ = self.evaluate(z)
        return value, grad

    def write(self, z: FloatArray) -> None:
        """Set the model's parameters, its means included, from a vector."""
        _, _, means = self.evaluate(z)
        self.coordinates.write(z)
        with torch.no_grad():
            self._constants.copy_(torch.from_numpy(means))

    def evaluate(self, z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log posterior, its gradient, and the best means."""
        self.evaluations += 1
        where = self.coordinates.slots["noise"].where
        noise = np.exp(z[where])
        X = self._fills.forward(z, self.coordinates)
        K = self._kernel.forward(z, X)
        K.flat[:: len(K) + 1] += self._known + self._learned * noise[self._noise_of] + self.jitter
        likelihood, G, means = self._likelihood(K)
        prior, grad = self._prior(z)
        own = self._learned * G.diagonal()
        grad[where] += noise * np.bincount(self._noise_of, weights=own, minlength=len(noise))
        task_prior = self._kernel.backward(G, grad, dX := self._fills.gradient())
        self._fills.backward(dX, grad, self.coordinates)
        return likelihood + prior + task_prior, grad, means

    def _likelihood(self, K: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return `log N(y; Hβ, K) + log p(β)` at the best `β`, its derivative by `K`, and `β`."""
        inverse, log_root = _inverse(K)
        KH = inverse @ self._H
        A = self._H.T @ KH
        A.flat[:: len(A) + 1] += self._mean_ridge
        _, means, _ = lapack.dposv(A, KH.T @ self._y, overwrite_a=1, overwrite_b=1)
        rest = self._y - self._H @ means
        alpha = inverse @ rest
        value = -0.5 * rest @ alpha - log_root - 0.5 * len(rest) * _LOG_2PI
        if self._mean_precision > 0:
            normal = math.log(self._mean_precision) - _LOG_2PI
            value += 0.5 * (len(means) * normal - self._mean_precision * (means @ means))
        G = alpha[:, np.newaxis] * alpha
        G -= inverse
        G *= 0.5
        return float(value), G, means


class _Kernel:
    """`K` without its noise, as `kernels.TransferKernel` defines it, and the way back."""

    def __init__(
        self,
        model: "TransferGP",
        coordinates: Coordinates,
        experiment: np.ndarray[tuple[int], np.dtype[np.intp]],
    ) -> None:
        shared, residual = model.covar_module.shared, model.covar_module.residual
        slots = coordinates.slots
        self._slots = slots
        self._blocks = [
            _SquaredExponential(block, slots[f"length scales {index}"].where)
            for index, block in enumerate(shared.blocks)
        ]
        self._masks = [np.outer(row, row) for row in shared.present.cpu().numpy()]
        self._task = shared.task.matrix.detach().cpu().numpy()
        self._task_prior = shared.task.prior
        self._factor_shape = tuple(shared.task.factor.shape)
        self._marks = None if shared.presence is None else shared.presence.marks.cpu().numpy()
        self._residual = (
            None
            if residual is None
            else _SquaredExponential(residual.base, slots["residual scales"].where)
        )
        self._members: FloatArray = np.eye(len(self._task))[experiment]

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return `K`, shape `n × n`, keeping what `backward` needs."""
        self._factor = self._own = None
        B = self._task
        if "own" in self._slots:
            self._factor = z[self._slots["factor"].where].reshape(self._factor_shape)
            self._own = np.exp(z[self._slots["own"].where])
            B = self._factor @ self._factor.T
            B.flat[:: len(B) + 1] += self._own
        self._B = B
        weights = np.ones(len(self._masks))
        if "weights" in self._slots:
            weights = np.exp(z[self._slots["weights"].where])
        self._scaled_masks = [w * mask for w, mask in zip(weights, self._masks, strict=True)]
        K = np.zeros((len(X), len(X)))
        if self._marks is not None:
            K += self._spread(B * self._presence(z, self._marks))
        self._gathered = [self._spread(B * mask) for mask in self._scaled_masks]
        for block, gathered in zip(self._blocks, self._gathered, strict=True):
            K += gathered * block.forward(z, X)
        if self._residual is not None:
            self._variances = np.exp(z[self._slots["residual variances"].where])
            self._gathered_residual = (self._members * self._variances) @ self._members.T
            K += self._gathered_residual * self._residual.forward(z, X)
        return K

    def backward(self, G: FloatArray, grad: FloatArray, dX: FloatArray | None) -> float:
        """Add the gradients to `grad` and `dX`; return the log prior of the task covariance."""
        value, dB = task_log_prior(self._B, self._task_prior.scale, self._task_prior.correlation)
        for index, block in enumerate(self._blocks):
            GE = G * block.matrix
            dA = self._collect(GE)
            GE *= self._gathered[index]
            block.backward(GE, grad, dX)
            scaled_mask = self._scaled_masks[index]
            dB += dA * scaled_mask
            if "weights" in self._slots:
                at = self._slots["weights"].where.start + index
                grad[at] += np.vdot(dA, self._B * scaled_mask)
        if self._marks is not None:
            dB += self._presence_backward(self._collect(G), grad)
        if self._residual is not None:
            GE = G * self._residual.matrix
            by_experiment = self._collect(GE).diagonal()
            grad[self._slots["residual variances"].where] += by_experiment * self._variances
            GE *= self._gathered_residual
            self._residual.backward(GE, grad, dX)
        if self._factor is None or self._own is None:
            return 0.0
        grad[self._slots["factor"].where] += (2.0 * dB @ self._factor).ravel()
        grad[self._slots["own"].where] += dB.diagonal() * self._own
        return value

    def _spread(self, matrix: FloatArray) -> FloatArray:
        """Return the entries of an `m × m` matrix for each pair of trials."""
        spread: FloatArray = self._members @ matrix @ self._members.T
        return spread

    def _collect(self, matrix: FloatArray) -> FloatArray:
        """Return the sums of an `n × n` matrix over each pair of experiments."""
        sums: FloatArray = self._members.T @ matrix @ self._members
        return sums

    def _presence(self, z: FloatArray, marks: FloatArray) -> FloatArray:
        marks = marks * np.exp(-z[self._slots["presence scales"].where])
        self._mark_distances = (marks[:, np.newaxis] - marks) ** 2
        self._Q: FloatArray = np.exp(-0.5 * self._mark_distances.sum(-1))
        if "presence weight" in self._slots:
            self._Q *= np.exp(z[self._slots["presence weight"].where])
        return self._Q

    def _presence_backward(self, dA: FloatArray, grad: FloatArray) -> FloatArray:
        dQ = dA * self._B * self._Q
        if "presence weight" in self._slots:
            grad[self._slots["presence weight"].where] += dQ.sum()
        by_block = np.einsum("ij,ijb->b", dQ, self._mark_distances)
        grad[self._slots["presence scales"].where] += by_block
        return dA * self._Q


class _SquaredExponential:
    """`kernels.SquaredExponential`, and the way back."""

    def __init__(self, kernel: SquaredExponential, where: slice) -> None:
        self._columns = kernel.columns.cpu().numpy()
        self._groups = kernel.groups.cpu().numpy()
        self._widths = kernel.widths.cpu().numpy()
        self._where = where

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the kernel matrix, shape `n × n`."""
        self._inverse = np.exp(-z[self._where])[self._groups] / self._widths
        self._scaled = X[:, self._columns] * self._inverse
        half = 0.5 * np.einsum("ij,ij->i", self._scaled, self._scaled)
        self._ones = np.ones(len(X))
        E: FloatArray = self._scaled @ self._scaled.T
        E -= half[:, np.newaxis]
        E -= half
        np.minimum(E, 0.0, out=E)
        np.exp(E, out=E)
        self.matrix = E
        return E

    def backward(self, M: FloatArray, grad: FloatArray, dX: FloatArray | None) -> None:
        """Add the gradient of the length-scales to `grad`, and of the points to `dX`.

        Args:
            M: Shape `n × n`: `dL/dK` times the term of `K` that this kernel belongs to.
            grad: Shape `k`: the whole gradient.
            dX: Shape `n × d`: the gradient of the points; None if it is not needed.
        """
        # With D the squared distances, dL/dD = -M/2, and sums over pairs of points collapse to
        # products of M and the points.
        S = self._scaled
        R = (M @ self._ones)[:, np.newaxis] * S
        R -= M @ S
        by_column = 2.0 * np.einsum("ij,ij->j", S, R)
        size = self._where.stop - self._where.start
        grad[self._where] += np.bincount(self._groups, weights=by_column, minlength=size)
        if dX is not None:
            dX[:, self._columns] -= 2.0 * self._inverse * R


class _Priors:
    """The log-normal priors of positive parameters and the normal one of logits."""

    def __init__(self, coordinates: Coordinates) -> None:
        self._log_normal = np.zeros(coordinates.size)
        self._location = np.zeros(coordinates.size)
        self._precision = np.zeros(coordinates.size)
        self._constant = 0.0
        for name, slot in coordinates.slots.items():
            count = slot.where.stop - slot.where.start
            if slot.prior is not None:
                self._log_normal[slot.where] = 1.0
                self._location[slot.where] = slot.prior.location
                self._precision[slot.where] = slot.prior.scale**-2
                self._constant -= count * (math.log(slot.prior.scale) + 0.5 * _LOG_2PI)
            elif name == "logits":
                self._precision[slot.where] = LOGIT_SPREAD**-2
                self._constant -= count * (math.log(LOGIT_SPREAD) + 0.5 * _LOG_2PI)

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density of the parameters and its gradient by their coordinates."""
        pull = (z - self._location) * self._precision
        value = self._constant - 0.5 * (pull @ (z - self._location)) - self._log_normal @ z
        return float(value), -pull - self._log_normal


def task_log_prior(
    B: FloatArray, scale: float | None, correlation: tuple[float, float] | None
) -> tuple[float, FloatArray]:
    """Return what `priors.TaskCovariancePrior` says of `B`, and its derivative by `B`."""
    # Experiments are few: plain floats take less time than arrays would.
    value, dB = 0.0, np.zeros_like(B)
    rows = B.tolist()
    for i, row in enumerate(rows):
        variance = row[i]
        slope = 0.0
        if scale is not None:
            log = math.log(variance)
            value -= 0.5 * (log / scale) ** 2 + log + math.log(scale) + 0.5 * _LOG_2PI
            slope -= (log / scale**2 + 1.0) / variance
        if correlation is not None:
            a, b = correlation
            for j, covariance in enumerate(row):
                if i == j:
                    continue
                root = math.sqrt(variance * rows[j][j])
                r = covariance / root
                dr = 0.5 * ((a - 1) / (1 + r) - (b - 1) / (1 - r))
                slope -= dr * r / variance
                dB[i, j] = dr / root
                if i < j:
                    value += (a - 1) * math.log((1 + r) / 2) + (b - 1) * math.log((1 - r) / 2)
        dB[i, i] = slope
    return value, dB


def _inverse(K: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of `K`, and the logarithm of the square root of its determinant."""
    if len(K) == 0:
        return K, 0.0
    # LAPACK stores by columns; K is symmetric, so that its transpose needs no copy.
    root, info = lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
    if info != 0 or not np.isfinite(root[-1, -1]):
        raise NotPositiveDefinite
    log_root = float(np.log(root.diagonal()).sum())
    lower, _ = lapack.dpotri(root, lower=1, overwrite_c=1)
    inverse = lower + lower.T
    inverse.flat[:: len(K) + 1] *= 0.5
    return inverse, log_root
