"""The squared exponential."""

import numpy as np
from torch import Tensor

from hetbo._arrays import FloatArray
from hetbo.models._stationary import StationaryKernel


class SquaredExponential(StationaryKernel):
    """`exp(-½ Σ_c ((x_c - x'_c) / ℓ_p(c))²)`."""

    def of(self, E: Tensor) -> Tensor:
        """Return the kernel, differentiable by `E`."""
        return E.exp()

    def profile(self, E: FloatArray) -> tuple[FloatArray, None]:
        """Return the kernel; its logarithm is `E`."""
        return np.exp(E, out=E), None
