"""One parameter at a time: what is left when the joint space does not have it."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo.errors import SpaceError
from hetbo.experiments import Experiment, Trial
from hetbo.experiments.optuna_distributions import Translation


def from_sources(
    sources: Sequence[Experiment], number: int, name: str, distribution: BaseDistribution
) -> list[Any]:
    """Return what a good trial of a source had; nothing if no source has a value that fits.

    Trial 0 follows each source's best trial, trial 1 the second best and so on, so that several
    workers that start together do not all repeat the same one.

    Args:
        sources: The sources; the first that knows the parameter is followed.
        number: The trial's number.
        name: The parameter's name.
        distribution: The parameter's distribution.
    """
    translation = Translation.of(name, distribution)
    for source in sources:
        if not source.complete:
            continue
        trial = _best_first(source)[number % len(source.complete)]
        known = {**source.fixed, **trial.params}
        if name in known:
            try:
                return [translation.write(known[name])]
            except SpaceError:  # the range has moved
                continue
    return []


def by_tpe(
    study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution, *, seed: int
) -> Any:  # noqa: ANN401  # whatever the user chose as a choice
    """Return what Optuna's TPE sampler suggests for one parameter from its own past values.

    The generator comes from the seed, the trial's number and the parameter's name alone.
    """
    sequence = np.random.SeedSequence([seed, trial.number, zlib.crc32(name.encode())])
    sampler = TPESampler(seed=int(sequence.generate_state(1)[0]))
    return sampler.sample_independent(study, trial, name, distribution)


def _best_first(source: Experiment) -> list[Trial]:
    return sorted(source.complete, key=lambda trial: -source.goal.sign * (trial.value or 0.0))
