"""A study is tuned: this process chooses trials and keeps the books, workers evaluate them."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from optuna.trial import FrozenTrial
from optuna.trial import TrialState as State

from hetbo._processes import process_token
from hetbo.cli._backoff import Patience, UnavailableError, briefly
from hetbo.cli._commands import command
from hetbo.cli._output import say, say_command
from hetbo.cli._stopping import stop_on_signals
from hetbo.cli._target import Target, target_at
from hetbo.cli._tune_outcomes import keep, listed_trials, store_kept
from hetbo.cli._tune_owners import (
    Claims,
    close_unfinished,
    is_ours,
    resumable,
    started_by_tune,
)
from hetbo.cli._tune_run import Job, Run
from hetbo.cli._tune_table import TuneTable

_PATIENCE = 300.0
_SECONDS_PER_CALL = 2.0
"""How long a call waits for an SQLite file: then Ctrl-C takes effect, and the call is repeated."""


def tune_study(
    function: str,
    *,
    study: str | None,
    trials: int,
    workers: int,
    most_failures: int,
    take_over: bool,
    place: str,
) -> None:
    """Evaluate a function until a study has enough trials."""
    with target_at(place, study, wait=_SECONDS_PER_CALL) as target, stop_on_signals() as stop:
        claims = briefly(lambda: _tidied(target, place, take_over=take_over))
        if claims.late:
            say(
                f"The storage was too slow to take over {listed_trials(claims.late)}; the same "
                "command, run again, tries once more."
            )
        table = briefly(lambda: _table(target, trials))
        if claims.numbers or len(briefly(target.trials)) < trials:
            sources = briefly(target.sources)
            from hetbo.cli._suggester import Suggester  # loads PyTorch
            from hetbo.methods._long_fits import announce_digesting

            digesting = announce_digesting(table.note)
            suggester = briefly(
                lambda: Suggester(target, sources, owner=process_token(), progress=digesting)
            )
            run = Run(
                place=place,
                target=target,
                suggester=suggester,
                table=table,
                patience=Patience(_PATIENCE, table.note),
                function=function,
                total=trials,
                workers=workers,
                most_failures=most_failures,
                stop=stop,
                jobs=_resumed(claims, stop),
            )
            with _nothing_lost(run, study=study, place=place), table:
                run.go()
        try:
            briefly(
                lambda: _conclude(target, trials, stopped=stop.is_set(), study=study, place=place)
            )
        except UnavailableError:
            if not stop.is_set():
                raise
            # It was asked to stop, and all there is to say has been said.


def _tidied(target: Target, place: str, *, take_over: bool) -> Claims:
    """Settle what earlier runs left: store, close, and claim what can be run again."""
    store_kept(target, place)
    close_unfinished(target)
    return Claims.write(target, resumable(target, take_over=take_over))


def _table(target: Target, total: int) -> TuneTable:
    best = target.best()
    return TuneTable(
        total,
        sum(trial.state.is_finished() for trial in target.trials()),
        target.plan.goal,
        None if best is None or best.value is None else (best.value, best.number),
    )


def _resumed(claims: Claims, stop: threading.Event) -> list[Job]:
    """Return the trials to run again, and say which they are."""
    won = briefly(lambda: claims.won(stop))
    if won:
        say(f"Goes on with what was stopped: {listed_trials([trial.number for trial in won])}.")
    return [Job(trial.number, trial.params) for trial in won]


@contextmanager
def _nothing_lost(run: Run, *, study: str | None, place: str) -> Iterator[None]:
    """However the block ends, try once more to store what has ended, and keep what cannot be."""
    try:
        yield
    finally:
        try:
            with suppress(UnavailableError):
                while run.ended:
                    run.store_next()
        finally:
            if run.ended:
                keep(run.ended, run.target, study=study, place=place)


def _conclude(target: Target, total: int, *, stopped: bool, study: str | None, place: str) -> None:
    running = [t for t in target.trials() if t.state is State.RUNNING]
    ended = sum(trial.state.is_finished() for trial in target.trials())
    best = target.best()
    if best is not None:
        show = command("best", study=study, place=place)
        say_command(f"best {target.plan.value}: {best.value:.6g} in trial {best.number} ({show})")
    if stopped:
        own = [trial.number for trial in running if is_ours(trial)]
        if own:
            was, them = ("was", "it") if len(own) == 1 else ("were", "them")
            say(f"Under way {was} {listed_trials(own)}; the same command runs {them} again.")
        return
    say(f"{ended} of {total} trials have ended.")
    others = [trial for trial in running if not is_ours(trial)]
    if others:
        _say_left_open(others)
        give_up = command("tell", str(others[0].number), "--failed", study=study, place=place)
        say_command(f"If nobody works on {others[0].number} any more, give it up: {give_up}")


def _say_left_open(running: Sequence[FrozenTrial]) -> None:
    of_tuners = [trial.number for trial in running if started_by_tune(trial)]
    if of_tuners:
        one = len(of_tuners) == 1
        say(
            f"{listed_trials(of_tuners).capitalize()} still {'runs' if one else 'run'} in another "
            "'hetbo tune'. If that has ended, the same command runs "
            f"{'it' if one else 'them'} again; if its machine is gone, --take-over does."
        )
    of_people = [trial.number for trial in running if not started_by_tune(trial)]
    if of_people:
        waits = "waits" if len(of_people) == 1 else "wait"
        say(f"{listed_trials(of_people).capitalize()} {waits} to be told.")
