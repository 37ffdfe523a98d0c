"""Makes replays, one after another or in several processes, and keeps what is finished."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool

from hetbo._processes import interrupts_held, worker_pool
from hetbo.backtesting._replay import Job, Replay
from hetbo.backtesting._store import ReplayFile
from hetbo.errors import HetboError

Progress = Callable[[int, int], object]


def run_jobs(
    jobs: Mapping[str, Job],
    *,
    workers: int,
    file: ReplayFile | None,
    progress: Progress | None,
) -> dict[str, Replay]:
    """Return what came of some replays; those that the file holds are not made again.

    Args:
        jobs: The replays by their keys.
        workers: How many processes make them; with 1 it is this one.
        file: Where finished replays are kept.
        progress: Called with the number of finished replays and that of all.
    """
    known = {} if file is None else file.replays
    done = {key: known[key] for key in jobs if key in known}
    todo = {key: job for key, job in jobs.items() if key not in done}
    if progress is not None:
        progress(len(done), len(jobs))
    for key, replay in _in_processes(todo, workers) if workers > 1 and todo else _here(todo):
        done[key] = replay
        if file is not None:
            file.add(key, replay)
        if progress is not None:
            progress(len(done), len(jobs))
    return done


def _here(jobs: Mapping[str, Job]) -> Iterator[tuple[str, Replay]]:
    for key, job in jobs.items():
        yield key, job.run()


def _in_processes(jobs: Mapping[str, Job], workers: int) -> Iterator[tuple[str, Replay]]:
    try:
        with worker_pool(workers) as pool:
            with interrupts_held():
                futures = {pool.submit(job.run): key for key, job in jobs.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise HetboError(
            "a worker process was killed, or could not start (a script needs "
            "'if __name__ == \"__main__\":' around what it does); with results= finished replays "
            "are kept"
        ) from error
