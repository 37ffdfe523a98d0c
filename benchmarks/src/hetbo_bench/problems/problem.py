"""A problem to be optimised, and what every method starts from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hetbo.experiments import Experiment, Goal, Trial
from hetbo.joint import JointSpace
from hetbo.spaces import Space, Value

EVALUATIONS = 40
"""A replication makes so many evaluations of the target, its first trials among them."""

FIRST_TRIALS = 5
"""A replication starts with so many trials of the target."""

Starts = Literal["published", "drawn"]


@dataclass(frozen=True, slots=True)
class Start:
    """What every method has at the start of a replication.

    Attributes:
        sources: The past experiments.
        trials: The first trials of the target.
    """

    sources: tuple[Experiment, ...]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A function to optimise, with past experiments in other spaces.

    Attributes:
        name: How commands and results call it.
        summary: What it is, in one line.
        space: What is tuned.
        source_spaces: What each source tuned.
        goal: Which way is better.
        start: Returns what a replication, counted from 0, starts from.
        evaluate: Returns the value of some parameters.
        optimum: The best possible value.
        replications: How many replications there are; None if as many as one likes.
        candidates: The only allowed parameters; None if all of the space is allowed.
        fixed: Known values that the target has for parameters that only sources tune.
        noise: The standard deviation of what is told to a method around the value. Comparisons
            use the values themselves.
        published: The name of the published runs that start from the same trials, if any do.
        starts: Where replications start: from the trials of the 'published' ones, or from 'drawn'
            ones. Runs of one problem with different starts do not belong together.
    """

    name: str
    summary: str
    space: Space
    source_spaces: Mapping[str, Space]
    goal: Goal
    start: Callable[[int], Start] = field(repr=False)
    evaluate: Callable[[Mapping[str, Value]], float] = field(repr=False)
    optimum: float
    replications: int | None = None
    candidates: tuple[Mapping[str, Value], ...] | None = field(default=None, repr=False)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    noise: float = 0.0
    published: str | None = None
    starts: Starts = "drawn"

    def joint(self) -> JointSpace:
        """Return the joint space of the target and its sources, without trials."""
        sources = [
            Experiment(name, space, goal=self.goal) for name, space in self.source_spaces.items()
        ]
        return JointSpace.merge(self.space, sources, target_name=self.name)
