"""Data of the sizes that the paper works with, made by formulas."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import hetbo as hb
from hetbo.encoding import Dataset
from hetbo.test_functions import hartmann

Function = Callable[[npt.NDArray[np.float64]], float]

RANGER_TARGET = (0, 1, 2, 3, 6, 7)
RANGER_SOURCES = {
    "5965": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    "7607": (0, 1, 2, 3, 4, 6, 7, 8, 10),
}
RANGER_COLUMNS = 11


def bowl(x: npt.NDArray[np.float64]) -> float:
    """A smooth function of eleven variables, of the size of the Ranger problem."""
    weights = np.linspace(1.0, 0.2, len(x))
    return float(np.sin(3 * x[0] + x[6]) - weights @ (x - 0.4) ** 2)


@dataclass(frozen=True)
class Problem:
    """A target with trials, and its sources."""

    target: hb.Experiment
    sources: tuple[hb.Experiment, ...]

    def dataset(self) -> Dataset:
        """All trials, encoded."""
        joint = hb.JointSpace.merge(self.target.space, self.sources)
        return Dataset.build(joint, self.target.trials, goal=self.target.goal)


def hartmann_problem(seed: int, *, source_trials: int = 30, target_trials: int = 20) -> Problem:
    """A source with four parameters, the other two at 0, and a target with six."""
    families = {"target": tuple(range(6)), "source": tuple(range(4))}
    sizes = {"target": target_trials, "source": source_trials}
    return _problem(hartmann, 6, families, sizes, seed)


def ranger_problem(seed: int, *, source_trials: int = 30, target_trials: int = 40) -> Problem:
    """Two sources and a target over eleven parameters, laid out as in the paper's Ranger."""
    families = {"target": RANGER_TARGET, **RANGER_SOURCES}
    sizes = {"target": target_trials, **dict.fromkeys(RANGER_SOURCES, source_trials)}
    return _problem(bowl, RANGER_COLUMNS, families, sizes, seed)


def _problem(
    function: Function,
    columns: int,
    families: dict[str, tuple[int, ...]],
    sizes: dict[str, int],
    seed: int,
) -> Problem:
    rng = np.random.default_rng(seed)
    experiments = []
    for name, family in families.items():
        points = np.zeros((sizes[name], columns))
        points[:, family] = rng.random((sizes[name], len(family)))
        trials = [
            hb.Trial({f"x{c}": float(point[c]) for c in family}, function(point))
            for point in points
        ]
        space = hb.Space(**{f"x{c}": hb.Float(0, 1) for c in family})
        experiments.append(hb.Experiment(name, space, trials, goal="maximize"))
    return Problem(experiments[0], tuple(experiments[1:]))
