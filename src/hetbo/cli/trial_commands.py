"""`hetbo ask`, `tell`, `best`, `status`, `tune`, `report`: work on a study that `init` set up."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hetbo.cli.options import DEFAULT_PLACE, Place, Switch


def ask(
    *,
    n: Annotated[int, Parameter(name="-n")] = 1,
    json: Switch = False,
    csv: Switch = False,
    study: str | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Suggest what to try next. What is suggested counts as under way until it is told.

    Args:
        n: How many trials.
        json: Print JSON, exact to the last digit.
        csv: Print CSV. A text that a spreadsheet would take for a formula (it begins with one of
            = + - @) gets an apostrophe in front.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.asking import Form  # noqa: PLC0415
    from hetbo.cli.asking import ask as run  # noqa: PLC0415
    from hetbo.errors import DataError  # noqa: PLC0415

    if json and csv:
        raise DataError("--json and --csv exclude each other")
    form: Form = "json" if json else "csv" if csv else "table"
    run(study=study, n=n, form=form, place=storage)


def tell(
    number: Annotated[int, Parameter(name="ID")],
    value: Annotated[str | None, Parameter(name="VALUE", allow_leading_hyphen=True)] = None,
    /,
    *,
    failed: Switch = False,
    study: str | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Store what came of a trial: its value, or that it failed.

    Args:
        number: The trial's number, as 'hetbo ask' showed it.
        value: What was measured.
        failed: It could not be measured; the search keeps away from there.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.telling import tell as run  # noqa: PLC0415

    run(number, value, failed=failed, study=study, place=storage)


def best(*, json: Switch = False, study: str | None = None, storage: Place = DEFAULT_PLACE) -> None:
    """Show the best trial so far.

    Args:
        json: Print JSON, exact to the last digit.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.telling import best as run  # noqa: PLC0415

    run(study=study, json=json, place=storage)


def status(
    *, explain: Switch = False, study: str | None = None, storage: Place = DEFAULT_PLACE
) -> None:
    """Show where a study stands and what to do next.

    Args:
        explain: Fit the models and say how far each source is trusted.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.standing import status as run  # noqa: PLC0415

    run(study=study, explain=explain, place=storage)


def tune(
    function: str,
    *,
    trials: int,
    workers: int = 1,
    max_failures: int = 5,
    take_over: Switch = False,
    study: str | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Evaluate a Python function until the study has enough trials.

    The function gets the parameters as keyword arguments and returns a number. If it raises an
    error the trial fails, and the run goes on. Ctrl-C stops at once. Trials that were under way,
    then or when the power went, are run again with the same parameters by the same command.

    Args:
        function: module:function, found from the working directory.
        trials: How many trials the study should have in all, failed ones and those of earlier
            runs included.
        workers: How many trials to evaluate at once, each in a process of its own.
        max_failures: Stop after so many failures in a row.
        take_over: Run again what 'hetbo tune' began on other machines and did not end.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.tuning import tune as run  # noqa: PLC0415

    run(
        function,
        study=study,
        trials=trials,
        workers=workers,
        most_failures=max_failures,
        take_over=take_over,
        place=storage,
    )


def report(
    *,
    output: Annotated[Path, Parameter(alias="-o")] = Path("report.html"),
    study: str | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Write what was tried and what was learned to one HTML file that works offline.

    Args:
        output: The file; one that is there is replaced.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli.standing import report as run  # noqa: PLC0415

    run(study=study, output=output, place=storage)
