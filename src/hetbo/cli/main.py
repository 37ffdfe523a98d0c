"""The command tree, and how errors are shown."""

import os
import sys
import traceback
import warnings
from typing import TextIO

from cyclopts import App, CycloptsError

from hetbo.cli import setup_commands, trial_commands
from hetbo.cli.bench import bench
from hetbo.errors import HetboError, HetboWarning, printable

app = App(
    name="hetbo",
    help="Bayesian optimisation that learns from past experiments whose parameters were different.",
    help_epilogue="--debug, with any command, shows where in the code an error came from.",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
)
app.command(setup_commands.import_, name="import")
app.command(setup_commands.diff)
app.command(setup_commands.init)
app.command(trial_commands.ask)
app.command(trial_commands.tell)
app.command(trial_commands.best)
app.command(trial_commands.status)
app.command(trial_commands.tune)
app.command(trial_commands.report)
app.command(bench)


@app.command
def demo(*, seed: int = 0) -> None:
    """Show a full transfer optimisation in under a minute.

    Args:
        seed: Draws the old experiment and all random choices.
    """
    from hetbo.demo import main as run_demo  # noqa: PLC0415  # loads PyTorch

    run_demo([str(seed)])


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return the exit code.

    Errors and warnings are told in one line, an error's traceback only under `--debug`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    with warnings.catch_warnings():
        warnings.simplefilter("always", HetboWarning)
        warnings.showwarning = _show_warning
        try:
            app(
                [argument for argument in given if argument != "--debug"],
                exit_on_error=False,
                print_error=False,
                result_action="return_none",
            )
        except KeyboardInterrupt:
            sys.stderr.write("hetbo: stopped\n")
            return 130
        except BrokenPipeError:
            # Whoever read the output has gone, as `head` does. Nothing is left to say.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except Exception as error:  # noqa: BLE001  # the last resort
            if debug:
                traceback.print_exc()
            sys.stderr.write(f"hetbo: {_told(error)}\n")
            return 2 if isinstance(error, CycloptsError) else 1
    return 0


def run() -> None:
    """Run the command line of this process."""
    sys.exit(main())


def _told(error: Exception) -> str:
    if isinstance(error, HetboError | CycloptsError):
        return printable(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.strerror:
        return printable(f"{error.filename or 'the system'}: {error.strerror}")
    told = printable(f"{type(error).__name__}: {error}"[:300])
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
        sys.stderr.write(f"hetbo: note: {printable(str(message))}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
