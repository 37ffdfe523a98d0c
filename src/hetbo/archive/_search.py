"""The search for likely parameters, which goes on where the log posterior cannot be computed."""

import math
from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.models import LogPosterior, NotPositiveDefinite, maximize

_STEPS = 60
_FLATTEST = 1e-5
_FAILED = -1e12
"""What stands for a log posterior that cannot be computed: a search turns back from there."""


@dataclass(frozen=True, slots=True, eq=False)
class _Forgiving:
    """A log posterior that is very small where it cannot be computed."""

    posterior: LogPosterior

    @property
    def bounds(self) -> FloatArray:
        return self.posterior.bounds

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        try:
            value, gradient = self.posterior(z)
        except NotPositiveDefinite:
            value, gradient = math.nan, z
        return (value, gradient) if math.isfinite(value) else (_FAILED, np.zeros_like(z))


def search(
    posterior: LogPosterior, start: FloatArray, *, ftol: float
) -> tuple[float, FloatArray] | None:
    """Return the log posterior reached from one start, and where; None if it was never computed.

    Args:
        posterior: The log posterior.
        start: Shape `k`: where to start.
        ftol: The search ends when a step gains less than this part of the value.
    """
    found = maximize(_Forgiving(posterior), start, steps=_STEPS, ftol=ftol, gtol=_FLATTEST)
    return None if found[0] <= _FAILED else found
