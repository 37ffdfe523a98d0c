"""Runs in order: by problem and method."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.errors import DataError, shown
from hetbo.experiments import Goal
from hetbo_bench.analysis.estimates import FloatArray
from hetbo_bench.problems.problem import EVALUATIONS, FIRST_TRIALS
from hetbo_bench.running.runs import Run

FIRST_CHOSEN = FIRST_TRIALS + 1
"""The first evaluation that a method chooses; what comes before is the same for all."""

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class MethodRuns:
    """A method's runs on one problem.

    Attributes:
        method: The method's name.
        replications: Which replications there are, in rising order.
        traces: The best values so far: a row per replication, a column per evaluation.
        seconds: The median time of a suggestion; None if there was none.
        mixed: What the runs have in different versions.
    """

    method: str
    replications: tuple[int, ...]
    traces: FloatArray
    seconds: float | None
    mixed: tuple[str, ...]

    def on(self, replications: Collection[int]) -> FloatArray:
        """Return the traces of some of the replications, in rising order."""
        return self.traces[[r in replications for r in self.replications]]


@dataclass(frozen=True, slots=True)
class ProblemRuns:
    """All runs on one problem.

    Attributes:
        problem: The problem's name.
        goal: Which way is better.
        optimum: The best possible value.
        published: The published runs with the same starts, by the name of their problem.
        evaluations: How many evaluations each run has.
        methods: The methods' runs, `auto` first and the others in the order of their names.
    """

    problem: str
    goal: Goal
    optimum: float
    published: str | None
    evaluations: int
    methods: Mapping[str, MethodRuns]

    @property
    def shared(self) -> tuple[int, ...]:
        """The replications that all methods have."""
        sets = [set(runs.replications) for runs in self.methods.values()]
        return tuple(sorted(set.intersection(*sets)))

    def regrets(self, traces: FloatArray) -> FloatArray:
        """Return each trace's mean distance to the optimum, over evaluations 6 to 40."""
        return averages(np.abs(self.optimum - traces))


def averages(traces: FloatArray) -> FloatArray:
    """Return each trace's mean over evaluations 6 to 40, or to its end if that comes earlier."""
    means: FloatArray = traces[..., FIRST_CHOSEN - 1 : EVALUATIONS].mean(axis=-1)
    return means


def runs_by_problem(
    runs: Iterable[Run],
    *,
    methods: Collection[str] | None = None,
    problems: Collection[str] | None = None,
) -> dict[str, ProblemRuns]:
    """Return runs by problem, in the order of the problems' names.

    Args:
        runs: The runs, in any order.
        methods: Which methods to look at; all if None.
        problems: Which problems to look at, by name or by how their names begin; all if None.

    Raises:
        DataError: There are no runs, none of a method or problem, or runs that do not belong
            together.
    """
    listed = list(runs)
    if not listed:
        raise DataError("there are no runs to look at; `hetbo bench run` makes some")
    if problems is not None:
        listed = _on_problems(listed, problems)
    known = {run.method for run in listed}
    for method in methods or ():
        if method not in known:
            raise DataError(f"no run is of method {shown(method)}, only of {_listed(known)}")
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in listed:
        if methods is None or run.method in methods:
            groups[run.problem].append(run)
    if not groups:
        raise DataError("methods=() leaves no runs; leave it out to look at all methods")
    return {problem: _problem_runs(groups[problem]) for problem in sorted(groups)}


def _on_problems(runs: list[Run], beginnings: Collection[str]) -> list[Run]:
    if not beginnings:
        raise DataError("problems=() leaves no runs; leave it out to look at all problems")
    known = {run.problem for run in runs}
    for beginning in beginnings:
        if not any(problem.startswith(beginning) for problem in known):
            raise DataError(
                f"no run is on a problem whose name begins with {shown(beginning)}, only on "
                f"{', '.join(sorted(known))}"
            )
    whole = {name for name in beginnings if name in known}
    begun = tuple(name for name in beginnings if name not in known)
    return [run for run in runs if run.problem in whole or run.problem.startswith(begun)]


def _problem_runs(runs: list[Run]) -> ProblemRuns:
    first = runs[0]
    evaluations = len(first.trace)
    if evaluations < FIRST_CHOSEN:
        raise DataError(
            f"problem {first.problem}: runs of {evaluations} evaluations hold no choice of a "
            f"method; run at least {FIRST_CHOSEN}"
        )
    for run in runs:
        _check(run, first)
    groups: dict[str, dict[int, Run]] = defaultdict(dict)
    for run in runs:
        if run.replication in groups[run.method]:
            raise DataError(
                f"{_name(run)} is there twice, with different traces (other code, or another "
                "processor): leave out one of the files"
            )
        groups[run.method][run.replication] = run
    return ProblemRuns(
        problem=first.problem,
        goal=Goal.of(first.goal),
        optimum=first.optimum,
        published=first.published,
        evaluations=evaluations,
        methods={method: _method_runs(method, groups[method]) for method in in_order(groups)},
    )


def _check(run: Run, first: Run) -> None:
    """Check that a run belongs to the same problem as the first one."""
    if run.starts != first.starts:
        raise DataError(
            f"{_name(run)} started from {run.starts} trials and {_name(first)} from {first.starts} "
            "ones: leave out one of the files"
        )
    for what in ("goal", "optimum", "published"):
        mine, other = getattr(run, what), getattr(first, what)
        if mine != other:
            raise DataError(
                f"{_name(run)} has {what} {shown(mine)} and {_name(first)} {shown(other)}: "
                "these are different problems; compare them one by one"
            )
    if len(run.trace) != len(first.trace):
        raise DataError(
            f"{_name(run)} has {len(run.trace)} evaluations and {_name(first)} "
            f"{len(first.trace)}; compare runs of equal length"
        )
    if not all(map(math.isfinite, run.trace)):
        raise DataError(f"{_name(run)} has a value that is not a finite number; run it again")


def _method_runs(method: str, runs: Mapping[int, Run]) -> MethodRuns:
    replications = tuple(sorted(runs))
    seconds = [s for run in runs.values() for s in run.seconds]
    return MethodRuns(
        method=method,
        replications=replications,
        traces=np.array([runs[r].trace for r in replications], dtype=np.float64),
        seconds=float(np.median(seconds)) if seconds else None,
        mixed=_mixed([run.versions for run in runs.values()]),
    )


def _mixed(versions: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return what is not everywhere in the same version, or not everywhere said."""
    names = dict.fromkeys(name for found in versions for name in found)
    return tuple(name for name in names if len({found.get(name) for found in versions}) > 1)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return methods in the order that tables and figures have: `auto` first, then by name."""
    return sorted(methods, key=lambda method: (method != AUTO, method))


def _name(run: Run) -> str:
    return f"{run.problem}, {run.method}, replication {run.replication}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(in_order(names))
