"""`hetbo diff`: what changed between past studies and a space."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from hetbo.cli._option_messages import said_for_init, with_names
from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._output import say, say_drawing, show_notes
from hetbo.cli._space_files import read_space_file
from hetbo.errors import printable
from hetbo.experiments import Experiment
from hetbo.joint import JointSpace
from hetbo.joint._notes import notes_on, shares_nothing

_NARROWEST = 60


def diff(
    *,
    target: Path,
    source: Annotated[list[str], Parameter(consume_multiple=True, negative="")],
    skip_unusable: Switch = False,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Show what changed between past studies and a space, and what each change means.

    Args:
        target: The TOML file of what is tuned today ('hetbo init --help').
        source: Past studies: STUDY, or STORAGE::STUDY if it is in another storage; patterns such as
            'fraud-*' and 'archive.db::*'; files of runs, folders of CSV files, 'runs/*.csv'.
        skip_unusable: Leave out sources that cannot be read or do not fit, and say which.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli._sources import experiments_of, read_sources

    described = read_space_file(target)
    sources = read_sources(
        source,
        described,
        goal=described.goal,
        place=storage,
        sharing=False,
        skip_unusable=skip_unusable,
    )
    experiments = experiments_of(sources)
    name = _target_name(target, experiments)
    with said_for_init():
        joint = JointSpace.merge(
            described.space, experiments, fixed=described.fixed, target_name=name
        )
    say_drawing(with_names(joint.describe(width=max(Console().width, _NARROWEST))))
    say("")
    say("Which parameters are shared by which experiments:")
    say_drawing(joint.tree().text())
    used = [source for source in experiments if not shares_nothing(source, described.space)]
    show_notes(notes_on(described.space, described.goal, described.fixed, used))


def _target_name(path: Path, sources: Sequence[Experiment]) -> str:
    """Return how to call the target: like its file, but never like a source."""
    taken = {source.name for source in sources}
    names = (path.stem, path.name, str(path), str(path.absolute()))
    return next((name for name in map(printable, names) if name not in taken), "target")
