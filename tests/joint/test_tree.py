import re
from xml.etree import ElementTree as ET

from hypothesis import given

from hetbo.joint import SpaceTree, find_blocks
from strategies import ODD_NAMES, Family, families, mergeable

SVG = "{http://www.w3.org/2000/svg}"


def tree(*family: list[str], names: tuple[str, ...] | None = None) -> SpaceTree:
    return SpaceTree(find_blocks(family), names or tuple(f"f{n + 1}" for n in range(len(family))))


PAPER = tree(
    ["learning rate", "dropout"],
    ["learning rate", "dropout", "batch size"],
    ["learning rate", "dropout", "hidden layers"],
)


def test_the_figure_of_the_paper_as_text() -> None:
    assert PAPER.text() == (
        "k1: learning rate, dropout  [all experiments]\n"
        "├─ k2: batch size  [f2]\n"
        "└─ k3: hidden layers  [f3]"
    )


def test_deeper_trees_are_indented() -> None:
    deep = tree(["a", "b", "c"], ["a", "b"], ["a", "d"], ["a", "b", "c"])
    assert deep.text() == (
        "k1: a  [all experiments]\n├─ k2: b  [f1, f2, f4]\n│  └─ k3: c  [f1, f4]\n└─ k4: d  [f3]"
    )


def test_nothing_shared_gives_several_roots() -> None:
    apart = tree(["a"], ["b"])
    assert apart.parents == (None, None)
    assert apart.text() == "k1: a  [f1]\nk2: b  [f2]"
    assert "->" not in apart.dot()


def test_a_single_experiment_is_called_by_its_name() -> None:
    assert tree(["a", "b"]).text() == "k1: a, b  [f1]"


@given(families())
def test_a_block_hangs_below_the_smallest_that_includes_it(family: list[frozenset[str]]) -> None:
    found = tree(*map(sorted, family))
    for block, parent in zip(found.blocks, found.parents, strict=True):
        above = [other for other in found.blocks if other.experiments > block.experiments]
        if parent is None:
            assert not above
        else:
            assert found.blocks[parent] in above
            fewest = min(len(other.experiments) for other in above)
            assert len(found.blocks[parent].experiments) == fewest


@given(families())
def test_every_block_stands_on_one_line(family: list[frozenset[str]]) -> None:
    found = tree(*map(sorted, family))
    numbers = [int(n) for n in re.findall(r"^[│├└─ ]*k(\d+): ", found.text(), re.MULTILINE)]
    assert sorted(numbers) == list(range(1, len(found.blocks) + 1))
    assert len(found.text().splitlines()) == len(found.blocks)


def test_the_figure_of_the_paper_for_graphviz() -> None:
    assert PAPER.dot() == (
        "digraph spaces {\n"
        "  node [shape=box, style=rounded];\n"
        '  b0 [label="learning rate, dropout\\nk1 · all experiments"];\n'
        '  b1 [label="batch size\\nk2 · f2"];\n'
        '  b2 [label="hidden layers\\nk3 · f3"];\n'
        "  b0 -> b1;\n"
        "  b0 -> b2;\n"
        "}"
    )


def test_names_cannot_end_a_label_of_graphviz() -> None:
    text = tree(['"]; evil [label="', "back\\slash", "two\nlines"]).dot()
    assert '  b0 [label="\\"]; evil [label=\\", back\\\\slash, two\\\\nlines\\nk1 · f1"];' in text


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(picture)  # noqa: S314  # our own picture


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in parsed(picture).iter(f"{SVG}text")]


def test_the_figure_of_the_paper_as_a_picture() -> None:
    assert texts(PAPER.svg()) == [
        "learning rate, dropout",
        "k1 · all experiments",
        "batch size",
        "k2 · f2",
        "hidden layers",
        "k3 · f3",
    ]
    root = parsed(PAPER.svg())
    assert len(root.findall(f"{SVG}rect")) == 3
    assert len(root.findall(f"{SVG}path")) == 2


def test_names_cannot_add_elements_to_a_picture() -> None:
    name = "<script>alert('x')</script>"
    picture = tree([name], names=('"><b>&',)).svg()
    assert "<script" not in picture
    assert texts(picture) == [name, 'k1 · "><b>&']


def test_long_labels_are_cut() -> None:
    label, _ = texts(tree([f"parameter {n}" for n in range(20)]).svg())
    assert len(label) == 48
    assert label.startswith("parameter 0, parameter 1")
    assert label.endswith("…")


def boxes(picture: ET.Element) -> list[tuple[float, float, float, float]]:
    sides = ("x", "y", "width", "height")
    found = [[float(rect.attrib[side]) for side in sides] for rect in picture.iter(f"{SVG}rect")]
    return [(x, y, x + width, y + height) for x, y, width, height in found]


@given(families())
def test_boxes_of_a_picture_lie_inside_it_and_apart(family: list[frozenset[str]]) -> None:
    picture = parsed(tree(*map(sorted, family)).svg())
    _, _, right, bottom = map(float, picture.attrib["viewBox"].split())
    every = boxes(picture)
    for number, (x1, y1, x2, y2) in enumerate(every):
        assert 0 <= x1 < x2 <= right
        assert 0 <= y1 < y2 <= bottom
        for a1, b1, a2, b2 in every[:number]:
            assert x2 <= a1 or a2 <= x1 or y2 <= b1 or b2 <= y1


@given(mergeable())
def test_any_joint_space_can_be_drawn(family: Family) -> None:
    found = family.joint.tree()
    assert len(texts(found.svg())) == 2 * len(found.blocks)
    assert len(found.text().splitlines()) == len(found.blocks)
    assert len(found.dot().splitlines()) == 3 + len(found.blocks) + sum(
        parent is not None for parent in found.parents
    )


def test_odd_names_are_drawn_as_text() -> None:
    odd = [tree([name]) for name in ODD_NAMES]
    printable = [n.replace("\u202e", "\\u202e") for n in ODD_NAMES]
    assert [texts(one.svg())[0] for one in odd] == printable
    assert [one.text() for one in odd] == [f"k1: {name}  [f1]" for name in printable]


def test_many_experiments_are_counted_and_many_blocks_left_out() -> None:
    own = [[f"p{n}", "a"] if n % 2 else [f"p{n}"] for n in range(1, 100)]
    large = tree(["a", "b"], *own, names=("target", *(f"old {n}" for n in range(1, 100))))
    lines = large.text().splitlines()
    assert lines[0] == "k1: a  [target and 50 of 99 sources]"
    assert lines[1] == "├─ k2: b  [target]"
    assert len(lines) == 17
    assert lines[-1] == "… 85 more blocks with 85 parameters, each of a single experiment"
    assert large.svg().count("<rect") == 16
    assert large.dot().count("label=") == 101
    assert PAPER.left_out == ""


@given(families())
def test_what_stands_above_a_block_that_is_shown_is_shown(family: list[frozenset[str]]) -> None:
    found = tree(*map(sorted, family), *([f"q{n}"] for n in range(20)))
    shown = {int(n) - 1 for n in re.findall(r"k(\d+): ", found.text())}
    assert len(shown) == min(len(found.blocks), 16)
    assert {found.parents[node] for node in shown} <= {None, *shown}
    assert {n for n, block in enumerate(found.blocks) if 0 in block.experiments} <= shown
