"""Optuna's TPE sampler, the old trials added to the study.

`group=True` splits the parameters into those that occur in the same trials. The parameters that a
source shares with the target are drawn from all trials, the others from the target's alone. This
is what Optuna offers for a space that grew.
"""

import warnings

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import TPESampler

from hetbo_bench.methods import Tuner
from hetbo_bench.peers.old_trials import old_trials
from hetbo_bench.peers.optuna_axes import grid_of
from hetbo_bench.peers.optuna_study import StudyTuner
from hetbo_bench.problems.problem import Problem, Start


def group_tpe(seed: int) -> TPESampler:
    """Return the sampler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        return TPESampler(multivariate=True, group=True, seed=seed)


def tuner(problem: Problem, start: Start, seed: int) -> Tuner:
    """Return Optuna's group TPE for a problem.

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
        lambda: group_tpe(seed),
        grid=grid_of(problem),
        old=[
            (source.space, trial.params, value)
            for source, trial, value in old_trials(problem, start)
        ],
        seed=seed,
    )
