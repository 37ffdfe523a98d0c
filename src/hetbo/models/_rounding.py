"""Integers stay integers: points are moved to the middle of their cells."""

import torch
from torch import Tensor
from torch.nn import Module

from hetbo.encoding import Encoder

_MOST_CELLS = 10_000
"""Beyond so many values, rounding moves a point by less than half of 1e-4 of the cube: nothing
that a length-scale of at least 0.1 could notice."""


class Rounding(Module):
    """Moves points of the target to the nearest ones that its integers allow.

    The posterior of a model is then constant between rounding points, as the objective is. The
    gradient in an integer's column is zero: a search over integers takes steps.

    Args:
        encoder: Knows where integers lie.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.columns: list[int] = []
        for name, parameter in encoder.joint.target.space.items():
            if parameter.values is None or len(parameter.values) > _MOST_CELLS:
                continue
            cells = encoder.cells(name, parameter)
            if cells is None:
                continue
            (column,) = encoder.columns.of(name)
            edges, centres = cells
            self.register_buffer(f"edges_{column}", torch.from_numpy(edges[1:-1].copy()))
            self.register_buffer(f"centres_{column}", torch.from_numpy(centres))
            self.columns.append(column)

    def forward(self, X: Tensor) -> Tensor:
        """Return the points, `… × d`, with integers at the middle of their cells."""
        if not self.columns:
            return X
        rounded = list(X.unbind(-1))
        for column in self.columns:
            edges, centres = getattr(self, f"edges_{column}"), getattr(self, f"centres_{column}")
            cell = torch.bucketize(rounded[column].detach().contiguous(), edges, right=True)
            # The product keeps the column in the graph, so that its gradient is zero, not absent.
            rounded[column] = centres[cell] + 0.0 * rounded[column]
        return torch.stack(rounded, dim=-1)
