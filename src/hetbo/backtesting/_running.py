"""Makes replays, one after another or in several processes, and keeps what is finished."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Thread

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
    before = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=_end_with_parent)
    try:
        with _interrupts_held():  # the processes that are started meanwhile never see Ctrl-C
            futures = {pool.submit(job.run): key for key, job in jobs.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise HetboError(
            "a worker process was killed, or could not start (a script needs "
            "'if __name__ == \"__main__\":' around what it does); with results= finished replays "
            "are kept"
        ) from error
    except BaseException:
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """Let this worker end when the process that started it does, even if that one was killed."""

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
