"""Optuna studies, old and new, as the measurements of samplers need them."""

from collections.abc import Callable

from optuna.samplers import BaseSampler
from optuna.study import Study, create_study
from optuna.trial import FrozenTrial, Trial

Objective = Callable[[Trial], float]


def old_study(sampler: BaseSampler, objective: Objective, trials: int) -> Study:
    """Return a study to learn from."""
    study = create_study(direction="maximize", sampler=sampler, study_name="old")
    study.optimize(objective, n_trials=trials)
    return study


def trials_by(
    sampler: BaseSampler, objective: Objective, trials: int, added: Study | None = None
) -> list[FrozenTrial]:
    """Return the trials of a new study, to which those of an old one were added."""
    study = create_study(direction="maximize", sampler=sampler)
    old = [] if added is None else added.trials
    study.add_trials(old)
    study.optimize(objective, n_trials=trials)
    return study.trials[len(old) :]
