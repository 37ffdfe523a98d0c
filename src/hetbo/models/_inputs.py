"""The inputs of the GPyTorch modules.

They have `d + 2` columns: the point, the position of its experiment, and its known noise variance
(-1 where it is learned), so that noise, means and gaps need no side channel.
"""

import torch
from torch import Tensor


def split_inputs(X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the points (`… × n × d`), their experiments and their known noise (`… × n`)."""
    return X[..., :-2], X[..., -2].long(), X[..., -1]


def gather(matrix: Tensor, x1: Tensor, x2: Tensor, *, diag: bool) -> Tensor:
    """Return the entries of an `m × m` matrix for the experiments of two sets of inputs."""
    first, second = split_inputs(x1)[1], split_inputs(x2)[1]
    if diag:
        return matrix[first, second]
    return matrix[first.unsqueeze(-1), second.unsqueeze(-2)]


def position_in(X: Tensor, count: int) -> Tensor:
    """Return which of `count` values inputs have: their experiment's, or the one of all."""
    experiment = split_inputs(X)[1]
    return experiment if count > 1 else torch.zeros_like(experiment)
