"""A run: an optimizer, and what its models say, computed once for all charts."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from hetbo.errors import FitError, HetboError
from hetbo.experiments import Goal, Trial, TrialState
from hetbo.methods import Explanation, Fitted, explain_fitted, explain_unfitted
from hetbo.optimizer import Optimizer
from hetbo.plot._text import counted, label

Progress = Callable[[int, int], None]
"""Called with the number of steps that are done, and that of all steps."""

_T = TypeVar("_T")


class NothingToShowError(HetboError):
    """A chart has nothing to show; the message says why, in a sentence."""


class Run:
    """An optimizer, and what its models say: fitted when first needed, once for all charts.

    Args:
        optimizer: The optimizer. It stays as it is.
        value: What the measured value is called.
        progress: Called after each step of what takes long, with the number of steps that are
            done and that of all steps.

    Attributes:
        optimizer: The optimizer.
        engine: What chooses the next trial.
        space: What is tuned.
        goal: Which way is better.
        value: What the measured value is called.
        trials: The target's trials; a trial's number is its position.
        best: The number of the best trial; None if none is complete.
        best_so_far: After each trial the best value so far; None before the first value.
    """

    def __init__(
        self, optimizer: Optimizer, *, value: str = "value", progress: Progress | None = None
    ) -> None:
        self.optimizer, self.engine, self.space = optimizer, optimizer.engine, optimizer.space
        self.goal, self.trials, self.value = self.engine.goal, optimizer.trials, value
        self.best, self.best_so_far = _best_so_far(self.trials, self.goal)
        self._progress = progress

    @property
    def best_trial(self) -> Trial | None:
        """The best trial; None if none is complete."""
        return None if self.best is None else self.trials[self.best]

    @property
    def value_axis(self) -> str:
        """The name of an axis of values; not escaped yet."""
        better = "larger" if self.goal.sign > 0 else "smaller"
        return f"{label(self.value)} ({better} is better)"

    def count(self, state: TrialState) -> int:
        """Return how many trials are in a state."""
        return sum(trial.state is state for trial in self.trials)

    @cached_property
    def explanation(self) -> Explanation:
        """What the models say now."""
        models, reason = self._models
        if reason is not None:
            return Explanation({}, {}, {}, (), reason)
        return (
            explain_unfitted(self.engine) if models is None else explain_fitted(self.engine, models)
        )

    @property
    def fitted(self) -> Fitted:
        """The models, fitted to all trials.

        Raises:
            NothingToShowError: There are none yet, or they could not be fitted.
        """
        models, _ = self._models
        if models is None:
            raise NothingToShowError(self.explanation.sentence)
        return models

    @property
    def transfer(self) -> Fitted:
        """The models, if one of them uses the sources.

        Raises:
            NothingToShowError: None does.
        """
        members = self.engine.recipe.members
        if not self.engine.joint.sources:
            raise NothingToShowError("There are no sources: the target's own trials decide.")
        if not any(member.transfers for member in members.values()):
            raise NothingToShowError(
                f"The method '{self.optimizer.method}' does not use the sources."
            )
        if not any(members[name].transfers for name in self.fitted.models):
            raise NothingToShowError(
                " ".join(self.engine.dropped_sources.values())
                or "No trial of the sources has a value, so there is nothing to learn from."
            )
        return self.fitted

    def each(self, steps: Sequence[_T]) -> Iterator[_T]:
        """Yield the steps of what takes long; the caller of the charts is told of its progress."""
        for done, step in enumerate(steps, start=1):
            yield step
            if self._progress is not None:
                self._progress(done, len(steps))

    @cached_property
    def _models(self) -> tuple[Fitted | None, str | None]:
        """The fitted models; None while there are none, with the reason if a fit has failed."""
        if self.optimizer.trials != self.trials:
            raise HetboError("the optimizer was asked or told since; make a new Run of it")
        try:
            return self.optimizer.fitted(), None
        except FitError as error:
            return None, f"The models could not be fitted: {error}."


def nothing_yet(run: Run) -> str:
    """Return why no trial has a value, or how many have none."""
    if not run.trials:
        return "No trial has been made yet"
    failed, pending = run.count(TrialState.FAILED), run.count(TrialState.PENDING)
    if not pending:
        return f"No value yet: {'the only trial' if failed == 1 else f'all {failed} trials'} failed"
    if not failed:
        return f"No value yet: {counted(pending, 'trial is', 'trials are')} pending"
    return f"No value yet: {failed} of {failed + pending} trials failed, the others are pending"


def _best_so_far(
    trials: Sequence[Trial], goal: Goal
) -> tuple[int | None, tuple[float | None, ...]]:
    best: int | None = None
    best_value: float | None = None
    best_so_far: list[float | None] = []
    for position, trial in enumerate(trials):
        if trial.value is not None and (
            best_value is None or goal.sign * trial.value > goal.sign * best_value
        ):
            best, best_value = position, trial.value
        best_so_far.append(best_value)
    return best, tuple(best_so_far)
