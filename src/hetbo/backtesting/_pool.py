"""An old experiment as a table to search again: its settings, and which of them are good."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from hetbo.errors import shown
from hetbo.experiments import Experiment, Goal, Trial, TrialState
from hetbo.spaces import Value

FEWEST_SETTINGS = 6
"""With fewer settings than this, whoever searches is done before anything was learned."""
_ROUNDING = 1e-9

Key = tuple[tuple[str, Value], ...]
"""The type and value of each parameter, in the order of their names."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The settings that an experiment tried, each once.

    Attributes:
        goal: Which way is better.
        settings: A trial for each setting, with the mean of its values if it was repeated; a
            failed one if it always failed.
        level: The value to reach; without any value, the best that there is.
    """

    goal: Goal
    settings: tuple[Trial, ...]
    level: float

    @classmethod
    def of(cls, experiment: Experiment, top: float) -> Self:
        """Return an experiment's settings.

        Args:
            experiment: The experiment. Its pending trials are left out.
            top: Which share of the settings with a value is good; at least one is.
        """
        repeats: dict[Key, list[Trial]] = {}
        for trial in experiment.trials:
            if trial.state is not TrialState.PENDING:
                repeats.setdefault(key_of(trial.params), []).append(trial)
        settings = tuple(map(_mean, repeats.values()))
        values = sorted(
            (trial.value for trial in settings if trial.value is not None),
            key=lambda value: -experiment.goal.sign * value,
        )
        rank = max(math.ceil(top * len(values) - _ROUNDING), 1)
        return cls(
            experiment.goal,
            settings,
            values[rank - 1] if values else experiment.goal.sign * math.inf,
        )

    def is_good(self, trial: Trial) -> bool:
        """Return whether a trial reaches the level."""
        if trial.value is None:
            return False
        return self.goal.sign * trial.value >= self.goal.sign * self.level

    @property
    def good(self) -> int:
        """How many settings reach the level; more than `top` asks for if there are ties."""
        return sum(map(self.is_good, self.settings))

    def obstacle(self, name: str) -> str | None:
        """Return why there is nothing to search for, in a sentence; None if there is."""
        values = [trial.value for trial in self.settings if trial.value is not None]
        if len(values) < FEWEST_SETTINGS:
            return (
                f"{shown(name)} has {len(values)} different settings with a value; a replay needs "
                f"{FEWEST_SETTINGS}."
            )
        if min(values) == max(values):
            return f"All values of {shown(name)} are equal: there is no best setting to find."
        return None


def key_of(params: Mapping[str, Value]) -> Key:
    """Return what tells one setting from another; `True` and `1` are two."""
    return tuple((type(value).__name__, value) for _, value in sorted(params.items()))


def _mean(repeats: Sequence[Trial]) -> Trial:
    """Return one trial for several of one setting."""
    known = [trial for trial in repeats if trial.value is not None]
    if len(known) <= 1:
        return known[0] if known else repeats[0]
    count = len(known)
    value = math.fsum((trial.value or 0.0) / count for trial in known)
    noises = [trial.noise for trial in known if trial.noise is not None]
    noise = math.hypot(*(n / count for n in noises)) if len(noises) == count else None
    return Trial(known[0].params, value, noise=noise)


def thinned(experiment: Experiment, most: int) -> Experiment:
    """Return an experiment with at most so many trials: the best third, and evenly some others."""
    trials = [trial for trial in experiment.trials if trial.state is not TrialState.PENDING]
    if len(trials) <= most:
        return experiment
    complete = [index for index, trial in enumerate(trials) if trial.value is not None]
    complete.sort(key=lambda index: -experiment.goal.sign * (trials[index].value or 0.0))
    best = complete[: max(most // 3, 1)]
    others = [index for index in range(len(trials)) if index not in set(best)]
    wanted = most - len(best)
    chosen = [others[len(others) * place // wanted] for place in range(wanted)]
    return Experiment(
        experiment.name,
        experiment.space,
        [trials[index] for index in sorted([*best, *chosen])],
        goal=experiment.goal,
        fixed=experiment.fixed,
    )
