"""The kernels across experiments: what they share, what each has of its own, and both together.

Each stands here twice: as the module that GPyTorch and BoTorch know, where parameters, priors and
constraints live, and as a function of the vector of parameters with its gradient, in plain NumPy.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel
from torch import Tensor
from torch.nn import ModuleList, Parameter

from hetbo._arrays import FloatArray, IndexArray
from hetbo.models._inputs import gather
from hetbo.models._parameter_vector import FitParameter, Slots
from hetbo.models._priors import log_normal_prior
from hetbo.models._settings import LogNormal, Settings
from hetbo.models._stationary import StationaryKernel
from hetbo.models._task_covariance import TaskCovariance

WEIGHT_RANGE = (1e-3, 1e4)
RESIDUAL_RANGE = (1e-6, 1e2)


class BlockKernel(Kernel):
    """`B_ii' · Σ_b w_b [block b in both i and i'] k_b(x, x')`: the paper's conditional kernel.

    With one block that every experiment has it is the ordinary multi-task kernel.

    Args:
        blocks: One kernel per block.
        present: Which of the blocks (rows) the `m` experiments (columns) have.
        settings: Priors.
    """

    def __init__(
        self,
        blocks: Sequence[StationaryKernel],
        present: Tensor,
        settings: Settings,
    ) -> None:
        super().__init__()
        count = len(blocks)
        self.blocks: Any = ModuleList(blocks)
        self.register_buffer("present", present.to(torch.float64))
        self.task = TaskCovariance(present.shape[1], settings)
        # The weight of a single block would only repeat the scale of B.
        self.learned_weights = count > 1 and settings.block_weight is not None
        weight = Parameter(
            torch.ones(count, dtype=torch.float64), requires_grad=self.learned_weights
        )
        self.register_parameter("raw_weight", weight)
        self.register_constraint("raw_weight", Interval(*WEIGHT_RANGE, transform=None))
        self.prior = (
            LogNormal(-math.log(count), settings.block_weight)
            if settings.block_weight is not None and count > 1
            else None
        )
        if self.prior is not None:
            self.register_prior("weight_prior", log_normal_prior(self.prior), "raw_weight")
            self.raw_weight.data.fill_(1 / count)

    def parts(self) -> list[tuple[Tensor, StationaryKernel]]:
        """Return each block's weight between each two experiments, `m × m`, and its kernel."""
        return [
            (weight * (mark.unsqueeze(-1) * mark), block)
            for weight, mark, block in zip(self.raw_weight, self.present, self.blocks, strict=True)
        ]

    def terms(self) -> list[tuple[Tensor, StationaryKernel]]:
        """Return the terms of the sum: `m × m` factors, and what they are factors of."""
        B = self.task.matrix
        return [(B * mask, kernel) for mask, kernel in self.parts()]

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002
        terms = [
            gather(factor, x1, x2, diag=diag) * block.forward(x1, x2, diag=diag)
            for factor, block in self.terms()
        ]
        return torch.stack(terms).sum(0)

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        for index, block in enumerate(self.blocks):
            yield from block.fit_parameters(f"length scales {index}")
        if self.learned_weights:
            yield FitParameter("weights", self, "raw_weight", self.prior)
        yield from self.task.fit_parameters()

    def on_trials(self, slots: Slots, members: FloatArray) -> "BlocksOnTrials":
        """Return the kernel between the trials, in plain NumPy.

        Args:
            slots: Where each parameter stands in the vector.
            members: Shape `n × m`: 1 where a trial is of an experiment.
        """
        return BlocksOnTrials(self, slots, members)


class BlocksOnTrials:
    """`BlockKernel` between the trials, and the way back.

    Args:
        kernel: The kernel.
        slots: Where each parameter stands in the vector.
        members: Shape `n × m`: 1 where a trial is of an experiment.
    """

    def __init__(self, kernel: BlockKernel, slots: Slots, members: FloatArray) -> None:
        self.task = kernel.task.in_fit(slots)
        self._blocks = [
            block.on_trials(f"length scales {index}", slots)
            for index, block in enumerate(kernel.blocks)
        ]
        self._masks = [np.outer(row, row) for row in kernel.present.cpu().numpy()]
        self._weights = slots["weights"].where if kernel.learned_weights else None
        self._members = members

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the kernel, shape `n × n`, keeping what `backward` needs."""
        K = np.zeros((len(X), len(X)))
        self.add_blocks(K, z, X, self.task.forward(z))
        return K

    def backward(self, G: FloatArray, grad: FloatArray, dX: FloatArray | None) -> float:
        """Add the gradients to `grad` and `dX`; return the log prior of the task covariance."""
        value, dB = self.task.log_prior()
        self.add_gradients(dB, G, grad, dX)
        self.task.backward(dB, grad)
        return value

    def add_blocks(self, K: FloatArray, z: FloatArray, X: FloatArray, B: FloatArray) -> None:
        """Add the blocks' terms to `K`, given the covariance of experiments."""
        weights = np.ones(len(self._masks)) if self._weights is None else np.exp(z[self._weights])
        self._weighted = [w * mask for w, mask in zip(weights, self._masks, strict=True)]
        self._spread = [self.spread(B * mask) for mask in self._weighted]
        for block, factor in zip(self._blocks, self._spread, strict=True):
            K += factor * block.forward(z, X)

    def add_gradients(
        self, dB: FloatArray, G: FloatArray, grad: FloatArray, dX: FloatArray | None
    ) -> None:
        """Add the blocks' gradients to `dB`, `grad` and `dX`, from that by `K`."""
        for index, block in enumerate(self._blocks):
            GE = G * block.matrix
            dA = self.collect(GE)
            GE *= self._spread[index]
            block.backward(GE, grad, dX)
            weighted = self._weighted[index]
            dB += dA * weighted
            if self._weights is not None:
                grad[self._weights.start + index] += np.vdot(dA, self.task.matrix * weighted)

    def spread(self, matrix: FloatArray) -> FloatArray:
        """Return the entries of an `m × m` matrix for each pair of trials."""
        spread: FloatArray = self._members @ matrix @ self._members.T
        return spread

    def collect(self, matrix: FloatArray) -> FloatArray:
        """Return the sums of an `n × n` matrix over each pair of experiments."""
        sums: FloatArray = self._members.T @ matrix @ self._members
        return sums


class ResidualKernel(Kernel):
    """`[i = i'] s_i² k_r(x, x')`: how an experiment differs from what the others say.

    Args:
        base: The kernel `k_r`, with length-scales of its own.
        size: The number `m` of experiments.
        prior: The prior of each `s_i²`.
    """

    def __init__(self, base: StationaryKernel, size: int, prior: LogNormal) -> None:
        super().__init__()
        self.base = base
        self.prior = prior
        variance = torch.full((size,), prior.mode, dtype=torch.float64)
        self.register_parameter("raw_variance", Parameter(variance))
        self.register_constraint("raw_variance", Interval(*RESIDUAL_RANGE, transform=None))
        self.register_prior("variance_prior", log_normal_prior(prior), "raw_variance")

    @property
    def matrix(self) -> Tensor:
        """The residual variance of each experiment, as a diagonal `m × m` matrix."""
        return torch.diag(self.raw_variance)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002
        return gather(self.matrix, x1, x2, diag=diag) * self.base.forward(x1, x2, diag=diag)

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        yield from self.base.fit_parameters("residual scales")
        yield FitParameter("residual variances", self, "raw_variance", self.prior)

    def on_trials(self, slots: Slots, members: FloatArray) -> "ResidualOnTrials":
        """Return the kernel between the trials, in plain NumPy."""
        return ResidualOnTrials(self, slots, members)


class ResidualOnTrials:
    """`ResidualKernel` between the trials, and the way back.

    Args:
        kernel: The kernel.
        slots: Where each parameter stands in the vector.
        members: Shape `n × m`: 1 where a trial is of an experiment.
    """

    def __init__(self, kernel: ResidualKernel, slots: Slots, members: FloatArray) -> None:
        self._base = kernel.base.on_trials("residual scales", slots)
        self._where = slots["residual variances"].where
        self._members = members

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the kernel, shape `n × n`, keeping what `backward` needs."""
        self._variances = np.exp(z[self._where])
        self._spread = (self._members * self._variances) @ self._members.T
        residual: FloatArray = self._spread * self._base.forward(z, X)
        return residual

    def backward(self, G: FloatArray, grad: FloatArray, dX: FloatArray | None) -> None:
        """Add the gradients to `grad` and `dX`."""
        GE = G * self._base.matrix
        by_experiment = (self._members.T @ GE @ self._members).diagonal()
        grad[self._where] += by_experiment * self._variances
        GE *= self._spread
        self._base.backward(GE, grad, dX)


class TransferKernel(Kernel):
    """What the experiments share, and what is each one's own.

    Args:
        shared: The kernel across experiments.
        residual: The kernel within each; None if there is none.
    """

    def __init__(self, shared: BlockKernel, residual: ResidualKernel | None) -> None:
        super().__init__()
        self.shared = shared
        self.residual = residual

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002
        covariance = self.shared.forward(x1, x2, diag=diag)
        if self.residual is not None:
            covariance = covariance + self.residual.forward(x1, x2, diag=diag)
        return covariance

    def terms(self) -> list[tuple[Tensor, StationaryKernel]]:
        """Return the terms of the sum: `m × m` factors, and what they are factors of."""
        own = [] if self.residual is None else [(self.residual.matrix, self.residual.base)]
        return [*self.shared.terms(), *own]

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted."""
        yield from self.shared.fit_parameters()
        if self.residual is not None:
            yield from self.residual.fit_parameters()

    def on_trials(self, slots: Slots, experiment: IndexArray) -> "TransferOnTrials":
        """Return the kernel between the trials, in plain NumPy.

        Args:
            slots: Where each parameter stands in the vector.
            experiment: Shape `n`: the position of each trial's experiment.
        """
        return TransferOnTrials(self, slots, experiment)


class TransferOnTrials:
    """`TransferKernel` between the trials, and the way back.

    Args:
        kernel: The kernel.
        slots: Where each parameter stands in the vector.
        experiment: Shape `n`: the position of each trial's experiment.
    """

    def __init__(self, kernel: TransferKernel, slots: Slots, experiment: IndexArray) -> None:
        size = len(kernel.shared.task.raw_own)
        members: FloatArray = np.eye(size)[experiment]
        self._shared = kernel.shared.on_trials(slots, members)
        residual = kernel.residual
        self._residual = None if residual is None else residual.on_trials(slots, members)

    def forward(self, z: FloatArray, X: FloatArray) -> FloatArray:
        """Return the covariance without its noise, shape `n × n`."""
        K = self._shared.forward(z, X)
        if self._residual is not None:
            K += self._residual.forward(z, X)
        return K

    def backward(self, G: FloatArray, grad: FloatArray, dX: FloatArray | None) -> float:
        """Add the gradients to `grad` and `dX`; return the log prior of the task covariance."""
        value = self._shared.backward(G, grad, dX)
        if self._residual is not None:
            self._residual.backward(G, grad, dX)
        return value
