"""Processes that end with the one that starts them; which one began something, and still runs."""

import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


def process_token() -> str:
    """Return what tells this process from all others: machine, number, and when it began."""
    return f"{socket.gethostname()} {os.getpid()} {_began(os.getpid())}"


def is_alive(token: str) -> bool | None:
    """Return whether a process runs; None if that cannot be known: it is on another machine."""
    match token.rsplit(" ", 2):
        case [host, number, began] if number.isdigit() and host == socket.gethostname():
            return _runs(int(number), began)
        case _:
            return None


@contextmanager
def worker_pool(workers: int) -> "Iterator[ProcessPoolExecutor]":
    """Have processes for as long as the block takes; an error in it ends them at once.

    Each is a fresh interpreter: a fork would share threads and locks of the libraries loaded here.
    They start as work is submitted: do that within `interrupts_held`.

    Args:
        workers: How many.
    """
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  # slow to load

    before = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent)
    try:
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let processes started meanwhile ignore Ctrl-C: this one ends them, without their tracebacks.

    A terminal sends it to all of them, and one that is still importing could not catch it. Blocked
    signals are inherited, and one that comes meanwhile waits until this is over; an ignored one
    would be lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that one was killed."""

    def wait_and_end() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait_and_end, daemon=True).start()


def stop(process: BaseProcess, *, patience: float) -> None:
    """End a process, whatever it is doing.

    Args:
        process: The process.
        patience: So many seconds it has to end by itself, once it is told to.
    """
    process.terminate()
    process.join(timeout=patience)
    if process.is_alive():
        process.kill()
        process.join()


def _runs(number: int, began: str) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would end it there
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is there, and somebody else's
        return True
    # Numbers are used again; the time when a process began tells one from the next.
    return _began(number) == began


def _began(number: int) -> str:
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # not Linux
        return "-"
    return "gone" if fields[0] in {"Z", "X"} else fields[19]
