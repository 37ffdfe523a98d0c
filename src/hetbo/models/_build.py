"""Building the modules of a model from a data set."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo.models._imputation import Gap
from hetbo.models._settings import Settings
from hetbo.models._squared_exponential import SquaredExponential
from hetbo.models._stationary import StationaryKernel
from hetbo.models._transfer_kernel import BlockKernel, ResidualKernel, TransferKernel

_SMALLEST_UNIT = 1e-5
"""In the joint cube. Squared distances in smaller units of length would be rounding errors."""


KernelType = type[StationaryKernel]


def kernel_over(
    data: Dataset,
    parameters: Sequence[str],
    settings: Settings,
    *,
    kernel: KernelType = SquaredExponential,
    target_units: bool = False,
) -> StationaryKernel:
    """Return a kernel over some parameters of the joint space.

    Args:
        data: The trials.
        parameters: The parameters' names.
        settings: Priors.
        kernel: Which kernel.
        target_units: Whether lengths are measured in units of the target's ranges, not of the
            joint ones.
    """
    columns = data.encoder.columns
    groups = [i for i, name in enumerate(parameters) for _ in columns.of(name)]
    low, high = data.encoder.bounds()
    widths = np.where(high > low, np.maximum(high - low, _SMALLEST_UNIT), 1.0)
    widths = widths[columns.of(*parameters)]
    return kernel(
        columns.of(*parameters), groups, settings, widths=widths.tolist() if target_units else None
    )


def transfer_kernel(
    data: Dataset,
    blocks: Sequence[tuple[Sequence[str], Sequence[bool]]],
    settings: Settings,
    *,
    kernel: KernelType = SquaredExponential,
    residual: bool = False,
    target_units: bool = False,
) -> TransferKernel:
    """Return a model's kernel.

    Args:
        data: The trials.
        blocks: The parameters of each block, and which of the `m` experiments have it.
        settings: Priors.
        kernel: Which kernel each block has, and the residual.
        residual: Whether each experiment has a kernel of its own.
        target_units: Whether lengths are measured in units of the target's ranges.
    """
    kernels = [
        kernel_over(data, names, settings, kernel=kernel, target_units=target_units)
        for names, _ in blocks
    ]
    present = torch.tensor([list(have) for _, have in blocks])
    shared = BlockKernel(kernels, present, settings)
    own = None
    if residual:
        names = [name for parameters, _ in blocks for name in parameters]
        size = len(data.names)
        base = kernel_over(data, names, settings, kernel=kernel)
        own = ResidualKernel(base, size, settings.residual_variance)
    return TransferKernel(shared, own)


def gaps_of(data: Dataset) -> list[Gap]:
    """Return what each experiment misses."""
    encoder = data.encoder
    return [
        Gap(i, name, tuple(encoder.columns.of(name)), parameter.ordered)
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
