"""The paper's three-experiment example: what is shared, what changed, what it means.

python -m hetbo.demo
"""

import sys

from hetbo.experiments import Experiment, Trial
from hetbo.joint import JointSpace
from hetbo.spaces import Float, Int, Space


def example() -> JointSpace:
    """Return the joint space of the paper's example: two old experiments and a new one."""
    learning_rate, dropout = Float(1e-5, 1e-1, log=True), Float(0.0, 0.5)
    first = Experiment(
        "f1",
        Space(learning_rate=learning_rate, dropout=dropout),
        [Trial({"learning_rate": 1e-3, "dropout": 0.1}, 0.31)],
    )
    second = Experiment(
        "f2",
        Space(learning_rate=learning_rate, dropout=dropout, batch_size=Int(16, 256, log=True)),
        [Trial({"learning_rate": 3e-4, "dropout": 0.3, "batch_size": 64}, 0.28)],
    )
    target = Space(learning_rate=learning_rate, dropout=Float(0.0, 0.8), hidden_layers=Int(1, 8))
    return JointSpace.merge(target, [first, second], target_name="f3")


def main() -> None:
    """Print the example's joint space, its changes and its tree."""
    joint = example()
    sys.stdout.write(
        "Two old experiments, f1 and f2, and a new one, f3, with other parameters.\n\n"
        f"The joint space:\n{joint.space!r}\n\n"
        f"What changed:\n\n{joint.describe()}\n\n"
        f"What is shared, as a tree (k1 … are the kernels of the conditional model):\n\n"
        f"{joint.tree().text()}\n"
    )


if __name__ == "__main__":
    main()
