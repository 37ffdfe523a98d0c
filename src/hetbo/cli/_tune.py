"""`hetbo tune`: evaluate a Python function until a study has enough trials."""

from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._tune_worker import parsed_function
from hetbo.errors import DataError

_MOST_WORKERS = 256


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
    if not 1 <= workers <= _MOST_WORKERS:
        raise DataError(f"--workers {workers} must be from 1 to {_MOST_WORKERS}")
    for option, count in {"--trials": trials, "--max-failures": max_failures}.items():
        if count < 1:
            raise DataError(f"{option} {count} must be at least 1")
    parsed_function(function)
    from hetbo.cli._tune_study import tune_study

    tune_study(
        function,
        study=study,
        trials=trials,
        workers=workers,
        most_failures=max_failures,
        take_over=take_over,
        place=storage,
    )
