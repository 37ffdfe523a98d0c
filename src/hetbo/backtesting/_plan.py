"""Which replays answer the question, and no more than that."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from hetbo.backtesting._pool import FEWEST_SETTINGS, Pool, thinned
from hetbo.backtesting._replay import Job, fixed_for
from hetbo.errors import DataError, HetboWarning, OptimizerError, shown
from hetbo.experiments import Experiment
from hetbo.experiments._experiment import experiments_in
from hetbo.joint import JointSpace
from hetbo.joint._notes import shares_nothing
from hetbo.methods import Recipe, recipe_of

WITHOUT = "vanilla"
"""The method that uses no sources, which transfer is compared with."""
WITHOUT_REPEATS = 40
"""Searches without sources are quick, and their luck is what everything is measured against."""
MOST_TRIALS = 30
MOST_OLD_TRIALS = 300
"""So many old trials are used at once; the time of a suggestion grows with their square or cube."""
MOST_ALONE = 5
"""A source by itself is tried on so many targets, so that work grows with experiments alone."""


@dataclass(frozen=True, slots=True)
class CasePlan:
    """The replays of one experiment.

    Attributes:
        target: The experiment.
        pool: Its settings.
        budget: After how many trials a replay gives up.
        vanilla: The replays without sources.
        transfer: The replays with all others as sources.
        alone: The replays with one source alone, by its name.
    """

    target: Experiment
    pool: Pool
    budget: int
    vanilla: tuple[Job, ...]
    transfer: tuple[Job, ...]
    alone: Mapping[str, tuple[Job, ...]]

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All replays, quick ones first."""
        alone = (job for jobs in self.alone.values() for job in jobs)
        return (*self.vanilla, *alone, *self.transfer)


@dataclass(frozen=True, slots=True)
class Plan:
    """All replays.

    Attributes:
        cases: The experiments to replay.
        skipped: The others, and why, in a sentence.
        notes: What else there is to know.
    """

    cases: tuple[CasePlan, ...]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]


def planned(experiments: Iterable[Experiment], *, method: str, top: float, repeats: int) -> Plan:
    """Return the replays to make, whatever the order of the experiments.

    Raises:
        DataError: There are too few experiments, or none can be replayed.
        OptimizerError: The method is unknown or uses no sources.
        MergeError: Experiments do not fit together.
    """
    _check_method(method)
    ordered = sorted(
        experiments_in(experiments, "experiments"), key=lambda experiment: experiment.name
    )
    _check_several(ordered)
    pools = {experiment.name: Pool.of(experiment, top) for experiment in ordered}
    sources = {
        target.name: tuple(source for source in ordered if _teaches(source, target))
        for target in ordered
    }
    skipped = {
        target.name: reason
        for target in ordered
        if (reason := _obstacle(target, pools[target.name], sources[target.name])) is not None
    }
    targets = [target for target in ordered if target.name not in skipped]
    if not targets:
        raise DataError(
            f"none of the experiments can be replayed: {' '.join(skipped.values())} Add "
            f"experiments with {FEWEST_SETTINGS} trials or more; rename parameters that differ in "
            "name only"
        )
    notes = [*_goal_notes(ordered), *_merge_notes(targets, sources), *_size_notes(ordered)]
    tried = {source.name: _tried_on(source, targets) for source in ordered}
    cases = []
    for target in targets:
        pool = pools[target.name]
        budget = min(MOST_TRIALS, len(pool.settings))
        make = partial(_jobs, target=target, top=top, budget=budget)
        cases.append(
            CasePlan(
                target,
                pool,
                budget,
                make((), method=WITHOUT, repeats=WITHOUT_REPEATS),
                make(sources[target.name], method=method, repeats=repeats),
                {
                    source.name: make((source,), method=method, repeats=repeats)
                    for source in sources[target.name]
                    if target.name in tried[source.name]
                },
            )
        )
    return Plan(tuple(cases), skipped, tuple(notes))


def _jobs(
    sources: tuple[Experiment, ...],
    *,
    target: Experiment,
    method: str,
    repeats: int,
    top: float,
    budget: int,
) -> tuple[Job, ...]:
    most = _most_trials(len(sources))
    kept = tuple(thinned(source, most) for source in sources)
    return tuple(Job(target, kept, method, repeat, top, budget) for repeat in range(repeats))


def _most_trials(sources: int) -> int:
    """Return how many trials each of some sources may have."""
    return max(MOST_OLD_TRIALS // max(sources, 1), FEWEST_SETTINGS)


def _teaches(source: Experiment, target: Experiment) -> bool:
    """Return whether a search of the target can learn from a source."""
    return (
        source.name != target.name
        and bool(source.complete)
        and not shares_nothing(source, target.space)
    )


def _tried_on(source: Experiment, targets: Sequence[Experiment]) -> set[str]:
    """Return the targets that a source is tried on alone: those that share most with it."""
    taught = [target for target in targets if _teaches(source, target)]
    known = {*source.space, *source.fixed}
    taught.sort(key=lambda target: (-len(known & {*target.space}), target.name))
    return {target.name for target in taught[:MOST_ALONE]}


def _obstacle(target: Experiment, pool: Pool, sources: Sequence[Experiment]) -> str | None:
    """Return why an experiment cannot be replayed; None if it can."""
    reason = pool.obstacle(target.name)
    if reason is None and not sources:
        return f"No other experiment with values shares a parameter with {shown(target.name)}."
    return reason


def _check_method(method: str) -> None:
    if isinstance(method, Recipe):
        raise OptimizerError("method= must be a name here, by which replays are kept, not a Recipe")
    if not any(member.transfers for member in recipe_of(method).members.values()):
        raise OptimizerError(
            f"method={shown(method)} does not use sources, so there is nothing to backtest; "
            "'auto' does"
        )


def _check_several(experiments: Sequence[Experiment]) -> None:
    names = [experiment.name for experiment in experiments]
    if len(names) < 2:  # noqa: PLR2004
        found = f"only {shown(names[0])}" if names else "none"
        raise DataError(
            f"a backtest needs two experiments or more, and there is {found}: each is replayed "
            "with the others as sources"
        )
    for one, next_one in pairwise(names):
        if one == next_one:
            raise DataError(f"two experiments are called {shown(one)}; give one another name=")
    if "target" in names:
        raise DataError("the replayed experiment is called 'target'; give yours another name=")


def _goal_notes(experiments: Sequence[Experiment]) -> list[str]:
    first = experiments[0]
    return [
        f"The goals of {shown(first.name)} and {shown(other.name)} are opposite: what was good in "
        "one counts as good in the other."
        for other in experiments
        if other.goal is not first.goal
    ][:1]


def _merge_notes(
    targets: Sequence[Experiment], sources: Mapping[str, tuple[Experiment, ...]]
) -> list[str]:
    """Return what merging warns of, which every replay would repeat."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HetboWarning)
        for target in targets:
            JointSpace.merge(
                target.space,
                sources[target.name],
                fixed=fixed_for(target, sources[target.name]),
                target_name=target.name,
            )
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _size_notes(experiments: Sequence[Experiment]) -> list[str]:
    most = _most_trials(len(experiments) - 1)
    cut = [shown(experiment.name) for experiment in experiments if len(experiment.trials) > most]
    if not cut:
        return []
    return [
        f"To be quick, replays with all sources use {most} trials of each of {', '.join(cut)}: the "
        "best third and some others."
    ]
