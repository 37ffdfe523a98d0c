"""Starts that nothing was ever tuned on: a wrapper from a problem to a problem."""

from dataclasses import replace

from hetbo_bench.problems.problem import Problem

_FIRST = 10_000
"""Replications are counted from here: beyond the published ones, and beyond any that was looked at
while methods were made."""


def fresh(problem: Problem) -> Problem:
    """Return the problem with other starts, drawn whether or not published ones are available.

    Whatever else a replication draws, say a misleading source, is other too if it was wrapped
    before: `hartmann_30/unrelated/fresh`.
    """
    return replace(
        problem,
        name=f"{problem.name}/fresh",
        summary=f"{problem.summary}; fresh starts",
        start=lambda replication: problem.start(_FIRST + replication),
        replications=None,
        published=None,
        starts="drawn",
    )
