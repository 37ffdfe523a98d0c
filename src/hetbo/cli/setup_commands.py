"""`hetbo import`, `hetbo diff`, `hetbo init`: from old runs to a study to tune."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hetbo.cli.options import DEFAULT_PLACE, Goal, Names, Place, Switch


def import_(
    file: Path,
    *,
    study: str | None = None,
    value: str | None = None,
    goal: Goal | None = None,
    rename: Names = None,
    drop: Names = None,
    fixed: Names = None,
    noise: str | None = None,
    space: Path | None = None,
    skip_invalid: Switch = False,
    delimiter: str | None = None,
    encoding: str = "utf-8-sig",
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Store the runs in a CSV file as a study that others can learn from.

    The first line names the columns. A row without a value is a failed trial. What was tuned is
    inferred and shown. On a terminal, what is not said is asked for; elsewhere it is an error.

    Args:
        file: The CSV file.
        study: The study's name; the file's name without its ending if not given.
        value: The column that was measured; 'value' if there is one.
        goal: Which way is better.
        rename: OLD=NEW for columns whose parameters are called differently today.
        drop: Columns to leave out.
        fixed: NAME=VALUE of parameters that all runs had the same and the file does not show.
        noise: The column of the values' standard deviations.
        space: A TOML file of what was tuned, instead of inferring it ('hetbo init --help').
        skip_invalid: Leave out rows that do not fit, and say how many.
        delimiter: What separates cells; found out if not given.
        encoding: The file's encoding.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.importing import Reading, import_csv  # noqa: PLC0415

    reading = Reading(
        file,
        value,
        goal,
        rename or [],
        drop or [],
        fixed or [],
        noise,
        space,
        skip_invalid,
        delimiter,
        encoding,
    )
    import_csv(reading, study=study, place=storage)


def diff(
    *,
    target: Path,
    source: Annotated[list[str], Parameter(consume_multiple=True, negative="")],
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Show what changed between past studies and a space, and what each change means.

    Args:
        target: The TOML file of what is tuned today ('hetbo init --help').
        source: Past studies: STUDY, or STORAGE::STUDY if it is in another storage.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.planning import show_diff  # noqa: PLC0415

    show_diff(target, source, place=storage)


def init(
    space: Path,
    *,
    study: str,
    source: Names = None,
    goal: Goal | None = None,
    method: str = "auto",
    seed: int | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Set up a study to tune, from a TOML file of what is tuned today.

    The file: goal = "minimize" (or "maximize"), optionally value = "loss", and a table
    [parameters] of lines such as lr = { low = 1e-5, high = 0.1, log = true }, layers = { low = 1,
    high = 8 } (whole numbers, since both bounds are written without a point), dropout = { low =
    0.0, high = 0.5 } (real numbers), booster = { choices = ["gbtree", "dart"] }. A table [fixed]
    gives known values of parameters that only sources tuned: subsample = 0.8.

    Args:
        space: The TOML file.
        study: The new study's name.
        source: Past studies to learn from: STUDY, or STORAGE::STUDY if it is in another storage.
        goal: Which way is better, if the file does not say or says otherwise.
        method: How to choose trials; 'auto' decides how far to trust the sources.
        seed: Where all random choices come from; a random one if not given.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.planning import set_up  # noqa: PLC0415

    set_up(
        space,
        study=study,
        sources=source or [],
        goal=goal,
        method=method,
        seed=seed,
        place=storage,
    )
