"""Ending a command that Ctrl-C, the system or a closed terminal ends, once nothing can be lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StoppedError(KeyboardInterrupt):
    """A command was asked to stop.

    Args:
        number: The signal that asked.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number
        """The exit code, as shells have it."""


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Turn what asks this process to end into an event, so that nothing is cut off while stored.

    A second Ctrl-C ends it at once; the system asks several times for the same thing.

    Raises:
        StoppedError: The block was asked to stop, and has ended.
    """
    stop = threading.Event()
    asked = list[int]()

    def handle(signal_number: int, frame: FrameType | None) -> None:
        if stop.is_set() and signal_number == signal.SIGINT:
            signal.default_int_handler(signal_number, frame)
        asked.append(signal_number)
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, handle) for number in _heard()}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        raise StoppedError(asked[0])


def _heard() -> Iterator[int]:
    """Yield the signals that ask to end; what this process ignores, as under nohup, stays so."""
    yield signal.SIGINT
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            yield number
