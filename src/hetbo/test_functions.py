"""Test functions with a known optimum."""

import numpy as np

from hetbo._arrays import FloatArray

__all__ = ["HARTMANN_OPTIMUM", "hartmann"]

HARTMANN_OPTIMUM = 3.32237

_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_WIDTHS = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(x: FloatArray) -> float:
    """Return Hartmann's function of six variables in the unit cube; at most `HARTMANN_OPTIMUM`."""
    return float(_HEIGHTS @ np.exp(-(_WIDTHS * (x - _CENTRES) ** 2).sum(axis=1)))
