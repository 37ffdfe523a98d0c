"""One thread for small matrices.

A library that spreads a 50 × 50 product over all cores gains nothing on an idle machine, and
on a busy one (say, while models train beside the tuner) waits for cores at each of thousands of
products: a fit of 0.2 s was seen to take 35 s. Whoever computes with small matrices therefore asks
for one thread, for as long as that takes.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock, local

from threadpoolctl import ThreadpoolController

_LARGEST_SMALL = 400
"""From about this size on, a matrix is worth more than one thread."""


class _SingleThread:
    """Sets the BLAS libraries of this process to one thread while anyone needs it.

    The setting belongs to the process, not to a thread. So the first who needs it sets it, the
    last restores what was there before, and nobody restores what another one had set.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit = ExitStack()

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                controller = ThreadpoolController()
                _take_control(controller)
                self._limit.enter_context(controller.limit(limits=1, user_api="blas"))
                self._limit.callback(_take_control, controller)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.close()


def _take_control(controller: ThreadpoolController) -> None:
    # Newer versions of threadpoolctl let only the first thread that ever set a limit set another
    # one. The thread that sets ours and the one that restores may be any.
    for library in controller.lib_controllers:
        release = getattr(type(library), "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


_single_thread = _SingleThread()
_of_this_thread = local()


@contextmanager
def one_thread_for(size: int) -> Iterator[None]:
    """Compute with one thread within the block, if matrices of this size gain nothing from more.

    Args:
        size: The number of rows of the matrices.
    """
    # To look for the libraries takes milliseconds: within a block of this thread all is set.
    if size > _LARGEST_SMALL or getattr(_of_this_thread, "is_single", False):
        yield
        return
    _single_thread.enter()
    _of_this_thread.is_single = True
    try:
        # PyTorch's threads are OpenMP's, whose number belongs to the calling thread alone.
        with ThreadpoolController().limit(limits=1, user_api="openmp"):
            yield
    finally:
        _of_this_thread.is_single = False
        _single_thread.leave()
