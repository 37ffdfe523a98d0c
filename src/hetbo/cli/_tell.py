"""`hetbo tell`: store what came of a trial."""

import math
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hetbo.cli._backoff import briefly
from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._output import say
from hetbo.errors import DataError, shown
from hetbo.spaces._texts import number

if TYPE_CHECKING:
    from hetbo.cli._target import Target

_CLOSED = {"FAIL": "failed", "PRUNED": "was pruned"}


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
    from hetbo.cli._target import target_at

    if (value is None) != failed:
        raise DataError("give either the measured value or --failed: hetbo tell ID VALUE")
    measured = None if value is None else _measured(value)
    with target_at(storage, study) as target:
        before = target.best()
        briefly(lambda: _store(target, number, measured))
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


def _measured(text: str) -> float:
    found = number(text)
    if found is None or math.isinf(found):
        raise DataError(
            f"{shown(text)} is not a finite number; a trial without one is told with --failed"
        )
    return float(found)


def _store(target: "Target", number: int, value: float | None) -> None:
    _check_open(target, number)
    if not target.tell(number, value):  # already told by another process, since the check
        _check_open(target, number)


def _check_open(target: "Target", number: int) -> None:
    from optuna.trial import TrialState as State

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
            f"trial {number} is not open: it {_CLOSED.get(found.state.name, 'has not begun')}"
        )
