"""`parts.Imputation` in plain NumPy, and the way back."""

from typing import TYPE_CHECKING

import numpy as np

from hetbo.encoding.encoder import FloatArray
from hetbo.models.coordinates import Coordinates

if TYPE_CHECKING:
    from hetbo.models.parts import Imputation


class Fills:
    """Fills the gaps of the trials' points from the vector of parameters.

    Args:
        imputation: What is missing, and whether it is learned.
        points: Shape `n × d`: the trials' points, with anything in the gaps.
        experiment: Shape `n`: the position of each trial's experiment.
    """

    def __init__(
        self,
        imputation: "Imputation",
        points: FloatArray,
        experiment: np.ndarray[tuple[int], np.dtype[np.intp]],
    ) -> None:
        self._learned = imputation.learned
        self._X = points.copy()
        if not self._learned:
            missing = imputation.missing.cpu().numpy()[experiment]
            self._X[missing] = imputation.start.cpu().numpy()[experiment][missing]
            return
        cells: list[int] = []
        fills: list[int] = []
        self._simplexes: list[slice] = []
        self._count = 0
        for gap in (*imputation.numeric, *imputation.categorical):
            rows = np.flatnonzero(experiment == gap.experiment)
            first = self._count
            for column in gap.columns:
                cells += (rows * points.shape[1] + column).tolist()
                fills += [self._count] * len(rows)
                self._count += 1
            if not gap.numeric:
                self._simplexes.append(slice(first, self._count))
        self._cells, self._fills = np.array(cells, dtype=np.intp), np.array(fills, dtype=np.intp)

    def forward(self, z: FloatArray, coordinates: Coordinates) -> FloatArray:
        """Return the points with their gaps filled, shape `n × d`."""
        if not self._learned:
            return self._X
        slots = coordinates.slots
        self._values = np.concatenate([z[slots["values"].where], z[slots["logits"].where]])
        for simplex in self._simplexes:
            logits = self._values[simplex]
            shares = np.exp(logits - logits.max())
            self._values[simplex] = shares / shares.sum()
        X = self._X.copy()
        X.reshape(-1)[self._cells] = self._values[self._fills]
        return X

    def gradient(self) -> FloatArray | None:
        """Return a place for the gradient of the points; None if nothing is learned from it."""
        return np.zeros_like(self._X) if self._learned else None

    def backward(self, dX: FloatArray | None, grad: FloatArray, coordinates: Coordinates) -> None:
        """Add the gradient of the values that fill the gaps to `grad`."""
        if dX is None:
            return
        by_fill = np.bincount(
            self._fills, weights=dX.reshape(-1)[self._cells], minlength=self._count
        )
        for simplex in self._simplexes:
            shares = self._values[simplex]
            by_fill[simplex] = shares * (by_fill[simplex] - shares @ by_fill[simplex])
        slots = coordinates.slots
        numeric = slots["values"].where.stop - slots["values"].where.start
        grad[slots["values"].where] += by_fill[:numeric]
        grad[slots["logits"].where] += by_fill[numeric:]
