"""The covariances, as GPyTorch kernels: where parameters, priors and constraints live.

Inputs have `d + 2` columns: the point, the position of its experiment, and its known noise
variance (-1 where it is learned). The formulas are written plainly; the fit evaluates the same
ones in closed form (`marginal_likelihood.py`), and tests hold the two together.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.kernels import Kernel
from torch import Tensor
from torch.nn import ModuleList, Parameter

from hetbo.models.priors import TaskCovariancePrior, log_normal_prior
from hetbo.models.settings import LogNormal, Settings

SMALLEST_TASK_VARIANCE = 1e-4
WEIGHT_RANGE = (1e-3, 1e4)
RESIDUAL_RANGE = (1e-6, 1e2)


def split_inputs(X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the points (`… × n × d`), their experiments and their known noise (`… × n`)."""
    return X[..., :-2], X[..., -2].long(), X[..., -1]


def gather(matrix: Tensor, x1: Tensor, x2: Tensor, *, diag: bool) -> Tensor:
    """Return the entries of an `m × m` matrix for the experiments of two sets of inputs."""
    first, second = split_inputs(x1)[1], split_inputs(x2)[1]
    if diag:
        return matrix[first, second]
    return matrix[first.unsqueeze(-1), second.unsqueeze(-2)]


class SquaredExponential(Kernel):
    """`exp(-½ Σ_c ((x_c - x'_c) / ℓ_p(c))²)`: one length-scale per parameter, not per column.

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

    @property
    def lengthscale(self) -> Tensor:
        """The length-scales, one per parameter."""
        return self.raw_lengthscale

    @property
    def inverse(self) -> Tensor:
        """What each column is multiplied with before distances are taken."""
        return 1 / (self.widths * self.lengthscale[self.groups])

    def scaled(self, X: Tensor) -> Tensor:
        """Return the kernel's columns of `X` in units of their length-scales."""
        return X[..., self.columns] * self.inverse

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        a, b = self.scaled(x1), self.scaled(x2)
        if diag:
            return (-0.5 * (a - b).square().sum(-1)).exp()
        norms = a.square().sum(-1, keepdim=True) + b.square().sum(-1, keepdim=True).mT
        return (a @ b.mT - 0.5 * norms).clamp_max(0.0).exp()


class TaskCovariance(Kernel):
    """`B = F Fᵀ + diag(v)`: how far experiments agree. Correlations may be negative.

    Args:
        size: The number `m` of experiments.
        settings: Rank and prior.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        super().__init__()
        self.learned = size > 1 or settings.single_task_scale
        self.starts_anywhere = self.learned and settings.first_task_anywhere
        rank = min(settings.task_rank or size, size) if size > 1 else 0
        factor = torch.zeros(size, rank, dtype=torch.float64)
        own = torch.ones(size, dtype=torch.float64)
        if rank:
            factor[:, 0] = 0.8
            own -= 0.8**2
        self.register_parameter("factor", Parameter(factor, requires_grad=self.learned))
        self.register_parameter("raw_own", Parameter(own, requires_grad=self.learned))
        self.register_constraint("raw_own", GreaterThan(SMALLEST_TASK_VARIANCE, transform=None))
        self.prior = TaskCovariancePrior(settings.task_scale, settings.task_correlation)
        if self.learned:
            self.register_prior("covariance_prior", self.prior, _matrix_of)

    @property
    def matrix(self) -> Tensor:
        """The covariance of the experiments, `m × m`."""
        return self.factor @ self.factor.mT + torch.diag(self.raw_own)

    def set_matrix(self, matrix: Tensor) -> None:
        """Take over a positive definite `matrix`; needs a factor of full rank."""
        own = torch.full_like(self.raw_own, SMALLEST_TASK_VARIANCE)
        with torch.no_grad():
            self.factor.copy_(torch.linalg.cholesky(matrix - torch.diag(own)))
            self.raw_own.copy_(own)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        return gather(self.matrix, x1, x2, diag=diag)


class PresenceKernel(Kernel):
    """`s exp(-½ Σ_b ((p_b - p'_b) / ℓ_b)²)`, `p` marking the blocks that an experiment has.

    Not part of the paper's formula; the authors' code adds it to the sum over blocks.

    Args:
        present: Which of the blocks (rows) the `m` experiments (columns) have.
        settings: The prior of each length-scale, and whether the weight is learned.
    """

    def __init__(self, present: Tensor, settings: Settings) -> None:
        super().__init__()
        self.register_buffer("marks", present.to(torch.float64).mT.contiguous())
        self.prior = _register_length_scales(self, len(present), settings)
        self.learned_weight = settings.block_weight is not None
        weight = Parameter(torch.ones(1, dtype=torch.float64), requires_grad=self.learned_weight)
        self.register_parameter("raw_weight", weight)
        self.register_constraint("raw_weight", Interval(*WEIGHT_RANGE, transform=None))

    @property
    def matrix(self) -> Tensor:
        """The kernel's value for each pair of experiments, `m × m`."""
        marks = self.marks / self.raw_lengthscale
        distance = (marks.unsqueeze(-2) - marks.unsqueeze(-3)).square().sum(-1)
        return self.raw_weight * (-0.5 * distance).exp()

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        return gather(self.matrix, x1, x2, diag=diag)


class BlockKernel(Kernel):
    """`B_ii' · Σ_b w_b [block b in both i and i'] k_b(x, x')`: the paper's conditional kernel.

    With one block that every experiment has it is the ordinary multi-task kernel.

    Args:
        blocks: One kernel per block.
        present: Which of the blocks (rows) the `m` experiments (columns) have.
        settings: Priors.
        presence: Whether to add a kernel over which blocks are present.
    """

    def __init__(
        self,
        blocks: Sequence[SquaredExponential],
        present: Tensor,
        settings: Settings,
        *,
        presence: bool = False,
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
        self.presence = PresenceKernel(present, settings) if presence else None

    def factors(self) -> list[Tensor]:
        """Return for each block the `m × m` factors of its kernel."""
        B = self.task.matrix
        return [
            weight * B * (mark.unsqueeze(-1) * mark)
            for weight, mark in zip(self.raw_weight, self.present, strict=True)
        ]

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        terms = [
            gather(factor, x1, x2, diag=diag) * block.forward(x1, x2, diag=diag)
            for factor, block in zip(self.factors(), self.blocks, strict=True)
        ]
        if self.presence is not None:
            matrix = self.task.matrix * self.presence.matrix
            terms.append(gather(matrix, x1, x2, diag=diag))
        return torch.stack(terms).sum(0)


class ResidualKernel(Kernel):
    """`[i = i'] s_i² k_r(x, x')`: how an experiment differs from what the others say.

    Args:
        base: The kernel `k_r`, with length-scales of its own.
        size: The number `m` of experiments.
        prior: The prior of each `s_i²`.
    """

    def __init__(self, base: SquaredExponential, size: int, prior: LogNormal) -> None:
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

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        return gather(self.matrix, x1, x2, diag=diag) * self.base.forward(x1, x2, diag=diag)


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

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:  # noqa: ANN401, FBT001, FBT002, D102
        covariance = self.shared.forward(x1, x2, diag=diag)
        if self.residual is not None:
            covariance = covariance + self.residual.forward(x1, x2, diag=diag)
        return covariance


def _register_length_scales(kernel: Kernel, size: int, settings: Settings) -> LogNormal:
    dimensions = max(size, 1)
    prior = settings.length_scale(dimensions)
    first = prior.mode if settings.first_length_scale is None else settings.first_length_scale
    start = torch.full((size,), first, dtype=torch.float64)
    kernel.register_parameter("raw_lengthscale", Parameter(start))
    shortest = GreaterThan(settings.shortest_length_scale(dimensions), transform=None)
    kernel.register_constraint("raw_lengthscale", shortest)
    if size:
        kernel.register_prior("lengthscale_prior", log_normal_prior(prior), "raw_lengthscale")
    return prior


def _matrix_of(task: TaskCovariance) -> Tensor:
    return task.matrix
