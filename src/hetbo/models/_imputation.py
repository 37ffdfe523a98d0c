"""The values of what experiments miss: the module, and its gradient in plain NumPy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from gpytorch import Module
from gpytorch.constraints import Interval
from gpytorch.priors import NormalPrior
from torch import Tensor
from torch.nn import Parameter

from hetbo._arrays import FloatArray, IndexArray
from hetbo.models._inputs import split_inputs
from hetbo.models._parameter_vector import FitParameter, Slots

LOGIT_SPREAD = 1.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A parameter that an experiment neither tunes nor fixes.

    Attributes:
        experiment: The experiment's position.
        parameter: The parameter's name.
        columns: The columns that encode it: one for a number, one per choice for a category.
        numeric: Whether it is a number.
    """

    experiment: int
    parameter: str
    columns: tuple[int, ...]
    numeric: bool


class Imputation(Module):
    """The values of what experiments miss: a number in the unit interval, a category's simplex.

    A missing category is a point in the simplex of its choices, given by logits.

    Args:
        gaps: What is missing where.
        start: Shape `m × d`: the values that fill the gaps at first, or for good.
        learned: Whether the values are learned with the other parameters.
    """

    def __init__(
        self,
        gaps: Sequence[Gap],
        start: Tensor,
        *,
        learned: bool,
    ) -> None:
        super().__init__()
        self.gaps = tuple(gaps)
        self.numeric = tuple(gap for gap in gaps if gap.numeric)
        self.categorical = tuple(gap for gap in gaps if not gap.numeric)
        missing = torch.zeros(start.shape, dtype=torch.bool)
        for gap in gaps:
            missing[gap.experiment, list(gap.columns)] = True
        self.register_buffer("missing", missing)
        self.register_buffer("start", torch.where(missing, start, 0.0))
        self.learned = learned
        if not learned:
            return
        values = torch.tensor(
            [float(start[gap.experiment, gap.columns[0]]) for gap in self.numeric],
            dtype=torch.float64,
        )
        self.register_parameter("raw_values", Parameter(values))
        self.register_constraint("raw_values", Interval(0.0, 1.0, transform=None))
        width = sum(len(gap.columns) for gap in self.categorical)
        self.register_parameter("logits", Parameter(torch.zeros(width, dtype=torch.float64)))
        if width:
            prior = NormalPrior(
                torch.tensor(0.0, dtype=torch.float64),
                torch.tensor(LOGIT_SPREAD, dtype=torch.float64),
            )
            self.register_prior("logits_prior", prior, "logits")

    def table(self) -> Tensor:
        """Return the values that fill the gaps, `m × d`; 0 where nothing is missing."""
        if not self.learned:
            return self.start
        cells = [gap.experiment * self.start.shape[1] + gap.columns[0] for gap in self.numeric]
        parts = [self.raw_values]
        position = 0
        for gap in self.categorical:
            logits = self.logits[position : position + len(gap.columns)]
            parts.append(logits.softmax(-1))
            cells += [gap.experiment * self.start.shape[1] + column for column in gap.columns]
            position += len(gap.columns)
        index = torch.tensor(cells, dtype=torch.long, device=self.start.device)
        flat = torch.zeros_like(self.start).reshape(-1)
        return flat.index_put((index,), torch.cat(parts)).reshape(self.start.shape)

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        if self.learned:
            yield FitParameter("values", self, "raw_values", log=False)
            yield FitParameter("logits", self, "logits", log=False)

    def on_trials(
        self, slots: Slots, points: FloatArray, experiment: IndexArray
    ) -> "ImputationOnTrials":
        """Return the trials' points as a function of the vector of parameters, in plain NumPy.

        Args:
            slots: Where each parameter stands in the vector.
            points: Shape `n × d`: the trials' points, with anything in the gaps.
            experiment: Shape `n`: the position of each trial's experiment.
        """
        return ImputationOnTrials(self, slots, points, experiment)

    def forward(self, X: Tensor) -> Tensor:
        """Return the inputs with their gaps filled."""
        points, experiment, _ = split_inputs(X)
        filled = torch.where(self.missing[experiment], self.table()[experiment], points)
        return torch.cat([filled, X[..., -2:]], dim=-1)


class ImputationOnTrials:
    """The trials' points as a function of the vector of parameters, and the way back.

    Args:
        imputation: What is missing, and whether it is learned.
        slots: Where each parameter stands in the vector.
        points: Shape `n × d`: the trials' points, with anything in the gaps.
        experiment: Shape `n`: the position of each trial's experiment.
    """

    def __init__(
        self,
        imputation: Imputation,
        slots: Slots,
        points: FloatArray,
        experiment: IndexArray,
    ) -> None:
        self._learned = imputation.learned
        self._X = points.copy()
        if not self._learned:
            missing = imputation.missing.cpu().numpy()[experiment]
            self._X[missing] = imputation.start.cpu().numpy()[experiment][missing]
            return
        self._numbers, self._logits = slots["values"].where, slots["logits"].where
        cells: list[int] = []
        values: list[int] = []
        self._simplexes: list[slice] = []
        self._count = 0
        for gap in (*imputation.numeric, *imputation.categorical):
            rows = np.flatnonzero(experiment == gap.experiment)
            first = self._count
            for column in gap.columns:
                cells += (rows * points.shape[1] + column).tolist()
                values += [self._count] * len(rows)
                self._count += 1
            if not gap.numeric:
                self._simplexes.append(slice(first, self._count))
        self._cells = np.array(cells, dtype=np.intp)
        self._value_of = np.array(values, dtype=np.intp)

    def forward(self, z: FloatArray) -> FloatArray:
        """Return the points with their gaps filled, shape `n × d`."""
        if not self._learned:
            return self._X
        self._values = np.concatenate([z[self._numbers], z[self._logits]])
        for simplex in self._simplexes:
            logits = self._values[simplex]
            shares = np.exp(logits - logits.max())
            self._values[simplex] = shares / shares.sum()
        X = self._X.copy()
        X.reshape(-1)[self._cells] = self._values[self._value_of]
        return X

    def gradient(self) -> FloatArray | None:
        """Return a place for the gradient of the points; None if nothing is learned from it."""
        return np.zeros_like(self._X) if self._learned else None

    def backward(self, dX: FloatArray | None, grad: FloatArray) -> None:
        """Add the gradient of the values that fill the gaps to `grad`."""
        if dX is None:
            return
        by_value = np.bincount(
            self._value_of, weights=dX.reshape(-1)[self._cells], minlength=self._count
        )
        for simplex in self._simplexes:
            shares = self._values[simplex]
            by_value[simplex] = shares * (by_value[simplex] - shares @ by_value[simplex])
        numeric = self._numbers.stop - self._numbers.start
        grad[self._numbers] += by_value[:numeric]
        grad[self._logits] += by_value[numeric:]
