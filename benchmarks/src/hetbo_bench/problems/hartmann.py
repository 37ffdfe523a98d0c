"""Hartmann's function in six variables; the source knows four of them."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import qmc

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Float, Space, Value
from hetbo.test_functions import HARTMANN_OPTIMUM, hartmann
from hetbo_bench.paper.published import Replication, replications_of
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem, Start

NAMES = tuple(f"x{i}" for i in range(1, 7))
TARGET = Space.from_mapping({name: Float(0.0, 1.0) for name in NAMES})
SOURCE = TARGET.drop("x5", "x6")


def hartmann_problem(name: str, *, source_trials: int, fixed: float = 0.0) -> Problem:
    """Return the paper's first problem.

    Starts are the published ones where they are available, and drawn otherwise and beyond them.

    Args:
        name: How the problem is called.
        source_trials: How many trials the source has.
        fixed: The value that the source had for the two variables that it did not tune.

    Raises:
        DataError: `fixed` is outside of 0 to 1.
    """
    if not 0.0 <= fixed <= 1.0:
        raise DataError(f"fixed={fixed:g} must be a number from 0 to 1")
    published = replications_of(f"hartmann_{source_trials}")

    def start(replication: int) -> Start:
        if published is not None and replication < len(published):
            found = published[replication]
        else:
            found = _drawn(replication, source_trials)
        trials = [
            Trial(_params(SOURCE, x), hartmann(np.array([*x, fixed, fixed])))
            for x in found.source_points[0]
        ]
        source = Experiment("source", SOURCE, trials, goal=Goal.MAXIMIZE)
        first = [Trial(_params(TARGET, x), hartmann(np.array(x))) for x in found.first_points]
        return Start((source,), tuple(first))

    return Problem(
        name=name,
        summary=f"Hartmann's function in 6 variables; the source has 4, the others at {fixed:g}",
        space=TARGET,
        source_spaces={"source": SOURCE},
        goal=Goal.MAXIMIZE,
        start=start,
        evaluate=_evaluate,
        optimum=HARTMANN_OPTIMUM,
        replications=None if published is None else len(published),
        published=None if published is None or fixed else f"hartmann_{source_trials}",
        starts="drawn" if published is None else "published",
    )


def _evaluate(params: Mapping[str, Value]) -> float:
    return hartmann(np.array([params[name] for name in NAMES], dtype=np.float64))


def _params(space: Space, x: Sequence[float]) -> dict[str, Value]:
    return dict(zip(space, map(float, x), strict=True))


def _drawn(replication: int, source_trials: int) -> Replication:
    rng = np.random.default_rng([replication, source_trials])

    def sobol(dimensions: int, count: int) -> list[list[float]]:
        power = max(count - 1, 1).bit_length()
        rows: list[list[float]] = qmc.Sobol(dimensions, rng=rng).random_base2(power).tolist()
        return rows[:count]

    return Replication((sobol(4, source_trials),), ((),), sobol(6, FIRST_TRIALS), ())
