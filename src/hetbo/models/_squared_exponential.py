"""The squared exponential: as a kernel of models, and of plain points with its slope."""

import numpy as np
from torch import Tensor

from hetbo._arrays import FloatArray
from hetbo.models._stationary import StationaryKernel, exponents, weighted_differences


class SquaredExponential(StationaryKernel):
    """`exp(-½ Σ_c ((x_c - x'_c) / ℓ_p(c))²)`."""

    def of(self, E: Tensor) -> Tensor:
        """Return the kernel, differentiable by `E`."""
        return E.exp()

    def profile(self, E: FloatArray) -> tuple[FloatArray, None]:
        """Return the kernel; its logarithm is `E`."""
        return np.exp(E, out=E), None


def squared_exponential(A: FloatArray, B: FloatArray, variance: float = 1.0) -> FloatArray:
    """Return `s² exp(-½ |a - b|²)` for all pairs of points in units of length-scales.

    Args:
        A: Shape `k × c`.
        B: Shape `n × c`.
        variance: `s²`.

    Returns:
        Shape `k × n`.
    """
    a, b = (0.5 * np.einsum("ij,ij->i", points, points) for points in (A, B))
    E = exponents(A, B, a[:, np.newaxis], b)
    np.exp(E, out=E)
    E *= variance
    return E


def squared_exponential_slope(
    X: FloatArray, points: FloatArray, inverse: FloatArray, weighted: FloatArray
) -> FloatArray:
    """Return `Σ_j w_j ∂k(x, x_j)/∂x` from `w_j k(x, x_j)`.

    Args:
        X: Shape `k × c`: where to take it, not scaled.
        points: Shape `n × c`: all `x_j`, not scaled.
        inverse: Shape `c`: `1 / ℓ`.
        weighted: Shape `k × n`: `w_j k(x, x_j)`.

    Returns:
        Shape `k × c`.
    """
    slope: FloatArray = -(inverse**2) * weighted_differences(weighted, X, points)
    return slope
