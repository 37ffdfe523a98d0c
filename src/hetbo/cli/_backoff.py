"""Bearing with a storage that does not answer for a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from hetbo.errors import DataError, duration, printable

T = TypeVar("T")

_BRIEFLY = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_SECONDS_UNTIL_A_NOTE = 1.0


class UnavailableError(DataError):
    """A storage that may answer a moment later: its server restarts, or its file is held."""


class Patience:
    """Says when to try a storage again that did not answer, and when to give it up.

    Args:
        seconds: How long the storage may be away, from the first call that it did not answer.
        note: Prints a line for the user.
    """

    def __init__(self, seconds: float, note: Callable[[str], None]) -> None:
        self._seconds, self._note = seconds, note
        self._away_since: float | None = None
        self._noted = False
        self._pause, self._next = _FIRST_PAUSE, 0.0

    @property
    def due(self) -> bool:
        """Whether the storage can be tried, again or for the first time."""
        return time.monotonic() >= self._next

    @contextmanager
    def attempt(self, *, endless: bool = False) -> Iterator[None]:
        """Run a block that needs the storage; it ends early where the storage does not answer.

        Args:
            endless: Never give up now, because something useful goes on meanwhile.

        Raises:
            UnavailableError: The storage has been away for too long.
        """
        began = time.monotonic()
        try:
            yield
        except UnavailableError as error:
            self._missed(error, began, endless=endless)
        else:
            self._answered()

    def call(self, function: Callable[[], T]) -> T:
        """Call a function until the storage answers.

        Raises:
            UnavailableError: The storage has been away for too long.
        """
        while True:
            with self.attempt():
                return function()
            time.sleep(max(0.0, self._next - time.monotonic()))

    def _missed(self, error: UnavailableError, began: float, *, endless: bool) -> None:
        if self._away_since is None:
            self._away_since = began
        now = time.monotonic()
        away = now - self._away_since
        if away >= self._seconds and not endless:
            raise UnavailableError(f"{error}; it did not answer for {duration(away)}") from error
        if away >= _SECONDS_UNTIL_A_NOTE and not self._noted:
            self._noted = True
            self._note(f"waiting for the storage, which does not answer: {error}")
        self._next = now + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _answered(self) -> None:
        if self._noted:
            self._note("the storage answers again")
        self._away_since, self._noted = None, False
        self._pause = _FIRST_PAUSE


def briefly(function: Callable[[], T]) -> T:
    """Call a function again if a storage does not answer, for a few seconds.

    Raises:
        UnavailableError: The storage has not answered in this time.
    """
    return Patience(_BRIEFLY, _note).call(function)


def _note(line: str) -> None:
    Console(stderr=True, highlight=False).print(
        Text(f"hetbo: note: {printable(line)}"), soft_wrap=True
    )
