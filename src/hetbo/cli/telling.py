"""Tell what came of a trial; see the best."""

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState as State

from hetbo.cli.output import say, show_params, write_json
from hetbo.cli.targets import Target, target_at
from hetbo.errors import DataError, shown
from hetbo.experiments.cells import outcome

_CLOSED = {State.FAIL: "failed", State.PRUNED: "was pruned"}


def tell(number: int, value: str | None, *, failed: bool, study: str | None, place: str) -> None:
    """Store what came of a trial."""
    if (value is None) != failed:
        raise DataError("give either the measured value or --failed: hetbo tell ID VALUE")
    measured = None if value is None else _measured(value)
    with target_at(place, study) as target:
        before = target.best()
        _check_open(target, number)
        state = State.FAIL if measured is None else State.COMPLETE
        try:
            target.study.tell(number, measured, state=state)
        except (ValueError, UpdateFinishedTrialError) as error:  # somebody was faster
            raise DataError(f"trial {number} was not told: {error}") from error
        if measured is None:
            say(f"Trial {number} failed; its neighbourhood becomes less attractive.")
            return
        sign = target.plan.goal.sign
        is_best = before is None or sign * measured > sign * (before.value or 0.0)
        rest = (
            "the best so far"
            if is_best or before is None
            else f"the best so far is {before.value:.6g} (trial {before.number})"
        )
        say(f"Trial {number}: {target.plan.value} {measured:.6g}, {rest}.")


def best(*, study: str | None, json: bool, place: str) -> None:
    """Print the best trial."""
    with target_at(place, study) as target:
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


def _measured(text: str) -> float:
    try:
        number = outcome(text.strip())
    except DataError:
        number = None
    if number is None:
        raise DataError(
            f"{shown(text)} is not a finite number; a trial without one is told with --failed"
        )
    return number


def _check_open(target: Target, number: int) -> None:
    every = target.study.get_trials(deepcopy=False)
    found = next((trial for trial in every if trial.number == number), None)
    if found is None:
        running = [str(t.number) for t in target.trials() if t.state is State.RUNNING]
        waiting = f"these wait for a value: {', '.join(running)}" if running else "none waits"
        raise DataError(f"{shown(target.name)} has no trial {number}; {waiting}")
    if found.state is State.COMPLETE:
        raise DataError(f"trial {number} was told before: {found.value!r}; it stays as it is")
    if found.state is not State.RUNNING:
        raise DataError(
            f"trial {number} is not open: it {_CLOSED.get(found.state, 'has not begun')}"
        )
