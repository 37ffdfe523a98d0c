"""The processes of `hetbo tune`: each calls the user's function, one trial at a time."""

import importlib
import inspect
import io
import math
import multiprocessing
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from hetbo._processes import end_with_parent, stop
from hetbo.cli._names import listed
from hetbo.errors import DataError, printable, shown
from hetbo.spaces import Value

_LONGEST_REASON = 300
_SECONDS_TO_STOP = 2.0


@dataclass(frozen=True, slots=True)
class Ready:
    """The function is there and takes the parameters."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """The function cannot be called at all."""

    reason: str


@dataclass(frozen=True, slots=True)
class Printed:
    """The function printed a line."""

    line: str


@dataclass(frozen=True, slots=True)
class Done:
    """The function returned a number."""

    value: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised an error, returned no number, or took the process with it."""

    reason: str


Message = Ready | Unusable | Printed | Done | Failed


class Worker:
    """A process that evaluates trials.

    Args:
        function: The function, as `module:function`.
        names: The parameters that it will be called with.
    """

    def __init__(self, function: str, names: Sequence[str]) -> None:
        # A fresh interpreter: a fork would share threads and locks of the libraries loaded here.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        folder = str(Path.cwd())
        self._process = context.Process(
            target=_serve, args=(theirs, folder, function, tuple(names)), daemon=True
        )
        self._process.start()
        theirs.close()

    def run(self, params: Mapping[str, Value]) -> bool:
        """Begin a trial; return whether the process is there to run it."""
        if not self.alive:
            return False
        try:
            self.connection.send(dict(params))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def receive(self) -> Message:
        """Return the next message; a process that died says so."""
        try:
            message: Message = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            return Failed(f"its process ended {how}")
        return message

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        stop(self._process, patience=_SECONDS_TO_STOP)
        self.connection.close()


def _serve(connection: Connection, folder: str, function: str, names: Sequence[str]) -> None:
    # What a terminal sends is the parent's to handle. Not SIG_IGN, which programs started from here
    # would inherit.
    for number in {signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)}:
        signal.signal(number, lambda *_: None)
    end_with_parent()
    lines = _Lines(connection)
    with redirect_stdout(lines), redirect_stderr(lines):
        try:
            call = _loaded(folder, function, names)
        except DataError as error:
            connection.send(Unusable(str(error)))
            return
        connection.send(Ready())
        while True:
            try:
                params = connection.recv()
            except (EOFError, ConnectionResetError):
                return
            outcome = _evaluated(call, params)
            lines.flush()
            connection.send(outcome)


class _Lines(io.TextIOBase):
    """A stream that sends whole lines to the parent, which prints them beside its table."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._rest = connection, ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._connection.send(Printed(line))
        return len(text)

    def flush(self) -> None:
        if self._rest:
            self._connection.send(Printed(self._rest))
            self._rest = ""


def parsed_function(text: str) -> tuple[str, str]:
    """Return the module and the function in `module:function`.

    Raises:
        DataError: The text has another form.
    """
    module_name, colon, name = text.partition(":")
    if not colon or not module_name or not name:
        raise DataError(f"{shown(text)} must have the form module:function")
    return module_name, name


def _loaded(folder: str, function: str, names: Sequence[str]) -> Callable[..., object]:
    module_name, name = parsed_function(function)
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name.removesuffix(".py"))
    except (Exception, SystemExit) as error:  # whatever the user's module does
        raise DataError(f"cannot import {shown(module_name)}: {_reason(error)}") from error
    call: Callable[..., object] | None = getattr(module, name, None)
    if call is None or not callable(call):
        raise DataError(f"the module {shown(module_name)} has no function {shown(name)}")
    try:
        signature = inspect.signature(call)
    except ValueError:  # a builtin that does not tell
        return call
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        takes = f"{name}{signature}"
        raise DataError(
            f"{shown(takes)} cannot be called with the study's parameters {listed(names)}: {error}"
        ) from error
    return call


def _evaluated(call: Callable[..., object], params: Mapping[str, Value]) -> Done | Failed:
    try:
        result = call(**params)
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001  # the user's code
        return Failed(_reason(error))
    value = _number(result)
    if value is None:
        return Failed(f"it returned {shown(result)}, which is not a number")
    if not math.isfinite(value):
        return Failed(f"it returned {value}, which is not a finite number")
    return Done(value)


def _number(result: object) -> float | None:
    if isinstance(result, str | bytes | bool):
        return None
    try:
        return float(result)  # type: ignore[arg-type]  # a number of any library
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None


def _reason(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # an error of the user's that cannot be shown
        text = ""
    text = printable(text[:_LONGEST_REASON])
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
