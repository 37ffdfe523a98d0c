"""Old experiments that are made up: hills in two parameters, and one that leads astray."""

from collections.abc import Callable

import numpy as np

import hetbo as hb

SQUARE = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
Function = Callable[[float, float], float]


def hill(x: float, y: float) -> float:
    return (x - 0.3) ** 2 + (y - 0.3) ** 2


def hollow(x: float, y: float) -> float:
    """Agree with the hill everywhere but at its top, which is worst here."""
    return hill(x, y) if hill(x, y) > 0.08 else 1.0


def old(
    name: str, function: Function, *, seed: int, trials: int = 12, goal: hb.Goal = hb.Goal.MINIMIZE
) -> hb.Experiment:
    """Return an experiment that tried random points."""
    points = np.random.default_rng(seed).random((trials, 2)).tolist()
    sign = -goal.sign
    return hb.Experiment(
        name,
        SQUARE,
        [hb.Trial({"x": x, "y": y}, sign * function(x, y)) for x, y in points],
        goal=goal,
    )


def hills(count: int, trials: int = 12) -> list[hb.Experiment]:
    """Return experiments with the same hill, a little shifted."""
    return [
        old(
            f"hill-{index}",
            lambda x, y, by=0.02 * index: hill(x - by, y),  # type: ignore[misc]
            seed=index,
            trials=trials,
        )
        for index in range(count)
    ]
