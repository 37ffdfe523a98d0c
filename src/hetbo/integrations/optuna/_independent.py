"""One parameter at a time: what is left when the joint space does not have it."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo.errors import SpaceError
from hetbo.experiments import Experiment
from hetbo.integrations.optuna._distributions import Translation
from hetbo.spaces import Value


def from_sources(
    programs: Sequence[Sequence[Experiment]],
    number: int,
    name: str,
    distribution: BaseDistribution,
    known: Mapping[str, Value],
) -> list[Any]:
    """Return what a good trial of a source had; nothing if no source has a value that fits.

    Trial 0 follows each source's best trial, trial 1 the second best and so on, so that several
    workers that start together do not all repeat the same one. In a study with branches, trials of
    all of them are ranked together; of equally good ones, the first branch's come first. Where the
    trial that is followed did not have the parameter, or other choices than have been made, the
    next best one that fits is followed.

    Args:
        programs: What each source holds; the first that knows the parameter is followed.
        number: The trial's number.
        name: The parameter's name.
        distribution: The parameter's distribution.
        known: The choices that have been made.
    """
    translation = Translation.of(name, distribution)
    for program in programs:
        ranked = _best_first(program)
        start = number % max(len(ranked), 1)
        for tried in [*ranked[start:], *ranked[:start]]:
            if name in tried and all(tried.get(n, choice) == choice for n, choice in known.items()):
                try:
                    return [translation.write(tried[name])]
                except SpaceError:
                    if not translation.labels:  # the range has moved
                        break
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


def _best_first(program: Sequence[Experiment]) -> list[dict[str, Value]]:
    complete = [(e, trial) for e in program for trial in e.complete]
    complete.sort(key=lambda pair: -pair[0].goal.sign * (pair[1].value or 0.0))
    return [{**experiment.fixed, **trial.params} for experiment, trial in complete]
