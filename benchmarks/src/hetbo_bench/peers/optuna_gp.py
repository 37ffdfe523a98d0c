"""Optuna's Gaussian process sampler, without the old trials.

It models the parameters that all trials have in common, and would draw the new ones at random if
it were given old trials that lack them.
"""

from optuna.samplers import GPSampler

from hetbo_bench.methods import Tuner
from hetbo_bench.peers.optuna_axes import grid_of
from hetbo_bench.peers.optuna_study import StudyTuner
from hetbo_bench.problems.problem import Problem, Start


def tuner(problem: Problem, start: Start, seed: int) -> Tuner:
    """Return Optuna's GP sampler for a problem.

    The first trials take the place of the ones that the sampler would draw at random.

    Args:
        problem: The problem.
        start: What the replication starts from.
        seed: The sampler's seed.

    Raises:
        DataError: The problem has candidates, which are not all combinations of some values.
    """
    return StudyTuner(
        problem.space,
        problem.goal,
        lambda: GPSampler(seed=seed, n_startup_trials=len(start.trials)),
        grid=grid_of(problem),
        seed=seed,
    )
