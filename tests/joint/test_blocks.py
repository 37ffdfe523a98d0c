from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hetbo.joint import Block, find_blocks
from strategies import families

PAPER = [
    ["learning rate", "dropout"],
    ["learning rate", "dropout", "batch size"],
    ["learning rate", "dropout", "hidden layers"],
]


def owners(name: str, family: Sequence[frozenset[str]]) -> frozenset[int]:
    return frozenset(number for number, names in enumerate(family) if name in names)


def unordered(blocks: Sequence[Block]) -> set[tuple[frozenset[str], frozenset[int]]]:
    return {(frozenset(block.parameters), block.experiments) for block in blocks}


def test_the_example_of_the_paper() -> None:
    assert find_blocks(PAPER) == (
        Block(("learning rate", "dropout"), frozenset({0, 1, 2})),
        Block(("batch size",), frozenset({1})),
        Block(("hidden layers",), frozenset({2})),
    )


@given(families())
def test_blocks_are_what_the_definition_says(family: list[frozenset[str]]) -> None:
    every = frozenset[str]().union(*family)
    expected = {
        (
            frozenset(n for n in every if owners(n, family) == owners(name, family)),
            owners(name, family),
        )
        for name in every
    }
    assert unordered(find_blocks(family)) == expected


@given(families())
def test_blocks_are_a_partition(family: list[frozenset[str]]) -> None:
    listed = [name for block in find_blocks(family) for name in block.parameters]
    assert len(listed) == len(set(listed))
    assert set(listed) == frozenset[str]().union(*family)
    assert all(block.parameters for block in find_blocks(family))


@given(families())
def test_blocks_are_maximal(family: list[frozenset[str]]) -> None:
    blocks = find_blocks(family)
    assert len({block.experiments for block in blocks}) == len(blocks)


@given(st.data())
def test_the_order_of_experiments_only_decides_the_order_of_blocks(data: st.DataObject) -> None:
    family = data.draw(families())
    order = data.draw(st.permutations(range(len(family))))
    moved = find_blocks([family[number] for number in order])
    renumbered = [
        Block(block.parameters, frozenset(order[number] for number in block.experiments))
        for block in moved
    ]
    assert unordered(renumbered) == unordered(find_blocks(family))


@given(families())
def test_blocks_stand_in_the_order_in_which_they_are_met(family: list[frozenset[str]]) -> None:
    firsts = [min(block.experiments) for block in find_blocks(family)]
    assert firsts == sorted(firsts)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True))
def test_parameters_of_a_block_keep_their_order(names: list[str]) -> None:
    assert find_blocks([names, names[::-1]])[0].parameters == tuple(names)


def test_names_may_be_repeated_and_families_empty() -> None:
    assert find_blocks([]) == ()
    assert find_blocks([[], ["a", "a"]]) == (Block(("a",), frozenset({1})),)
