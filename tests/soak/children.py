"""`hetbo` commands in processes of their own, forked from one that has loaded all they need.

Such a process starts in a hundredth of the time that a new interpreter takes.
"""

import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, TypeAlias

from hetbo.cli.main import main
from soak.faults import FaultError, expect

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Gate: TypeAlias = Callable[[], None]
"""Waits until the process may go on: what comes before it is preparation."""

_PRELOADED = [
    *("hetbo.cli._suggester", "hetbo.cli.main", "hetbo.cli._status", "hetbo.report", "pytest"),
    *("alembic.command", "alembic.migration", "plotly.graph_objects", "psycopg", "rich.live"),
    *("sqlalchemy.dialects.sqlite",),
]
_LONGEST = 120.0
_CALLS = frozenset(
    {"write", "fsync", "flush", "close", "open", "replace", "rename", "unlink", "remove", "link"}
    | {"symlink", "flock", "truncate", "chmod", "execute", "commit", "rollback"}
)
"""Functions in C that can change a file."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a process."""

    what: str
    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


class Child:
    """A process that waits at its gate.

    Args:
        task: What it does; gets the gate, returns the exit code.
        folder: Where it works.
        what: How a fault calls it.
        environment: Variables to set.
        encoding: What its streams can show.
    """

    def __init__(
        self,
        task: Callable[[Gate], int],
        folder: Path,
        *,
        what: str,
        environment: Mapping[str, str] | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self._what = what
        self._out = tempfile.NamedTemporaryFile()  # noqa: SIM115  # open as long as the child
        self._err = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self._gate, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        self._process: BaseProcess = context.Process(
            target=_live,
            args=(
                task,
                theirs,
                str(folder),
                dict(environment or {}),
                encoding,
                self._out.name,
                self._err.name,
            ),
        )
        self._process.start()
        theirs.close()
        expect(self._gate.poll(_LONGEST), "stuck", f"{what} did not get to its gate")
        self.pid: int = self._gate.recv()

    def go(self, *, kill_at: int | None = None) -> None:
        """Open the gate.

        Args:
            kill_at: Before which call of a function that can change a file the process kills
                itself, counted from 1.
        """
        self._gate.send(kill_at)

    def kill(self, *, group: bool = True) -> None:
        """Kill the process, with all that it has started or alone."""
        with suppress(ProcessLookupError):  # it has ended
            (os.killpg if group else os.kill)(self.pid, signal.SIGKILL)

    def finish(self, seconds: float = _LONGEST) -> Ran:
        """Wait for the end, of all that it has started as well; return what came of it."""
        self._process.join(seconds)
        slow = self._process.exitcode is None
        if slow:
            self.kill()
            self._process.join()
        out, err = (Path(file.name).read_bytes().decode(errors="replace") for file in self._files)
        for file in self._files:
            file.close()
        self._gate.close()
        ran = Ran(self._what, self._process.exitcode or 0, out, err)
        expect(not slow, "stuck", f"{self._what} did not end in {seconds:.0f} s: {ran}")
        self._check_group()
        return ran

    @property
    def running(self) -> bool:
        return self._process.is_alive()

    @property
    def _files(self) -> "tuple[tempfile._TemporaryFileWrapper[bytes], ...]":
        return self._out, self._err

    def _check_group(self) -> None:
        """Check that nothing goes on that the process has started."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.02)
        self.kill()
        raise FaultError("stuck", f"{self._what} has ended, and what it started goes on")


def command(
    folder: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> Child:
    """Return a process that will run a command."""
    return Child(
        partial(_command, words),
        folder,
        what=f"hetbo {' '.join(map(ascii, words))}"[:300],
        environment=environment,
        encoding=encoding,
    )


def hetbo(
    folder: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> Ran:
    """Run a command; return what came of it, which is a success or an error of one line."""
    child = command(folder, *words, environment=environment, encoding=encoding)
    child.go()
    ran = child.finish()
    check_manners(ran)
    return ran


def works(folder: Path, *words: str) -> Ran:
    """Run a command that must succeed."""
    ran = hetbo(folder, *words)
    expect(ran.code == 0, "wrong", f"it should have worked: {ran}")
    return ran


def check_manners(ran: Ran) -> None:
    """Check that a command ended well, or with one readable line of error."""
    lines = [line for line in ran.err.split("\n") if line]
    errors = [line for line in lines if not line.startswith("hetbo: note: ")]
    if any(word in ran.err for word in ("Traceback", "hetbo: unexpected", "Warning:")):
        raise FaultError("wrong", f"not an error for users: {ran}")
    expect(ran.code in {0, 1, 2}, "wrong", f"exit code {ran.code}: {ran}")
    if "tune" in ran.what:  # its table goes there as well
        errors = [line for line in errors if line.startswith("hetbo: ")]
    expect(len(errors) == (ran.code != 0), "wrong", f"{len(errors)} lines of error: {ran}")
    expect(all(line.startswith("hetbo: ") for line in errors), "wrong", f"no error of ours: {ran}")


def _command(words: tuple[str, ...], gate: Gate) -> int:
    gate()
    return main(list(words))


def _live(
    task: Callable[[Gate], int],
    connection: Connection,
    folder: str,
    environment: Mapping[str, str],
    encoding: str,
    out: str,
    err: str,
) -> None:
    os.setsid()
    # Processes that are started from here would import what is called so.
    sys.modules["__main__"] = ModuleType("__main__")
    os.chdir(folder)
    os.environ.pop("HETBO_STORAGE", None)
    os.environ.update(environment)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)

    def gate() -> None:
        connection.send(os.getpid())
        kill_at = connection.recv()
        if kill_at is not None:
            sys.setprofile(partial(_kill_before, iter(range(kill_at - 1))))

    sys.exit(task(gate))


def _kill_before(calls_left: Iterator[int], frame: FrameType, event: str, function: object) -> None:
    del frame
    called = event == "c_call" and getattr(function, "__name__", "") in _CALLS
    if called and next(calls_left, math.inf) == math.inf:
        os.kill(os.getpid(), signal.SIGKILL)
