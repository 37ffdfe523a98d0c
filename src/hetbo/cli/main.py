"""The command tree, and how errors are shown."""

import sys
import traceback

from cyclopts import App

from hetbo.cli.bench import bench

app = App(
    name="hetbo",
    help="Bayesian optimisation that learns from past experiments whose parameters were different.",
    version_flags=["--version"],
)
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

    Errors of hetbo are told in one line, with their traceback only under `--debug`.
    """
    from hetbo.errors import HetboError  # noqa: PLC0415

    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    try:
        app([argument for argument in given if argument != "--debug"])
    except HetboError as error:
        if debug:
            traceback.print_exc()
        sys.stderr.write(f"hetbo: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("hetbo: stopped\n")
        return 130
    return 0


def run() -> None:
    """Run the command line of this process."""
    sys.exit(main())
