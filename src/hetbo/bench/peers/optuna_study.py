"""An Optuna study as a tuner."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from optuna.samplers import BaseSampler
from optuna.study import create_study
from optuna.trial import FrozenTrial, TrialState, create_trial
from optuna.trial import Trial as OptunaTrial

from hetbo.bench.peers.containment import contained
from hetbo.bench.peers.optuna_axes import Axis, axes_of, grid_of
from hetbo.bench.problems.problem import Problem
from hetbo.spaces import Space, Value

Evaluated: TypeAlias = tuple[Space, Mapping[str, Value], float]
"""The space that some parameters are from, the parameters, and their value."""


class StudyTuner:
    """An Optuna study that is asked and told.

    What is told need not be what was asked for: a problem may have evaluated something near by.
    The trial that was asked for is then marked as failed, which Optuna's samplers take no account
    of (while they count one that runs as a bad one), and what was evaluated is added as a trial.

    Args:
        problem: The problem.
        sampler: Makes the sampler.
        old: Evaluated parameters that the study begins with.
        seed: The seed of all random choices that are not the sampler's own.

    Raises:
        DataError: The problem has candidates, which are not all combinations of some values.
    """

    def __init__(
        self,
        problem: Problem,
        sampler: Callable[[], BaseSampler],
        *,
        old: Iterable[Evaluated] = (),
        seed: int,
    ) -> None:
        grid = grid_of(problem)
        self._axes = axes_of(problem.space, grid)
        self._seed = seed
        self._asked: OptunaTrial | None = None
        with contained(seed):
            self._study = create_study(direction=problem.goal.value, sampler=sampler())
            for space, params, value in old:
                self._study.add_trial(_complete_trial(axes_of(space, grid), params, value))

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
