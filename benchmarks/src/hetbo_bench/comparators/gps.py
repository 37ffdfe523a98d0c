"""Plain Gaussian processes, many at once: one per experiment, each fitted to its own trials alone.

    f_s ~ GP(0, v_s exp(-½ Σ_c (x_c - x'_c)² / l_sc²) + 1),   y = f_s(x) + noise of variance n_s

The 1 is the variance of a constant mean, integrated out. Parameters are MAP estimates, started at
the modes of their priors: those of BoTorch's `SingleTaskGP`, l ~ LogNormal(√2 + ½ log d, √3) and
n ~ LogNormal(-4, 1), and v ~ LogNormal(0, ½). In shapes, `s` counts processes, `n` the trials of
the largest, `d` columns.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

FloatArray = NDArray[np.float64]

_SMALLEST_NOISE = 1e-4
_ABSENT = 1e8
"""The noise variance of a row that is there to fill up: it says nothing."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """Squared exponential kernels.

    Attributes:
        inverse: Shape `… × d`: inverse length-scales, 0 for columns that do not count.
        variance: Shape `…`.
    """

    inverse: Tensor
    variance: Tensor

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the covariances, `… × a × b`, of points `… × a × d` and `… × b × d`."""
        first, second = A * self.inverse.unsqueeze(-2), B * self.inverse.unsqueeze(-2)
        half = first.square().sum(-1, keepdim=True) + second.square().sum(-1).unsqueeze(-2)
        exponent = first @ second.mT - 0.5 * half
        return self.variance[..., None, None] * exponent.clamp_max(0.0).exp()


@dataclass(frozen=True, eq=False)
class GPs:
    """Fitted processes.

    Attributes:
        X: Shape `s × n × d`.
        y: Shape `s × n`.
        present: Shape `s × n`: which rows are trials, and not there to fill up.
        kernel: The kernels, without the constant.
        noise: Shape `s`.
    """

    X: Tensor
    y: Tensor
    present: Tensor
    kernel: Kernel
    noise: Tensor

    @classmethod
    def fit(
        cls,
        X: Tensor,
        y: Tensor,
        present: Tensor,
        uses: Tensor,
        *,
        base: Tensor | None = None,
        steps: int = 60,
    ) -> "GPs":
        """Return the processes with their most likely parameters.

        Args:
            X: Shape `s × n × d`.
            y: Shape `s × n`.
            present: Shape `s × n`.
            uses: Shape `s × d`: which columns each process depends on.
            base: Shape `s × n × n`: what the values' covariance has beside these processes'.
            steps: How many steps of L-BFGS to make.
        """
        count, columns = uses.shape
        centre = math.sqrt(2) + 0.5 * uses.sum(-1, keepdim=True).clamp_min(1).log()

        def made(z: Tensor) -> GPs:
            table = z.reshape(count, columns + 2)
            inverse = torch.where(uses, (-table[:, :columns]).exp(), 0.0)
            return cls(X, y, present, Kernel(inverse, table[:, -2].exp()), table[:, -1].exp())

        def log_posterior(z: Tensor) -> Tensor:
            table, gps = z.reshape(count, columns + 2), made(z)
            priors = (
                torch.where(uses, log_normal(table[:, :columns], centre, math.sqrt(3)), 0.0).sum()
                + log_normal(table[:, -2], 0.0, 0.5).sum()
                + log_normal(table[:, -1], -4.0, 1.0).sum()
            )
            gram = gps.gram if base is None else gps.gram + base
            return normal_log_density(gps.y, gram, gps.present).sum() + priors

        start = np.zeros((count, columns + 2))
        start[:, :columns] = centre.numpy() - 3.0
        start[:, -1] = -5.0
        low = np.full_like(start, -6.0)
        low[:, -1] = math.log(_SMALLEST_NOISE)
        bounds = np.stack([low.ravel(), np.full(low.size, 6.0)], axis=1)
        return made(maximized(log_posterior, start.ravel(), bounds, steps=steps))

    def extended(self, X: Tensor, y: Tensor) -> "GPs":
        """Return a single process with more trials and the same parameters.

        Args:
            X: Shape `k × d`.
            y: Shape `k`.
        """
        return GPs(
            torch.cat([self.X, X[None]], 1),
            torch.cat([self.y, y[None]], 1),
            torch.cat([self.present, torch.ones_like(y, dtype=torch.bool)[None]], 1),
            self.kernel,
            self.noise,
        )

    def only(self, which: Tensor) -> "GPs":
        """Return some of the processes."""
        kernel = Kernel(self.kernel.inverse[which], self.kernel.variance[which])
        return GPs(self.X[which], self.y[which], self.present[which], kernel, self.noise[which])

    @property
    def gram(self) -> Tensor:
        """Shape `s × n × n`: the covariance of the values, noise included."""
        noise = torch.where(self.present, self.noise[:, None], _ABSENT)
        return self.prior(self.X, self.X) + torch.diag_embed(noise)

    @cached_property
    def _root(self) -> Tensor:
        """The inverse of the Cholesky factor of the gram matrix."""
        factor = torch.linalg.cholesky(self.gram)
        identity = torch.eye(factor.shape[-1], dtype=factor.dtype)
        root: Tensor = torch.linalg.solve_triangular(factor, identity, upper=False)
        return root

    @cached_property
    def _weights(self) -> Tensor:
        y = torch.where(self.present, self.y, 0.0).unsqueeze(-1)
        weights: Tensor = self._root.mT @ (self._root @ y)
        return weights

    def prior(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the prior covariances, `s × a × b`."""
        return self.kernel(A, B) + 1.0

    def posterior(self, A: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances at points `a × d`, each `s × a`."""
        cross = self.prior(A, self.X)
        explained = (cross @ self._root.mT).square().sum(-1)
        return (cross @ self._weights).squeeze(-1), self.kernel.variance[:, None] + 1.0 - explained

    def covariance(self, A: Tensor, B: Tensor) -> Tensor:
        """Return the posterior covariances of points `a × d` and `b × d`, `s × a × b`."""
        first, second = (self.prior(P, self.X) @ self._root.mT for P in (A, B))
        covariance: Tensor = self.prior(A, B) - first @ second.mT
        return covariance


def log_normal(log: Tensor, location: Tensor | float, scale: float) -> Tensor:
    """Return the log density of log-normal values up to a constant, given their logarithms."""
    return -0.5 * ((log - location) / scale) ** 2 - log


def normal_log_density(y: Tensor, covariance: Tensor, present: Tensor | None = None) -> Tensor:
    """Return `log N(y; 0, covariance)` of `… × n` values; absent ones count nearly nothing."""
    factor = torch.linalg.cholesky(covariance)
    y = y if present is None else torch.where(present, y, 0.0)
    whitened = torch.linalg.solve_triangular(factor, y.unsqueeze(-1), upper=False).squeeze(-1)
    logs = factor.diagonal(dim1=-2, dim2=-1).log() + 0.5 * math.log(2 * math.pi)
    logs = logs if present is None else torch.where(present, logs, 0.0)
    density: Tensor = -0.5 * whitened.square().sum(-1) - logs.sum(-1)
    return density


def maximized(
    log_posterior: Callable[[Tensor], Tensor],
    start: FloatArray,
    bounds: FloatArray | None = None,
    *,
    steps: int,
) -> Tensor:
    """Return where L-BFGS ends that maximizes a differentiable function of `k` parameters."""
    if not start.size:
        return torch.from_numpy(start)

    def negative(z: FloatArray) -> tuple[float, FloatArray]:
        point = torch.tensor(z, requires_grad=True)
        value = -log_posterior(point)
        (gradient,) = torch.autograd.grad(value, point)
        return float(value.detach()), gradient.numpy()

    options = {"maxiter": steps}
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return torch.from_numpy(np.asarray(found.x, dtype=np.float64))
