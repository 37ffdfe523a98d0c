"""The kernel over which blocks are present: the authors' code adds it to the paper's kernel."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from gpytorch.constraints import GreaterThan
from gpytorch.priors import LogNormalPrior
from torch import Tensor
from torch.nn import Parameter

from hetbo.models import (
    BlockKernel,
    BlocksOnTrials,
    FitParameter,
    Settings,
    Slots,
    SquaredExponential,
    StationaryKernel,
)
from hetbo_bench.analysis.estimates import FloatArray

_FIRST, _SHORTEST = 1.0, 0.1


class PresenceBlockKernel(BlockKernel):
    """`B_ii' · (exp(-½ Σ_b ((p_b - p'_b) / ℓ_b)²) + Σ_b [block b in both i and i'] k_b(x, x'))`.

    `p` marks the blocks that an experiment has.

    Args:
        blocks: One kernel per block.
        present: Which of the blocks (rows) the `m` experiments (columns) have.
        settings: Priors.
    """

    def __init__(
        self, blocks: Sequence[StationaryKernel], present: Tensor, settings: Settings
    ) -> None:
        super().__init__(blocks, present, settings)
        self.register_buffer("marks", present.to(torch.float64).mT.contiguous())
        self.marks_prior = settings.length_scale(len(present))
        start = torch.full((len(present),), _FIRST, dtype=torch.float64)
        self.register_parameter("raw_marks", Parameter(start))
        self.register_constraint("raw_marks", GreaterThan(_SHORTEST, transform=None))
        self.register_prior(
            "marks_prior_of_gpytorch",
            LogNormalPrior(
                torch.tensor(self.marks_prior.location, dtype=torch.float64),
                torch.tensor(self.marks_prior.scale, dtype=torch.float64),
            ),
            "raw_marks",
        )
        self.everywhere = SquaredExponential([], [], settings)

    @property
    def presence(self) -> Tensor:
        """The kernel's value for each pair of experiments, `m × m`."""
        marks = self.marks / self.raw_marks
        distance = (marks.unsqueeze(-2) - marks.unsqueeze(-3)).square().sum(-1)
        presence: Tensor = (-0.5 * distance).exp()
        return presence

    def parts(self) -> list[tuple[Tensor, StationaryKernel]]:
        """Return the weights between experiments, `m × m`, and the kernels that they weigh."""
        return [(self.presence, self.everywhere), *super().parts()]

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        yield from super().fit_parameters()
        yield FitParameter("presence scales", self, "raw_marks", self.marks_prior)

    def on_trials(self, slots: Slots, members: FloatArray) -> "PresenceOnTrials":
        """Return the kernel between the trials, in plain NumPy."""
        return PresenceOnTrials(self, slots, members)


class PresenceOnTrials(BlocksOnTrials):
    """`PresenceBlockKernel` between the trials, and the way back."""

    def __init__(self, kernel: PresenceBlockKernel, slots: Slots, members: FloatArray) -> None:
        super().__init__(kernel, slots, members)
        self._marks: FloatArray = kernel.marks.cpu().numpy()
        self._where = slots["presence scales"].where

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the kernel, shape `n × n`, keeping what `backward` needs."""
        B = self.task.forward(z)
        marks = self._marks * np.exp(-z[self._where])
        self._distances = (marks[:, np.newaxis] - marks) ** 2
        self._presence: FloatArray = np.exp(-0.5 * self._distances.sum(-1))
        K = self.spread(B * self._presence)
        self.add_blocks(K, z, X, B)
        return K

    def add_gradients(
        self, dB: FloatArray, G: FloatArray, grad: FloatArray, dX: FloatArray | None
    ) -> None:
        """Add all gradients but those of `B`'s parameters to `dB`, `grad` and `dX`."""
        super().add_gradients(dB, G, grad, dX)
        dA = self.collect(G)
        dQ = dA * self.task.matrix * self._presence
        grad[self._where] += np.einsum("ij,ijb->b", dQ, self._distances)
        dB += dA * self._presence
