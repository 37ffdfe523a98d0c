"""How methods did: against each other, and against what the paper reports."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from hetbo.errors import DataError, shown
from hetbo_bench.analysis.estimates import Ratio, estimate, ranks, ratio_of_sums
from hetbo_bench.analysis.grouping import (
    MethodRuns,
    ProblemRuns,
    averages,
    in_order,
    runs_by_problem,
)
from hetbo_bench.analysis.summaries import Comparison, MethodSummary, ProblemComparison, Ranking
from hetbo_bench.paper.against import (
    SHOWN_AT,
    PublishedRuns,
    compare_with_published,
    published_for,
    published_summaries,
    reaches,
)
from hetbo_bench.paper.published import FOLDER_VARIABLE
from hetbo_bench.running.runs import Run

REFERENCES = ("vanilla", "vanilla-paper")
"""Regret is shown relative to the first of these that was run."""

_FEWEST_RANKED = 2


def compare(
    runs: Iterable[Run],
    *,
    methods: Collection[str] | None = None,
    problems: Collection[str] | None = None,
    against: str | None = None,
) -> Comparison:
    """Compare methods, with each other and with what the paper reports.

    Args:
        runs: The runs, in any order.
        methods: Which methods to compare, `against` among them anyway; all if None.
        problems: Which problems to look at, by name or by how their names begin; all if None.
        against: The method that regret is shown relative to; if None, vanilla, or vanilla in the
            paper's settings.

    Raises:
        DataError: There are no runs, none of a method or problem, or runs that do not belong
            together.
    """
    if methods is not None and against is not None:
        methods = {*methods, against}
    groups = list(runs_by_problem(runs, methods=methods, problems=problems).values())
    names = in_order({method for group in groups for method in group.methods})
    if against is not None and against not in names:
        raise DataError(f"no run is of method {shown(against)}, only of {', '.join(names)}")
    references = REFERENCES if against is None else (against,)
    published = [published_for(group) for group in groups]
    compared = tuple(
        _on_problem(group, there, references)
        for group, there in zip(groups, published, strict=True)
    )
    ranking = _ranking(groups, names, compared)
    ranked = () if ranking is None else tuple(ranking.problems)
    about: dict[str, list[str]] = {}
    for group, there in zip(groups, published, strict=True):
        for note in _notes(group, there, is_ranked=group.problem in ranked):
            about.setdefault(note, []).append(group.problem)
    notes = [f"{', '.join(problems)}: {note}" for note, problems in about.items()]
    if len(names) >= _FEWEST_RANKED:
        notes += _left_out_of_ranks([group.problem for group in groups], ranked, len(names))
    return Comparison(problems=compared, ranking=ranking, notes=tuple(notes))


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


def _ranking(
    problems: Sequence[ProblemRuns],
    methods: Sequence[str],
    compared: Sequence[ProblemComparison],
) -> Ranking | None:
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
    ranked = [problem for problem in compared if problem.problem in by_problem]
    return Ranking(
        problems=by_problem,
        average=average,
        relative_regret={name: _over_problems(name, ranked) for name in methods},
    )


def _over_problems(method: str, problems: Sequence[ProblemComparison]) -> float | None:
    """Return the geometric mean of a method's relative regrets; None if one is not known."""
    found = [
        summary.relative_regret.value if summary.relative_regret is not None else None
        for problem in problems
        for summary in problem.methods
        if summary.method == method
    ]
    ratios = [ratio for ratio in found if ratio is not None]
    if len(ratios) < len(found):
        return None
    return 0.0 if 0.0 in ratios else float(np.exp(np.mean(np.log(ratios))))


def _left_out_of_ranks(problems: Sequence[str], ranked: Sequence[str], methods: int) -> list[str]:
    missing = [problem for problem in problems if problem not in ranked]
    if not missing:
        return []
    if not ranked:
        return [f"no ranks: no problem has a replication of all {methods} methods; compare fewer"]
    return [
        f"no ranks on {', '.join(missing)}: not all {methods} methods share a replication there; "
        "compare fewer methods, or files one by one"
    ]


def _notes(runs: ProblemRuns, published: PublishedRuns | None, *, is_ranked: bool) -> list[str]:
    """Return what is to be said about a problem's runs; the problem's name comes before it."""
    notes = []
    if published is not None and published.traces is None:
        reason = (
            "the runs did not start from the published trials"
            if runs.published is None
            else f"the published runs are not available (set {FOLDER_VARIABLE} to their folder)"
        )
        notes.append(f"compared with the paper's means, not in pairs: {reason}")
    counts = {name: len(method.replications) for name, method in runs.methods.items()}
    fewest = min(counts, key=counts.__getitem__)
    most = max(counts.values())
    if len(runs.shared) < most:
        notes.append(
            f"from {counts[fewest]} ({fewest}) to {most} replications per method"
            + (f"; ranks use the {len(runs.shared)} that all methods share" if is_ranked else "")
        )
    mixed = [name for name, method in runs.methods.items() if method.mixed]
    if mixed:
        what = dict.fromkeys(part for name in mixed for part in runs.methods[name].mixed)
        notes.append(
            f"not all runs of {', '.join(mixed)} were made by the same versions ({', '.join(what)})"
        )
    return notes
