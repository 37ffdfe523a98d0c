"""A process that chooses trials for `hetbo tune`, which starts and stores trials meanwhile."""

import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import NoReturn

from hetbo._processes import end_with_parent, stop
from hetbo.cli._backoff import UnavailableError
from hetbo.errors import DataError, HetboError, HetboWarning, SourceWarning

_MOST_STARTS = 3
_SECONDS_TO_STOP = 5.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """Trials were chosen, if there were not enough."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something is worth a word."""

    note: str


@dataclass(frozen=True, slots=True)
class Failed:
    """No trials could be chosen.

    Attributes:
        reason: Why.
        unavailable: Whether that is because the storage does not answer.
    """

    reason: str
    unavailable: bool


Message = Chosen | Noted | Failed


class ChoosesAhead:
    """Has the trials chosen that begin next.

    Args:
        place: The storage.
        study: The study.
        note: Prints a line for the user.
    """

    def __init__(self, place: str, study: str, note: Callable[[str], None]) -> None:
        self._place, self._study, self._note = place, study, note
        self._starts, self._busy = 0, False
        self._failed: Failed | None = None
        self._start()

    @property
    def connection(self) -> Connection:
        """Has something to `receive`."""
        return self._connection

    def want(self, *, workers: int, idle: int) -> None:
        """Have trials chosen, if there are not enough, unless that is being done.

        Args:
            workers: How many trials run at once.
            idle: How many trials could begin now.

        Raises:
            UnavailableError: The storage did not answer when trials were to be chosen.
            HetboError: They could not be chosen.
        """
        failed, self._failed = self._failed, None
        if failed is not None:
            raise (UnavailableError if failed.unavailable else DataError)(failed.reason)
        if not self._busy:
            try:
                self._connection.send((workers, idle))
                self._busy = True
            except (BrokenPipeError, ConnectionResetError):
                self._start_again()

    def receive(self) -> None:
        """Take a message."""
        try:
            message: Message = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._start_again()
            return
        match message:
            case Noted(note):
                self._note(f"hetbo: note: {note}")
            case Chosen():
                self._busy, self._starts = False, 0
            case Failed():
                self._busy, self._failed = False, message

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        stop(self._process, patience=_SECONDS_TO_STOP)
        self._connection.close()

    def _start(self) -> None:
        # A fresh interpreter: a fork would share threads and locks of the libraries loaded here.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._place, self._study)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self._busy = False

    def _start_again(self) -> None:
        self._process.join()
        self._starts += 1
        if self._starts >= _MOST_STARTS:
            raise HetboError(
                f"the process that chooses trials ended {self._starts} times in a row, the last "
                f"time with exit code {self._process.exitcode}; see whether memory suffices, and "
                "run the same command again"
            )
        self._connection.close()
        self._start()


def _serve(connection: Connection, place: str, study: str) -> None:
    # Ctrl-C is the parent's to handle.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, _end)  # not in the middle of a change
    end_with_parent()
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", HetboWarning)
    warnings.simplefilter("ignore", SourceWarning)  # 'hetbo init' has said it

    def note(message: Warning | str, *_: object, **__: object) -> None:
        connection.send(Noted(str(message)))

    warnings.showwarning = note
    while True:
        try:
            _choose(connection, place, study)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return
        except HetboError as error:
            connection.send(Failed(str(error), isinstance(error, UnavailableError)))


def _choose(connection: Connection, place: str, study: str) -> NoReturn:
    """Choose whenever that is wanted.

    Raises:
        HetboError: The storage cannot be opened, or trials cannot be chosen.
        EOFError: Nobody wants any more.
    """
    from hetbo.cli._option_messages import said_for_init
    from hetbo.cli._target import target_at

    workers, idle = connection.recv()
    with said_for_init(), target_at(place, study) as target:
        sources = target.sources()
        from hetbo.cli._suggester import Suggester  # loads PyTorch
        from hetbo.methods._long_fits import announce_digesting

        digesting = announce_digesting(lambda told: connection.send(Noted(told)))
        suggester = Suggester(target, sources, progress=digesting)
        while True:
            suggester.choose_ahead(workers=workers, idle=idle)
            connection.send(Chosen())
            workers, idle = connection.recv()


def _end(*_: object) -> NoReturn:
    # It may come twice, from the system and the parent; Python would tell of the second one.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
