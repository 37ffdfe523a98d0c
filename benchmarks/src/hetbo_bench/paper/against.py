"""Our runs beside the paper's."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from hetbo.experiments import Goal
from hetbo_bench.analysis.estimates import (
    Difference,
    Estimate,
    FloatArray,
    Ratio,
    estimate,
    paired_difference,
    ratio_of_sums,
    standard_errors,
    unpaired_difference,
)
from hetbo_bench.analysis.grouping import AUTO, MethodRuns, ProblemRuns, averages, in_order
from hetbo_bench.analysis.summaries import MethodSummary, PublishedComparison
from hetbo_bench.paper.published import published_curves, traces_of

SHOWN_AT = (10, 20, 30, 40)
"""After how many evaluations values are shown."""

CHECKED_AT = (10, 20, 40)
"""After how many evaluations runs are compared with the published ones."""

ROUNDING = 1e-6
"""The published values are rounded to six decimals: a difference this small is none."""

PAPER_SETTINGS = "-paper"
"""`vanilla-paper` is `vanilla` in the paper's settings."""

_ALWAYS_IN_PAPER_SETTINGS = ("random",)
_WITHIN = 2.0
_VARIANTS = ("-presence", "-slips")


@dataclass(frozen=True, slots=True)
class PublishedRuns:
    """What the paper has on a problem.

    Attributes:
        means: The mean best value so far after each evaluation, by method.
        standard_errors: The standard errors of the means, by method.
        traces: The runs that our runs are paired with, a row per replication, by method; None if
            only the means are available, or if our runs started elsewhere.
    """

    means: Mapping[str, FloatArray]
    standard_errors: Mapping[str, FloatArray]
    traces: Mapping[str, FloatArray] | None

    def best(self, goal: Goal) -> str:
        """Return the method with the best mean over evaluations 6 to 40."""
        return max(self.means, key=lambda method: goal.sign * float(averages(self.means[method])))

    def counterpart(self, method: str, goal: Goal) -> str | None:
        """Return the published method that a method of ours is compared with; None if none is.

        `X`, `X-paper` and variants of it such as `X-presence-paper` are compared with the published
        `X`, and `auto` with the best one.
        """
        if method == AUTO:
            return self.best(goal)
        base = method.removesuffix(PAPER_SETTINGS)
        for variant in _VARIANTS:
            base = base.removesuffix(variant)
        return base if base in self.means else None


def published_for(runs: ProblemRuns) -> PublishedRuns | None:
    """Return what the paper has on a problem; None if the paper does not have the problem.

    Runs that started from the published trials are paired with the published runs, if the folder
    that holds them is available. Otherwise there are the means that come with the package.
    """
    traces = None if runs.published is None else traces_of(runs.published)
    if traces is not None:
        arrays = {method: np.array(rows, dtype=np.float64) for method, rows in traces.items()}
        return PublishedRuns(
            {method: rows.mean(axis=0) for method, rows in arrays.items()},
            {method: standard_errors(rows) for method, rows in arrays.items()},
            arrays,
        )
    curves = published_curves().get(runs.published or runs.problem)
    if curves is None:
        return None
    return PublishedRuns(
        {method: np.array(curve.mean) for method, curve in curves.items()},
        {method: np.array(curve.standard_error) for method, curve in curves.items()},
        None,
    )


def reaches(mean: FloatArray, published: PublishedRuns, goal: Goal) -> dict[str, int | None]:
    """Return after how many evaluations a mean is as good as each published final mean.

    Args:
        mean: The mean best value so far after each evaluation.
        published: What the paper has on the problem.
        goal: Which way is better.
    """
    found: dict[str, int | None] = {}
    for method in in_order(published.means):
        lead = goal.sign * (mean - published.means[method][-1])
        there = np.flatnonzero(lead >= -ROUNDING)
        found[method] = int(there[0]) + 1 if len(there) else None
    return found


def published_summaries(runs: ProblemRuns, published: PublishedRuns) -> tuple[MethodSummary, ...]:
    """Return how each published method did."""
    summaries = []
    for method in in_order(published.means):
        mean, errors = published.means[method], published.standard_errors[method]
        traces = None if published.traces is None else published.traces[method]
        if traces is None:
            average = Estimate(float(averages(mean)), None)
            regret = Estimate(float(runs.regrets(mean)), None)
        else:
            average, regret = estimate(averages(traces)), estimate(runs.regrets(traces))
        summaries.append(
            MethodSummary(
                method=method,
                replications=None if traces is None else len(traces),
                at={at: Estimate(float(mean[at - 1]), float(errors[at - 1])) for at in SHOWN_AT},
                average=average,
                regret=regret,
                reaches=reaches(mean, published, runs.goal),
            )
        )
    return tuple(summaries)


def compare_with_published(
    runs: ProblemRuns, published: PublishedRuns
) -> tuple[PublishedComparison, ...]:
    """Return each method against its published counterpart, if it has one."""
    compared = []
    for method in runs.methods.values():
        name = published.counterpart(method.method, runs.goal)
        if name is None:
            continue
        traces = None if published.traces is None else published.traces[name]
        if traces is not None and method.replications[0] < len(traces):
            compared.append(_paired(runs, method, traces, name))
        else:
            compared.append(_unpaired(runs, method, published, name))
    return tuple(compared)


def _paired(
    runs: ProblemRuns, method: MethodRuns, traces: FloatArray, name: str
) -> PublishedComparison:
    both = [r for r in method.replications if r < len(traces)]
    ours, theirs = method.on(both), traces[both][:, : runs.evaluations]
    sign = runs.goal.sign
    return _comparison(
        method.method,
        name,
        paired=True,
        at={
            at: paired_difference(ours[:, at - 1], theirs[:, at - 1], sign=sign, rounding=ROUNDING)
            for at in CHECKED_AT
            if at <= runs.evaluations
        },
        average=paired_difference(averages(ours), averages(theirs), sign=sign, rounding=ROUNDING),
        relative_regret=ratio_of_sums(runs.regrets(ours), runs.regrets(theirs)),
    )


def _unpaired(
    runs: ProblemRuns, method: MethodRuns, published: PublishedRuns, name: str
) -> PublishedComparison:
    ours, theirs = method.traces, published.means[name][: runs.evaluations]
    errors, sign = published.standard_errors[name], runs.goal.sign
    regret = ratio_of_sums(runs.regrets(ours), np.full(len(ours), runs.regrets(theirs)))
    return _comparison(
        method.method,
        name,
        paired=False,
        at={
            at: unpaired_difference(
                estimate(ours[:, at - 1]),
                Estimate(float(theirs[at - 1]), float(errors[at - 1])),
                sign=sign,
                rounding=ROUNDING,
            )
            for at in CHECKED_AT
            if at <= runs.evaluations
        },
        average=unpaired_difference(
            estimate(averages(ours)), Estimate(float(averages(theirs)), None), sign=sign
        ),
        relative_regret=Ratio(regret.value, None, regret.replications),
    )


def _comparison(
    method: str,
    published: str,
    *,
    paired: bool,
    at: Mapping[int, Difference],
    average: Difference,
    relative_regret: Ratio,
) -> PublishedComparison:
    in_paper_settings = method.endswith(PAPER_SETTINGS) or method in _ALWAYS_IN_PAPER_SETTINGS
    return PublishedComparison(
        method=method,
        published=published,
        paired=paired,
        replications=relative_regret.replications,
        at=at,
        average=average,
        relative_regret=relative_regret,
        within_two_errors=_within(at.values()) if in_paper_settings else None,
    )


def _within(differences: Collection[Difference]) -> bool | None:
    """Return whether all differences are small; None if that cannot be said."""
    errors = [d.standard_error for d in differences]
    if not errors or None in errors:
        return None
    return all(_is_small(d) for d in differences)


def _is_small(difference: Difference) -> bool:
    """Return whether a difference is at most two standard errors, up to the paper's rounding."""
    error = difference.standard_error or 0.0
    return abs(difference.mean) <= _WITHIN * error + ROUNDING
