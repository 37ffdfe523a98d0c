"""How methods did: against each other, and against what the paper reports."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from hetbo.bench.analysis.against_published import (
    SHOWN_AT,
    PublishedRuns,
    compare_with_published,
    published_for,
    published_summaries,
    reaches,
)
from hetbo.bench.analysis.estimates import Ratio, estimate, ranks, ratio_of_sums
from hetbo.bench.analysis.grouping import (
    MethodRuns,
    ProblemRuns,
    averages,
    in_order,
    runs_by_problem,
)
from hetbo.bench.analysis.summaries import Comparison, MethodSummary, ProblemComparison, Ranking
from hetbo.bench.data.published import FOLDER_VARIABLE
from hetbo.bench.running.runs import Run
from hetbo.errors import DataError, shown

REFERENCES = ("vanilla", "vanilla-paper")
"""Regret is shown relative to the first of these that was run."""

_FEWEST_RANKED = 2


def compare(
    runs: Iterable[Run], *, methods: Collection[str] | None = None, against: str | None = None
) -> Comparison:
    """Compare methods, with each other and with what the paper reports.

    Args:
        runs: The runs, in any order.
        methods: Which methods to compare; all if None.
        against: The method that regret is shown relative to; vanilla if None.

    Raises:
        DataError: There are no runs, none of a method, or runs that do not belong together.
    """
    problems = list(runs_by_problem(runs, methods=methods).values())
    if against is not None and not any(against in problem.methods for problem in problems):
        raise DataError(f"there are no runs of {shown(against)} to compare with")
    references = REFERENCES if against is None else (against,)
    published = [published_for(problem) for problem in problems]
    names = in_order({method for problem in problems for method in problem.methods})
    ranking = _ranking(problems, names)
    notes = [note for pair in zip(problems, published, strict=True) for note in _notes(*pair)]
    if ranking is None and len(names) >= _FEWEST_RANKED:
        notes.append(
            f"no ranks: no problem has a replication of all {len(names)} methods; compare fewer"
        )
    return Comparison(
        problems=tuple(
            _on_problem(runs, there, references)
            for runs, there in zip(problems, published, strict=True)
        ),
        ranking=ranking,
        notes=tuple(notes),
    )


def _on_problem(
    runs: ProblemRuns, published: PublishedRuns | None, references: Sequence[str]
) -> ProblemComparison:
    reference = next((name for name in references if name in runs.methods), None)
    return ProblemComparison(
        problem=runs.problem,
        goal=runs.goal.value,
        optimum=runs.optimum,
        evaluations=runs.evaluations,
        shared_replications=len(runs.shared),
        reference=reference,
        methods=tuple(_summary(runs, m, reference, published) for m in runs.methods.values()),
        published=() if published is None else published_summaries(runs, published),
        against_published=() if published is None else compare_with_published(runs, published),
    )


def _summary(
    runs: ProblemRuns, method: MethodRuns, reference: str | None, published: PublishedRuns | None
) -> MethodSummary:
    traces = method.traces
    return MethodSummary(
        method=method.method,
        replications=len(traces),
        at={at: estimate(traces[:, at - 1]) for at in SHOWN_AT if at <= runs.evaluations},
        average=estimate(averages(traces)),
        regret=estimate(runs.regrets(traces)),
        relative_regret=_relative_regret(runs, method, reference),
        reaches={} if published is None else reaches(traces.mean(axis=0), published, runs.goal),
        seconds=method.seconds,
    )


def _relative_regret(runs: ProblemRuns, method: MethodRuns, reference: str | None) -> Ratio | None:
    if reference is None or reference == method.method:
        return None
    other = runs.methods[reference]
    both = set(method.replications) & set(other.replications)
    if not both:
        return None
    return ratio_of_sums(runs.regrets(method.on(both)), runs.regrets(other.on(both)))


def _ranking(problems: Sequence[ProblemRuns], methods: Sequence[str]) -> Ranking | None:
    """Return the ranks on the problems where all methods share replications, if there are any."""
    if len(methods) < _FEWEST_RANKED:
        return None
    by_problem = {}
    for runs in problems:
        shared = runs.shared
        if shared and len(runs.methods) == len(methods):
            scores = {
                name: runs.goal.sign * float(averages(runs.methods[name].on(shared)).mean())
                for name in methods
            }
            by_problem[runs.problem] = ranks(scores)
    if not by_problem:
        return None
    average = {
        name: float(np.mean([found[name] for found in by_problem.values()])) for name in methods
    }
    return Ranking(problems=by_problem, average=average)


def _notes(runs: ProblemRuns, published: PublishedRuns | None) -> list[str]:
    notes = []
    if published is not None and published.traces is None:
        reason = (
            "its runs did not start from the published trials"
            if runs.published is None
            else f"the published runs are not at hand (set {FOLDER_VARIABLE} to their folder)"
        )
        notes.append(f"{runs.problem}: compared with the paper's means, not in pairs: {reason}")
    counts = {name: len(method.replications) for name, method in runs.methods.items()}
    fewest = min(counts, key=counts.__getitem__)
    most = max(counts.values())
    if len(runs.shared) < most:
        notes.append(
            f"{runs.problem}: from {counts[fewest]} ({fewest}) to {most} replications per method; "
            f"ranks use the {len(runs.shared)} that all methods share"
        )
    return notes
