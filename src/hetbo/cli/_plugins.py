"""Commands of other packages, which declare them in the entry-point group `hetbo.commands`.

An entry point's name is the command's, its object a Cyclopts `App` of that name or a function.
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cyclopts import App

from hetbo.errors import HetboError, shown

GROUP = "hetbo.commands"
_BENCH = "bench"


def add_extensions(app: App, *, called: str) -> None:
    """Add the command that is called, or, for help and for suggestions, those of all packages.

    Args:
        app: The command line, with hetbo's own commands.
        called: The first argument of the command line.

    Raises:
        HetboError: A command cannot be loaded, its name is taken, or it is that of the benchmarks,
            which are not installed.
    """
    found = entry_points(group=GROUP)
    named = [entry for entry in found if entry.name == called]
    if called == _BENCH and not named:
        raise HetboError(
            "'hetbo bench' needs the package hetbo-bench, which is not installed; in a checkout of "
            "hetbo, script/bench sets it up, or install it with: pip install ./benchmarks"
        )
    for entry in named or found:
        if entry.name in app:
            raise HetboError(
                f"the command {shown(entry.name)} of the package {_package(entry)} has the name of "
                "another command; uninstall the package"
            )
        app.command(_loaded(entry), name=entry.name)


def _loaded(entry: EntryPoint) -> App | Callable[..., Any]:
    try:
        command: App | Callable[..., Any] = entry.load()
    except (ImportError, AttributeError) as error:
        raise HetboError(
            f"the command {shown(entry.name)} of the package {_package(entry)} cannot be loaded "
            f"({error}); reinstall the package, or uninstall it"
        ) from error
    return command


def _package(entry: EntryPoint) -> str:
    return "of unknown name" if entry.dist is None else entry.dist.name
