"""What all stationary kernels share: length-scales, distances, gradients.

A stationary kernel is a function of `E = -½ Σ_c ((x_c - x'_c) / ℓ_p(c))²`, with one length-scale
per parameter, not per column. A new one is a class with two methods: `of` gives it as a tensor for
BoTorch, `profile` gives it with its derivative for the fit and the search, which evaluate in plain
NumPy what the modules define.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel
from torch import Tensor
from torch.nn import Parameter

from hetbo._arrays import FloatArray
from hetbo.models._parameter_vector import FitParameter, Slots
from hetbo.models._priors import log_normal_prior
from hetbo.models._settings import LogNormal, Settings


@dataclass(frozen=True, slots=True)
class Scaled:
    """Points in units of length-scales, and half of their squared norms."""

    points: Tensor
    half_norms: Tensor


class StationaryKernel(Kernel):
    """A kernel of `E`, minus half of the squared distance in units of length-scales; 1 at `E = 0`.

    Args:
        columns: The columns that the kernel sees.
        groups: For each of these columns the position of its parameter, counted from 0 without
            gaps: the columns of a category share one length-scale.
        settings: The prior of each length-scale, its start and the shortest one.
        widths: For each of these columns the difference that counts as 1; 1 if None.
    """

    def __init__(
        self,
        columns: Sequence[int],
        groups: Sequence[int],
        settings: Settings,
        *,
        widths: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("columns", torch.tensor(columns, dtype=torch.long))
        units = [1.0] * len(columns) if widths is None else list(widths)
        self.register_buffer("widths", torch.tensor(units, dtype=torch.float64))
        self.register_buffer("groups", torch.tensor(groups, dtype=torch.long))
        self.prior = _register_length_scales(self, max(groups, default=-1) + 1, settings)

    def of(self, E: Tensor) -> Tensor:
        """Return the kernel, differentiable by `E`."""
        raise NotImplementedError

    def profile(self, E: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the kernel and `d log k / dE`; None for the latter if it is 1 throughout.

        Args:
            E: Any shape, at most 0. It may be overwritten.
        """
        raise NotImplementedError

    @property
    def lengthscale(self) -> Tensor:
        """The length-scales, one per parameter."""
        return self.raw_lengthscale

    @property
    def inverse(self) -> Tensor:
        """What each column is multiplied with before distances are taken."""
        return 1 / (self.widths * self.lengthscale[self.groups])

    def scaled(self, X: Tensor, inverse: Tensor | None = None) -> Scaled:
        """Return the kernel's columns of `X` in units of their length-scales.

        Args:
            X: Shape `… × n × d`, or with more columns.
            inverse: What columns are multiplied with, as `inverse` was once; None for now.
        """
        points = X[..., self.columns] * (self.inverse if inverse is None else inverse)
        return Scaled(points, 0.5 * points.square().sum(-1))

    def between(self, a: Scaled, b: Scaled) -> Tensor:
        """Return the kernel between two sets of points, `… × n × n'`."""
        E = a.points @ b.points.mT
        E = E - a.half_norms.unsqueeze(-1) - b.half_norms.unsqueeze(-2)
        return self.of(E.clamp_max(0.0))

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002
        a, b = self.scaled(x1), self.scaled(x2)
        if diag:
            return self.of(-0.5 * (a.points - b.points).square().sum(-1))
        return self.between(a, b)

    def fit_parameters(self, name: str) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted.

        Args:
            name: What the length-scales are called.
        """
        yield FitParameter(name, self, "raw_lengthscale", self.prior)

    def on_trials(self, name: str, slots: Slots) -> "StationaryOnTrials":
        """Return the kernel between the trials, in plain NumPy."""
        return StationaryOnTrials(self, slots[name].where)


class StationaryOnTrials:
    """A stationary kernel between the trials, and the way back.

    Args:
        kernel: The kernel.
        where: Its length-scales in the vector of parameters.

    Attributes:
        matrix: Shape `n × n`: the kernel, after `forward`.
    """

    def __init__(self, kernel: StationaryKernel, where: slice) -> None:
        self._kernel = kernel
        self._columns = kernel.columns.cpu().numpy()
        self._groups = kernel.groups.cpu().numpy()
        self._widths = kernel.widths.cpu().numpy()
        self._where = where

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the kernel matrix, shape `n × n`."""
        self._inverse = np.exp(-z[self._where])[self._groups] / self._widths
        S = X[:, self._columns] * self._inverse
        half = 0.5 * np.einsum("ij,ij->i", S, S)
        self._scaled, self._ones = S, np.ones(len(X))
        self.matrix, self._slope = self._kernel.profile(exponents(S, S, half[:, np.newaxis], half))
        return self.matrix

    def backward(self, M: FloatArray, grad: FloatArray, dX: FloatArray | None) -> None:
        """Add the gradient of the length-scales to `grad`, and of the points to `dX`.

        Args:
            M: Shape `n × n`: `dL/dK` times the term of `K` that this kernel belongs to. It is
                overwritten.
            grad: Shape `k`: the whole gradient.
            dX: Shape `n × d`: the gradient of the points; None if it is not needed.
        """
        # M becomes dL/dE. With D = -2E the squared distances, dL/dD = -M/2, and sums over pairs of
        # points collapse to products of M and the points.
        if self._slope is not None:
            M *= self._slope
        S = self._scaled
        R = (M @ self._ones)[:, np.newaxis] * S
        R -= M @ S
        by_column = 2.0 * np.einsum("ij,ij->j", S, R)
        size = self._where.stop - self._where.start
        grad[self._where] += np.bincount(self._groups, weights=by_column, minlength=size)
        if dX is not None:
            dX[:, self._columns] -= 2.0 * self._inverse * R


def exponents(A: FloatArray, B: FloatArray, *halves: FloatArray) -> FloatArray:
    """Return minus half of the squared distances between scaled points, `n × n'`.

    Args:
        A: Shape `n × c`.
        B: Shape `n' × c`.
        halves: Half of the squared norms of both, as a column and as a row: what comes first is
            subtracted first.
    """
    E: FloatArray = A @ B.T
    for half in halves:
        E -= half
    np.minimum(E, 0.0, out=E)
    return E


def weighted_differences(weights: FloatArray, A: FloatArray, B: FloatArray) -> FloatArray:
    """Return `Σ_j w_ij (a_i - b_j)`, shape `n × c`: every slope of a stationary kernel is one.

    Args:
        weights: Shape `n × n'`.
        A: Shape `n × c`.
        B: Shape `n' × c`.
    """
    differences: FloatArray = weights.sum(axis=1)[:, np.newaxis] * A - weights @ B
    return differences


def _register_length_scales(kernel: Kernel, size: int, settings: Settings) -> LogNormal:
    dimensions = max(size, 1)
    prior = settings.length_scale(dimensions)
    start = torch.full((size,), prior.mode, dtype=torch.float64)
    kernel.register_parameter("raw_lengthscale", Parameter(start))
    shortest = GreaterThan(settings.shortest_length_scale(dimensions), transform=None)
    kernel.register_constraint("raw_lengthscale", shortest)
    if size:
        kernel.register_prior("lengthscale_prior", log_normal_prior(prior), "raw_lengthscale")
    return prior
