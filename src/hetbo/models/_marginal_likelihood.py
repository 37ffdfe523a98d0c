"""The log posterior of a model's parameters and its gradient, in closed form.

At the sizes of Bayesian optimisation time goes to overhead, not to arithmetic: each module offers
what it defines in plain NumPy as well, and here they are put together with one Cholesky factor and
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

from hetbo._arrays import FloatArray
from hetbo.models._imputation import LOGIT_SPREAD
from hetbo.models._mean_and_noise import SMALLEST_KNOWN_NOISE
from hetbo.models._parameter_vector import ParameterVector

if TYPE_CHECKING:
    from hetbo.models._base import TransferGP

_LOG_2PI = math.log(2 * math.pi)


class NotPositiveDefinite(ArithmeticError):  # noqa: N818  # caught by fits alone
    """The covariance at some parameters cannot be factored."""


class MarginalLikelihood:
    """The log posterior of a model's parameters, given its trials.

    Args:
        model: The model. Its parameters change only by `write`.

    Attributes:
        vector: What the entries of the vector `z` of parameters are.
        evaluations: How often it was evaluated.
        jitter: What is added to the diagonal of `K`, as it is: one of `JITTERS`.
    """

    def __init__(self, model: "TransferGP") -> None:
        self.vector = model.parameter_vector()
        self.evaluations = 0
        self.jitter = 0.0
        slots = self.vector.slots
        inputs = model.train_inputs[0].detach().cpu().numpy()
        experiment = inputs[:, -2].astype(np.intp)
        self._y = model.train_targets.detach().cpu().numpy()
        self._imputation = model.imputation.on_trials(slots, inputs[:, :-2], experiment)
        self._kernel = model.covar_module.on_trials(slots, experiment)
        self._noise = slots["noise"].where
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
        self._prior = _Priors(self.vector)

    @property
    def bounds(self) -> FloatArray:
        """Shape `2 × k`: the box that is searched."""
        return self.vector.bounds

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
        self.vector.write(z)
        with torch.no_grad():
            self._constants.copy_(torch.from_numpy(means))

    def evaluate(self, z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log posterior, its gradient, and the best means."""
        self.evaluations += 1
        noise = np.exp(z[self._noise])
        K = self._kernel.forward(z, self._imputation.forward(z))
        K.flat[:: len(K) + 1] += self._known + self._learned * noise[self._noise_of] + self.jitter
        likelihood, G, means = self._likelihood(K)
        prior, grad = self._prior(z)
        own = self._learned * G.diagonal()
        grad[self._noise] += noise * np.bincount(self._noise_of, weights=own, minlength=len(noise))
        task_prior = self._kernel.backward(G, grad, dX := self._imputation.gradient())
        self._imputation.backward(dX, grad)
        return likelihood + prior + task_prior, grad, means

    def _likelihood(self, K: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return `log N(y; Hβ, K) + log p(β)` at the best `β`, its derivative by `K`, and `β`."""
        inverse, log_root = inverse_of(K)
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


class _Priors:
    """The log-normal priors of positive parameters and the normal one of logits."""

    def __init__(self, vector: ParameterVector) -> None:
        self._log_normal = np.zeros(vector.size)
        self._location = np.zeros(vector.size)
        self._precision = np.zeros(vector.size)
        self._constant = 0.0
        for name, slot in vector.slots.items():
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
        """Return the log density of the parameters and its gradient."""
        pull = (z - self._location) * self._precision
        value = self._constant - 0.5 * (pull @ (z - self._location)) - self._log_normal @ z
        return float(value), -pull - self._log_normal


def inverse_of(K: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of a covariance, and the logarithm of the square root of its determinant.

    Args:
        K: Shape `n × n`. It is overwritten.

    Raises:
        NotPositiveDefinite: It cannot be factored.
    """
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
