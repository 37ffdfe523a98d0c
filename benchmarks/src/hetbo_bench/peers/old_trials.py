"""What peers are given: the old trials, and which problems they can work on."""

from collections.abc import Iterator

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Trial
from hetbo_bench.problems.problem import Problem, Start


def old_trials(problem: Problem, start: Start) -> Iterator[tuple[Experiment, Trial, float]]:
    """Yield the sources' complete trials: the source, the trial, and its value.

    A value is turned around if its source had the opposite goal.
    """
    for source in start.sources:
        sign = source.goal.sign * problem.goal.sign
        for trial in source.complete:
            if trial.value is not None:
                yield source, trial, sign * trial.value


def not_restricted(problem: Problem, tool: str) -> DataError:
    """Return the error that says that a tool cannot be restricted to a problem's candidates."""
    return DataError(
        f"{problem.name} allows {len(problem.candidates or ())} candidates only, and {tool} cannot "
        "be restricted to them; run it on a problem without candidates, such as hartmann"
    )
