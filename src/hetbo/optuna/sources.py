"""What a sampler may learn from, read and told apart."""

import warnings
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from optuna.storages import BaseStorage
from optuna.study import Study

from hetbo.errors import HetboWarning, OptimizerError, shown
from hetbo.experiments import Experiment
from hetbo.experiments.optuna_storages import opened
from hetbo.experiments.optuna_studies import experiments_in

Source: TypeAlias = Experiment | Study | tuple[str | BaseStorage, str]
"""A past experiment: one of hetbo's, an Optuna study, or its storage and its name."""


def read_sources(sources: Iterable[Source]) -> list[Experiment]:
    """Return what the sources hold as experiments with different names.

    Raises:
        OptimizerError: Something is no source.
        DataError: A source cannot be read.
    """
    if isinstance(sources, Study | Experiment | str):
        raise OptimizerError(f"sources={shown(sources)} must be a list: sources=[…]")
    return with_own_names([experiment for source in sources for experiment in _read(source)])


def _read(source: Source) -> list[Experiment]:
    match source:
        case Experiment():
            return [source]
        case Study():
            place, study = None, source
        case (place, str(study)):
            pass
        case _:
            raise OptimizerError(
                f"{shown(source)} is no source; give an Experiment, an Optuna study, or a pair of "
                "a storage and a study's name"
            )
    with opened(place, study) as found:
        experiments = experiments_in(found)
        if not experiments:
            message = f"the source {found.study_name!r} has no complete trial to learn from"
            warnings.warn(message, HetboWarning, stacklevel=5)
    return experiments


def with_own_names(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments with a number behind names that are taken."""
    taken, named = {"target"}, list[Experiment]()
    for e in experiments:
        names = [e.name, *(f"{e.name} [{number}]" for number in range(2, len(experiments) + 3))]
        name = next(free for free in names if free not in taken)
        taken.add(name)
        named.append(Experiment(name, e.space, e.trials, goal=e.goal, fixed=e.fixed))
    return named
