"""An Optuna study as a tuner."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from optuna.samplers import BaseSampler
from optuna.study import create_study
from optuna.trial import FrozenTrial, TrialState, create_trial
from optuna.trial import Trial as OptunaTrial

from hetbo.experiments import Goal
from hetbo.spaces import Space, Value
from hetbo_bench.peers.containment import contained
from hetbo_bench.peers.optuna_axes import Axis, Grid, axes_of

Evaluated: TypeAlias = tuple[Space, Mapping[str, Value], float]
"""The space that some parameters are from, the parameters, and their value."""


class StudyTuner:
    """An Optuna study that is asked and told.

    What is told need not be what was asked for: a problem may have evaluated something near by.
    The trial that was asked for is then marked as failed, which Optuna's samplers take no account
    of (while they count one that runs as a bad one), and what was evaluated is added as a trial.

    Args:
        space: What is tuned.
        goal: Which way is better.
        sampler: Makes the sampler.
        grid: The values that numbers can have.
        old: Evaluated parameters that the study begins with.
        seed: The seed of all random choices that are not the sampler's own.
    """

    def __init__(
        self,
        space: Space,
        goal: Goal,
        sampler: Callable[[], BaseSampler],
        *,
        grid: Grid | None = None,
        old: Iterable[Evaluated] = (),
        seed: int,
    ) -> None:
        grid = grid or {}
        self._axes = axes_of(space, grid)
        self._seed = seed
        self._asked: OptunaTrial | None = None
        with contained(seed):
            self._study = create_study(direction=goal.value, sampler=sampler())
            for own, params, value in old:
                self._study.add_trial(_complete_trial(axes_of(own, grid), params, value))

    @property
    def trials(self) -> list[FrozenTrial]:
        """The study's trials: the old ones, what was told, and what was asked for in vain."""
        return self._study.get_trials()

    def ask(self) -> Mapping[str, Value]:
        """Return the next parameters to try."""
        with contained(self._seed, len(self._study.get_trials(deepcopy=False))):
            self._drop_asked()
            self._asked = self._study.ask(
                {name: axis.distribution for name, axis in self._axes.items()}
            )
        return self._read(self._asked)

    def tell(self, params: Mapping[str, Value], value: float) -> None:
        """Take note of the value of some parameters."""
        with contained(self._seed):
            if self._asked is not None and self._read(self._asked) == params:
                self._study.tell(self._asked, value)
                self._asked = None
            else:
                self._drop_asked()
                self._study.add_trial(_complete_trial(self._axes, params, value))

    def _drop_asked(self) -> None:
        if self._asked is not None:
            self._study.tell(self._asked, state=TrialState.FAIL)
            self._asked = None

    def _read(self, trial: OptunaTrial) -> dict[str, Value]:
        return {name: axis.read(trial.params[name]) for name, axis in self._axes.items()}


def _complete_trial(
    axes: Mapping[str, Axis], params: Mapping[str, Value], value: float
) -> FrozenTrial:
    return create_trial(
        params={name: axis.write(params[name]) for name, axis in axes.items()},
        distributions={name: axis.distribution for name, axis in axes.items()},
        value=value,
    )
