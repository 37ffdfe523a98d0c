"""Runs replications in processes or on a Dask cluster; stops and goes on without loss."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from hetbo.cli import interrupts_held, one_thread_for, worker_pool
from hetbo.errors import DataError, HetboError
from hetbo_bench.methods import tuner_named
from hetbo_bench.own_files import own_digests
from hetbo_bench.paper.published import FOLDER_VARIABLE
from hetbo_bench.problems.named import problem_named
from hetbo_bench.running.replication import replicate
from hetbo_bench.running.runs import Job, Run, append_run, read_runs, reserved
from hetbo_bench.running.versions import versions

DASK_PATIENCE = 10.0
"""So many seconds a Dask scheduler has to answer."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A replication that could not be run; it is tried again next time.

    Attributes:
        job: Which one.
        reason: What went wrong.
    """

    job: Job
    reason: str


_ONE_AT_A_TIME = Lock()
"""A Dask worker may have several threads; generators and thread counts belong to the process."""


def run_job(job: Job) -> Run:
    """Run one replication, in one thread, and no other beside it in this process."""
    problem = problem_named(job.problem)
    with _ONE_AT_A_TIME, one_thread_for(0):
        outcome = replicate(problem, job.method, job.replication)
    return Run(
        problem=job.problem,
        method=job.method,
        replication=job.replication,
        seed=job.replication,
        goal=problem.goal.value,
        optimum=problem.optimum,
        published=problem.published,
        starts=problem.starts,
        trace=outcome.trace,
        seconds=outcome.seconds,
        versions={**versions(), **own_digests(job.problem, job.method)},
    )


def attempt(job: Job) -> Run | Failure:
    """Run one replication; what goes wrong is told in words.

    Not every error survives the way from one process to another, and one that does not would take
    all replications with it.
    """
    try:
        return run_job(job)
    except Exception as error:  # noqa: BLE001  # whatever a method or a peer may raise
        return _failure(job, error)


def _failure(job: Job, error: Exception) -> Failure:
    return Failure(job, f"{type(error).__name__}: {error}")


def unfinished(jobs: Iterable[Job], path: Path) -> list[Job]:
    """Return the replications that a file of JSON lines does not hold yet.

    Raises:
        DataError: There is no such problem or method, a problem has fewer replications, or the
            file cannot be read or has runs that started elsewhere.
    """
    wanted = list(dict.fromkeys(jobs))
    for name in dict.fromkeys(job.problem for job in wanted):
        known = problem_named(name).replications
        last = max(job.replication for job in wanted if job.problem == name)
        if known is not None and last >= known:
            raise DataError(f"{name} has {known} replications, not {last + 1}")
    for method in dict.fromkeys(job.method for job in wanted):
        tuner_named(method)
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is not a file; runs are written to one")
    runs = read_runs([path]) if path.exists() else []
    _check_starts({job.problem for job in wanted}, runs, path)
    done = {run.job for run in runs}
    return [job for job in wanted if job not in done]


def _check_starts(problems: Collection[str], runs: Iterable[Run], path: Path) -> None:
    """Check that a problem starts from where the runs of it in a file did."""
    for run in runs:
        if run.problem in problems and run.starts != (now := problem_named(run.problem).starts):
            raise DataError(
                f"{path} has runs of {run.problem} that started from {run.starts} trials, and new "
                f"ones would start from {now} ones: set {FOLDER_VARIABLE} as it was then, or write "
                "to another file"
            )


def _checked(run: Run) -> Run | Failure:
    """Return a run if its worker had the same problem as this process."""
    problem = problem_named(run.problem)
    if run.starts != problem.starts:
        return Failure(
            run.job,
            f"its worker started from {run.starts} trials, not from {problem.starts} ones: set "
            f"{FOLDER_VARIABLE} there as it is here",
        )
    if (run.goal, run.optimum) != (problem.goal.value, problem.optimum):
        return Failure(run.job, "its worker has other data than this process")
    return run


def run_jobs(
    jobs: Sequence[Job],
    path: str | os.PathLike[str],
    *,
    workers: int = 1,
    dask: str | None = None,
    finished: Callable[[Run | Failure], None] = lambda _: None,
) -> list[Failure]:
    """Run replications and write each to a file as soon as it is finished.

    Results do not depend on the number of workers: a replication's seed is its number.

    Args:
        jobs: What to run.
        path: The file of JSON lines. What it holds already is not run again.
        workers: How many processes to use, each with one thread.
        dask: The address of a Dask scheduler whose workers run the replications instead.
        finished: Called after each replication.

    Returns:
        The replications that failed.

    Raises:
        DataError: A name is unknown, data is missing, or the file cannot be read or written.
    """
    path = Path(path)
    todo = unfinished(jobs, path)
    failures: list[Failure] = []
    if not todo:
        return failures
    with (
        reserved(path),
        _on_dask(dask) if dask is not None else _in_processes(workers) as completed,
    ):
        for job, future in completed(todo):
            try:
                result = future.result()
            except BrokenProcessPool as error:
                raise HetboError(
                    "a worker process was killed; what is finished is kept, run again to go on"
                ) from error
            except Exception as error:  # noqa: BLE001  # whatever a cluster may raise
                result = _failure(job, error)
            if isinstance(result, Run):
                result = _checked(result)
            if isinstance(result, Run):
                append_run(path, result)
            else:
                failures.append(result)
            finished(result)
    return failures


Completed = Callable[[Sequence[Job]], Iterator[tuple[Job, Any]]]


@contextmanager
def _in_processes(workers: int) -> Iterator[Completed]:
    with worker_pool(workers) as pool:

        def completed(jobs: Sequence[Job]) -> Iterator[tuple[Job, Any]]:
            with interrupts_held():
                futures = {pool.submit(attempt, job): job for job in jobs}
            for future in as_completed(futures):
                yield futures[future], future

        yield completed


@contextmanager
def _on_dask(address: str) -> Iterator[Completed]:
    try:
        import distributed  # noqa: PLC0415  # optional, and slow to import
    except ImportError as error:
        raise DataError("--dask needs Dask: pip install distributed") from error
    try:
        client = distributed.Client(address, timeout=DASK_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise DataError(f"there is no Dask scheduler at {address}: {error}") from error

    def completed(jobs: Sequence[Job]) -> Iterator[tuple[Job, Any]]:
        futures = {client.submit(attempt, job, pure=False): job for job in jobs}
        for future in distributed.as_completed(futures):
            yield futures[future], future

    with client:
        yield completed
