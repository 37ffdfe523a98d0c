import pytest

from hetbo import demo


def test_the_example_has_the_blocks_of_the_paper() -> None:
    blocks = {frozenset(block.parameters) for block in demo.example().blocks}
    assert blocks == {
        frozenset({"learning_rate", "dropout"}),
        frozenset({"batch_size"}),
        frozenset({"hidden_layers"}),
    }


def test_the_demo_shows_the_joint_space_the_changes_and_the_tree(
    capsys: pytest.CaptureFixture[str],
) -> None:
    demo.main()
    shown = capsys.readouterr().out
    joint = demo.example()
    for part in (repr(joint.space), joint.describe(), joint.tree().text()):
        assert part in shown
    for line in (
        "k1: learning_rate, dropout  [all experiments]",
        "k2: hidden_layers  [f3]",
        "k3: batch_size  [f2]",
        "f1 → f3   (1 trial with a value)",
    ):
        assert line in shown
    for kind in ("added", "dropped", "re-ranged"):
        assert kind in shown
