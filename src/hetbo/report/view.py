"""The view model: everything that a report shows, as plain frozen data."""

from dataclasses import dataclass

from hetbo.experiments import Experiment, Goal, Trial, TrialState
from hetbo.explanation import Explanation
from hetbo.joint.tree import SpaceTree
from hetbo.models import LearnedValue
from hetbo.report.findings import Correlations, Effect, LeftOut
from hetbo.report.replay import Expectation, TrustStep
from hetbo.spaces import Space


@dataclass(frozen=True, slots=True)
class Absent:
    """A section with nothing to show.

    Attributes:
        reason: Why, in a sentence.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """The target's trials and what came of them.

    Attributes:
        trials: All trials; a trial's number is its position.
        goal: Which way is better.
        best: The number of the best trial; None if none is complete.
        best_so_far: After each trial the best value so far; None before the first value.
        expectations: What a model without the sources expected, or why that is not shown.
    """

    trials: tuple[Trial, ...]
    goal: Goal
    best: int | None
    best_so_far: tuple[float | None, ...]
    expectations: tuple[Expectation, ...] | Absent

    @property
    def best_trial(self) -> Trial | None:
        """The best trial; None if none is complete."""
        return None if self.best is None else self.trials[self.best]

    def count(self, state: TrialState) -> int:
        """Return how many trials are in a state."""
        return sum(trial.state is state for trial in self.trials)


@dataclass(frozen=True, slots=True)
class TrustHistory:
    """How far each source was trusted as trials came in.

    Attributes:
        names: The names of the sources.
        steps: The trust after some numbers of trials; the last is today's.
    """

    names: tuple[str, ...]
    steps: tuple[TrustStep, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a report shows.

    Attributes:
        title: What the user calls it.
        value: What the measured value is called.
        version: The version of hetbo.
        method: The name of the method.
        method_summary: What the method does, in one line.
        space: What is tuned.
        joint: All parameters of all experiments.
        run: The trials.
        explanation: What the models say now.
        sources: The past experiments.
        tree: Which parameters the experiments share.
        trust: The trust in each source over time.
        correlations: How experiments go along with each other.
        learned: What was learned about parameters that experiments did not tune.
        effects: The effect of each parameter, the largest first.
        left_out: Predictions of each trial from all others.
    """

    title: str
    value: str
    version: str
    method: str
    method_summary: str
    space: Space
    joint: Space
    run: Run
    explanation: Explanation
    sources: tuple[Experiment, ...]
    tree: SpaceTree
    trust: TrustHistory | Absent
    correlations: Correlations | Absent
    learned: tuple[LearnedValue, ...] | Absent
    effects: tuple[Effect, ...] | Absent
    left_out: LeftOut | Absent
