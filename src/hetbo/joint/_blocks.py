"""Algorithm 1 of the paper: which parameters always occur together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A maximal set of parameters that occur in exactly the same experiments.

    Attributes:
        parameters: The parameters' names, in the order in which they were first met.
        experiments: The positions of the experiments that have these parameters.
    """

    parameters: tuple[str, ...]
    experiments: frozenset[int]


def find_blocks(families: Sequence[Collection[str]]) -> tuple[Block, ...]:
    """Split the parameters of several experiments into blocks.

    The blocks are a partition of all parameters: two parameters share a block exactly if they
    occur in the same experiments. The order of the experiments decides the order of the blocks,
    and nothing else.

    Args:
        families: The names of each experiment's parameters.

    Returns:
        The blocks, those of earlier experiments first.
    """
    blocks: list[Block] = []
    for position, family in enumerate(families):
        left = dict.fromkeys(family)
        refined: list[Block] = []
        for block in blocks:
            common = tuple(name for name in block.parameters if name in left)
            remaining = tuple(name for name in block.parameters if name not in left)
            if common:
                refined.append(Block(common, block.experiments | {position}))
                for name in common:
                    del left[name]
            if remaining:
                refined.append(Block(remaining, block.experiments))
        if left:
            refined.append(Block(tuple(left), frozenset({position})))
        blocks = refined
    return tuple(blocks)
