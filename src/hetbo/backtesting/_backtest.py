"""The whole question in one function: would old runs have helped?"""

import os
from collections.abc import Iterable, Mapping

from hetbo.backtesting._plan import CasePlan, Plan, planned
from hetbo.backtesting._replay import Job, Replay
from hetbo.backtesting._result import Backtest, Case
from hetbo.backtesting._running import Progress, run_jobs
from hetbo.backtesting._store import ReplayFile
from hetbo.errors import DataError, shown
from hetbo.experiments import Experiment

_LARGEST_TOP = 0.5
_MOST_REPEATS = 100
_MOST_WORKERS = 256


def backtest(
    experiments: Iterable[Experiment],
    *,
    method: str = "auto",
    top: float = 0.05,
    repeats: int = 3,
    workers: int = 1,
    results: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Replay each old experiment as if it were today's, and see whether the others would help.

    A replay searches the settings that an experiment tried, as a pool, until it finds a good one,
    for at most 30 trials. What is measured is how many trials that takes: with all the others as
    sources, with one of them alone (on up to five targets), and without any (40 times, to know
    what is luck). Ten experiments of 30 trials take two to five minutes on one core. With more than
    300 old trials the best third of each source and some others are used.

    Args:
        experiments: Two or more, in any order; their names must differ.
        method: A name in `hetbo.methods.METHODS` that uses sources.
        top: Which share of an experiment's settings is good: 0.05 for the best twentieth, 0 for
            the best alone.
        repeats: How often each replay with sources is made, with other random choices.
        workers: How many processes to use. With several, a script must do its work under
            `if __name__ == "__main__":`.
        results: A file of JSON lines for finished replays. The same call goes on with it.
        progress: Called after each replay, with the number of replays that are done and that of
            all.

    Raises:
        DataError: There are too few experiments, none can be replayed, or an option has no meaning.
        MergeError: Experiments do not fit together.
        OptimizerError: The method is unknown or uses no sources.
    """
    _check_options(top=top, repeats=repeats, workers=workers)
    top = float(top)  # 0 and 0.0 are kept alike
    plan = planned(experiments, method=method, top=top, repeats=repeats)
    jobs = {job.key: job for case in plan.cases for job in case.jobs}
    file = None if results is None else ReplayFile(results)
    replays = run_jobs(jobs, workers=workers, file=file, progress=progress)
    return Backtest(
        method,
        top,
        tuple(_case(case, replays) for case in plan.cases),
        plan.skipped,
        _dropped(plan, replays),
        plan.notes,
    )


def _case(plan: CasePlan, replays: Mapping[str, Replay]) -> Case:
    def needed(jobs: Iterable[Job]) -> tuple[int, ...]:
        return tuple(replays[job.key].needed for job in jobs)

    return Case(
        plan.target.name,
        len(plan.pool.settings),
        plan.pool.good,
        plan.pool.level,
        plan.budget,
        needed(plan.vanilla),
        needed(plan.transfer),
        {name: needed(jobs) for name, jobs in plan.alone.items()},
    )


def _dropped(plan: Plan, replays: Mapping[str, Replay]) -> dict[str, str]:
    """Return the sources that the method did not use when they were the only one, and why."""
    found = {
        name: reason
        for case in plan.cases
        for jobs in case.alone.values()
        for job in jobs
        for name, reason in replays[job.key].dropped.items()
    }
    return dict(sorted(found.items()))


def _check_options(*, top: float, repeats: int, workers: int) -> None:
    if isinstance(top, bool) or not isinstance(top, int | float) or not 0 <= top <= _LARGEST_TOP:
        raise DataError(f"top={shown(top)} must be a share from 0 to {_LARGEST_TOP}")
    for name, count, most in (
        ("repeats", repeats, _MOST_REPEATS),
        ("workers", workers, _MOST_WORKERS),
    ):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
            raise DataError(f"{name}={shown(count)} must be a whole number from 1 to {most}")
