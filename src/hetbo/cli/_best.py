"""`hetbo best`: the best trial so far."""

from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._output import say, show_params, write_json
from hetbo.errors import DataError, shown


def best(*, json: Switch = False, study: str | None = None, storage: Place = DEFAULT_PLACE) -> None:
    """Show the best trial so far.

    Args:
        json: Print JSON, exact to the last digit.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from optuna.trial import TrialState as State

    from hetbo.cli._target import target_at

    with target_at(storage, study) as target:
        found = target.best()
        if found is None:
            raise DataError(
                f"no trial of {shown(target.name)} has a value yet; "
                "'hetbo ask' suggests one and 'hetbo tell' takes its value"
            )
        if json:
            write_json({"id": found.number, "value": found.value, "params": found.params})
            return
        done = sum(trial.state is State.COMPLETE for trial in target.trials())
        say(
            f"{target.plan.value} {found.value:.6g} in trial {found.number}, the best of {done} "
            f"({target.plan.goal}):"
        )
        show_params({found.number: found.params})
