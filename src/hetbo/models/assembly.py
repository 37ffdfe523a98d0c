"""Putting the parts of a model together from a data set."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from hetbo.encoding.dataset import Dataset
from hetbo.models.kernels import BlockKernel, ResidualKernel, SquaredExponential, TransferKernel
from hetbo.models.parts import Gap
from hetbo.models.settings import Settings
from hetbo.spaces import Categorical

_SMALLEST_WIDTH = 1e-4
"""A range smaller than this, in the joint cube, is none to measure lengths in."""


def se_kernel(
    data: Dataset,
    parameters: Sequence[str],
    settings: Settings,
    *,
    fill: float = 0.0,
    target_units: bool = False,
) -> SquaredExponential:
    """Return a squared-exponential kernel over some parameters of the joint space.

    Args:
        data: The trials.
        parameters: The parameters' names.
        settings: Priors, and units of length.
        fill: Where a missing number counts as tried, if lengths are in units of what was tried.
        target_units: Whether lengths are measured in units of the target's ranges, not of the
            joint ones.
    """
    columns = data.encoder.columns
    groups = [i for i, name in enumerate(parameters) for _ in columns.of(name)]
    low, high = data.encoder.bounds()
    if settings.observed_units and len(data.y):
        X = np.where(np.isnan(data.X), fill, data.X)
        low, high = X.min(axis=0), X.max(axis=0)
        high = np.where(high - low > _SMALLEST_WIDTH, high, low)
    widths = np.where(high > low, high - low, 1.0)[columns.of(*parameters)]
    own_units = target_units or settings.observed_units
    return SquaredExponential(
        columns.of(*parameters), groups, settings, widths=widths.tolist() if own_units else None
    )


def transfer_kernel(
    data: Dataset,
    blocks: Sequence[tuple[Sequence[str], Sequence[bool]]],
    settings: Settings,
    *,
    presence: bool = False,
    residual: bool = False,
    fill: float = 0.0,
    target_units: bool = False,
) -> TransferKernel:
    """Return a model's kernel.

    Args:
        data: The trials.
        blocks: The parameters of each block, and which of the `m` experiments have it.
        settings: Priors, and units of length.
        presence: Whether to add the kernel over which blocks are present.
        residual: Whether each experiment has a kernel of its own.
        fill: Where a missing number counts as tried, if lengths are in units of what was tried.
        target_units: Whether lengths are measured in units of the target's ranges.
    """
    kernels = [
        se_kernel(data, names, settings, fill=fill, target_units=target_units)
        for names, _ in blocks
    ]
    present = torch.tensor([list(have) for _, have in blocks])
    shared = BlockKernel(kernels, present, settings, presence=presence)
    own = None
    if residual:
        names = [name for parameters, _ in blocks for name in parameters]
        size = len(data.names)
        base = se_kernel(data, names, settings, fill=fill)
        own = ResidualKernel(base, size, settings.residual_variance)
    return TransferKernel(shared, own)


def gaps_of(data: Dataset) -> list[Gap]:
    """Return what each experiment misses."""
    encoder = data.encoder
    return [
        Gap(i, name, tuple(encoder.columns.of(name)), not isinstance(parameter, Categorical))
        for i, member in enumerate(encoder.joint.members)
        for name, parameter in encoder.joint.space.items()
        if name not in member.space and name not in member.fixed
    ]


def centre_of(data: Dataset) -> Tensor:
    """Return the middle of the cube, `m × d`: 0.5 for numbers, equal shares for categories."""
    columns = data.encoder.columns
    counts = [len(columns.of(column.parameter)) for column in columns]
    row = torch.tensor(
        [0.5 if c.choice is None else 1 / n for c, n in zip(columns, counts, strict=True)],
        dtype=torch.float64,
    )
    return row.expand(len(data.names), -1).clone()
