"""What changed, told of many sources: by groups, the most different first, the rest counted."""

import time

import pytest

from hetbo import Categorical, Encoder, Experiment, Float, Int, JointSpace, Space, Trial

TARGET = Space(lr=Float(1e-4, 1, log=True), depth=Int(1, 8), booster=Categorical("tree", "dart"))


def source(name: str, space: Space, trials: int = 2, **fixed: int) -> Experiment:
    tried = {n: p.check((p.values or (0.5,))[0]) for n, p in space.items()}
    return Experiment(name, space, [Trial(tried, 1.0)] * trials, goal="minimize", fixed=fixed)


def test_few_sources_are_told_one_by_one() -> None:
    joint = JointSpace.merge(TARGET, [source(f"s{n}", TARGET) for n in range(10)])
    text = joint.describe()
    assert text.count("→ target") == 10
    assert "same in both: lr, depth, booster" in text


def test_many_equal_sources_are_told_once() -> None:
    equal = [source(f"s{n:02}", TARGET) for n in range(12)]
    fixed = [source("z1", TARGET, k=1), source("z2", TARGET, k=2)]
    text = JointSpace.merge(TARGET, [*equal, *fixed]).describe()
    lines = text.splitlines()
    assert lines[0] == "s00, s01, s02 and 9 more → target   (12 sources, 24 trials with a value)"
    assert text.count("→ target") == 3
    assert "z1 → target   (2 trials with a value)" in lines


def test_of_many_groups_the_most_different_are_shown_and_the_rest_counted() -> None:
    alike = [source(f"a{n:02}", TARGET.replace(lr=Float(1e-4, 2 + n, log=True))) for n in range(30)]
    apart = [source(f"b{n}", Space(**{f"p{n}": Int(0, 1)})) for n in range(9)]
    text = JointSpace.merge(TARGET, [*alike, *apart]).describe()
    lines = text.splitlines()
    titles = [line.split(" ")[0] for line in lines if "→ target" in line]
    assert titles == [*(f"b{n}" for n in range(9)), "a00"]
    rest = lines.index("29 more sources differ less   (29 spaces, 58 trials with a value):")
    assert lines[rest + 1 :] == [
        "  lr: re-ranged in 29",
        "  depth: same in 29",
        "  booster: same in 29",
    ]


def test_names_that_draw_or_break_lines_are_shown_escaped() -> None:
    odd = [source(f"[red]{n}\u202e", TARGET) for n in range(11)]
    text = JointSpace.merge(TARGET, odd).describe(width=300)
    assert "[red]0\\u202e" in text
    assert "\u202e" not in text


@pytest.mark.parametrize("count", [100])
def test_a_hundred_spaces_are_merged_and_described_quickly(count: int) -> None:
    names = [f"p{n}" for n in range(12)]
    every = [
        source(
            f"old-{k:03}",
            Space(**{n: Float(0.0, 1.0 + (k + i) % 5) for i, n in enumerate(names) if (k + i) % 3}),
            trials=100,
        )
        for k in range(count)
    ]
    start = time.process_time()
    joint = JointSpace.merge(every[0].space.replace(new=Int(0, 3)), every)
    text = joint.describe()
    tree = joint.tree().text()
    Encoder(joint)
    assert time.process_time() - start < 4.0  # about 0.2 s by itself
    assert len(text.splitlines()) < 300
    assert max(map(len, tree.splitlines())) < 200
