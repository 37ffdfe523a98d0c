"""The command tree, and how errors are shown."""

import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from cyclopts import App, CycloptsError

from hetbo.cli._output import discard_unwritten, showable
from hetbo.cli._plugins import add_extensions
from hetbo.cli._stopping import StoppedError
from hetbo.errors import DataError, HetboError, HetboWarning, printable, shown

_LONGEST_LINE = 1000
_COMMANDS = {
    "import": (
        "hetbo.cli._import:import_",
        "Store the runs in files, each as a study that others can learn from.",
    ),
    "diff": (
        "hetbo.cli._diff:diff",
        "Show what changed between past studies and a space, and what each change means.",
    ),
    "init": (
        "hetbo.cli._init:init",
        "Set up a study to tune, from a TOML file of what is tuned today.",
    ),
    "ask": (
        "hetbo.cli._ask:ask",
        "Suggest what to try next. What is suggested counts as under way until it is told.",
    ),
    "tell": (
        "hetbo.cli._tell:tell",
        "Store what came of a trial: its value, or that it failed.",
    ),
    "best": ("hetbo.cli._best:best", "Show the best trial so far."),
    "status": ("hetbo.cli._status:status", "Show where a study stands and what to do next."),
    "tune": (
        "hetbo.cli._tune:tune",
        "Evaluate a Python function until the study has enough trials.",
    ),
    "report": (
        "hetbo.cli._report:report",
        "Write what was tried and what was learned to one HTML file that works offline.",
    ),
    "backtest": (
        "hetbo.cli._backtest:backtest",
        "Replay each past study as if it were today's, and see whether the others would have "
        "helped.",
    ),
}
"""Where each command is, and the first sentence of its help. A command's file is loaded when it is
called or its own help is shown; what opens storages and computes, when the command runs."""
_HELP = "Bayesian optimisation that learns from past experiments whose parameters were different."


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit code.

    Errors and warnings are told in one line, an error's traceback only under `--debug`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    with showable(), warnings.catch_warnings():
        warnings.simplefilter("always", HetboWarning)
        warnings.showwarning = _show_warning
        try:
            return _run(given)
        finally:
            discard_unwritten()


def run() -> None:
    """Run the command line of this process."""
    sys.exit(main())


def _run(given: Sequence[str]) -> int:
    try:
        _check_arguments(given)
        words = [argument for argument in given if argument != "--debug"]
        _command_line(words[0] if words else "")(
            words,
            exit_on_error=False,
            print_error=False,
            result_action="return_none",
        )
    except KeyboardInterrupt as stopped:
        _say_aside("hetbo: stopped")
        return stopped.code if isinstance(stopped, StoppedError) else 130
    except BrokenPipeError:
        return 1  # whoever read the output has gone, as 'head' does
    except Exception as error:  # noqa: BLE001  # the last resort
        if "--debug" in given:
            traceback.print_exc()
        _say_aside(f"hetbo: {_told(error)}")
        return 2 if isinstance(error, CycloptsError) else 1
    return 0


def _command_line(called: str) -> App:
    """Return hetbo's commands and, unless it is one of them that is called, other packages'."""
    app = App(
        name="hetbo",
        help=_HELP,
        help_epilogue="--debug, with any command, shows where in the code an error came from.",
        version_flags=["--version"],
        suppress_keyboard_interrupt=False,
    )
    for name, (place, summary) in _COMMANDS.items():
        app.command(place, name=name, help=None if name == called else summary)
    if called not in app or called.startswith("-"):
        add_extensions(app, called=called)
    return app


def _check_arguments(given: Sequence[str]) -> None:
    for argument in given:
        if "\0" in argument:
            raise DataError(f"the argument {shown(argument)} holds a NUL character; leave it out")


def _say_aside(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):  # nothing is left to say it to
            sys.stderr.write(f"{text}\n")


def _told(error: Exception) -> str:
    """Return what is told of an error: one line; of a very long one, both ends."""
    text = printable(_reason(error))
    return text if len(text) <= _LONGEST_LINE else f"{text[:400]} … {text[-200:]}"


def _reason(error: Exception) -> str:
    if isinstance(error, HetboError | CycloptsError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    told = f"{type(error).__name__}: {error}"[:300]
    return f"unexpected {told} (--debug shows where it happened; please report it)"


def _show_warning(  # noqa: PLR0917  # Python's signature
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del file, line
    if issubclass(category, HetboWarning):
        _say_aside(f"hetbo: note: {printable(str(message))}")
    else:
        _say_aside(warnings.formatwarning(message, category, filename, lineno).rstrip("\n"))
