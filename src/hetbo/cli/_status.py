"""`hetbo status`: where a study stands, and what to do next."""

from typing import TYPE_CHECKING

from hetbo.cli._commands import command
from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._output import Waiting, say, say_command, show_params, show_table
from hetbo.errors import shown

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from hetbo.cli._target import Target

_MOST_LISTED = 8
_MOST_SOURCES = 10


def status(
    *, explain: Switch = False, study: str | None = None, storage: Place = DEFAULT_PLACE
) -> None:
    """Show where a study stands and what to do next.

    Args:
        explain: Fit the models and say how far each source is trusted.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from optuna.trial import TrialState as State

    from hetbo.cli._target import TUNER, target_at
    from hetbo.cli._tune_outcomes import store_kept

    with target_at(storage, study) as target:
        store_kept(target, storage)
        trials = target.trials()
        plan = target.plan
        states = {state: [t for t in trials if t.state is state] for state in State}
        done, running = len(states[State.COMPLETE]), len(states[State.RUNNING])
        failed = len(states[State.FAIL]) + len(states[State.PRUNED])
        say(f"{shown(target.name)}: {plan.goal} {plan.value}, method {plan.method}")
        say(f"{done} with a value, {failed} failed, {running} running")
        best = target.best()
        if best is not None:
            say(f"best {plan.value}: {best.value:.6g} in trial {best.number}")
        others = len(target.study.get_trials(deepcopy=False)) - len(trials)
        if others:
            say(f"{others} more without all parameters of this study: waiting, or never begun")
        explain_command = command("status", "--explain", study=study, place=storage)
        _show_sources(target, None if explain else explain_command)
        by_hand = [trial for trial in states[State.RUNNING] if TUNER not in trial.user_attrs]
        _show_waiting(by_hand)
        say("")
        say_command(_next(by_hand, best, busy=running > 0, study=study, place=storage))


def _show_sources(target: "Target", explain_command: str | None) -> None:
    """Print a table of the sources; how far each is trusted, or the command that says so."""
    sources = target.sources()
    if not sources:
        say("no sources")
        return
    say("")
    rows = [
        [s.name, s.goal, len(s.complete), "" if s.best is None else s.best.value] for s in sources
    ]
    headings = ["source", "goal", "trials", "best"]
    if explain_command is not None:
        show_table(headings, rows[:_MOST_SOURCES])
        left = sources[_MOST_SOURCES:]
        if left:
            trials = sum(len(source.complete) for source in left)
            say(f"and {len(left)} more, with {trials} trials")
        say_command(f"How far each is trusted (this fits a model): {explain_command}")
        return
    from hetbo.methods import most_trusted, verdict  # loads PyTorch

    with Waiting("fitting the models") as waiting:
        optimizer = target.optimizer()
        optimizer.engine.prepare(progress=waiting.digesting)
        explanation = optimizer.explain()
    dropped = explanation.dropped_sources
    for row, source in zip(rows, sources, strict=True):
        nothing = 0.0 if source.name in dropped else None
        trust = explanation.sources.get(source.name, nothing)
        row.extend(["", ""] if trust is None else [f"{trust:.0%}", verdict(trust)])
    trusts = {source.name: explanation.sources.get(source.name, 0.0) for source in sources}
    named = most_trusted(trusts, dropped)
    if 0 < len(named) < len(sources):
        say(f"{len(named)} of {len(sources)} sources:")
    of = dict(zip(trusts, rows, strict=True))
    if named:
        show_table([*headings, "trust", "which means: it"], [of[name] for name in named])
    say(explanation.sentence)


def _show_waiting(trials: list["FrozenTrial"]) -> None:
    """Print what people were asked to try, which a lost terminal does not show any more."""
    if not trials:
        return
    say("")
    more = len(trials) - _MOST_LISTED
    say(f"Waiting for a value{f', and {more} more' if more > 0 else ''}:")
    show_params({trial.number: trial.params for trial in trials[:_MOST_LISTED]})


def _next(
    by_hand: list["FrozenTrial"],
    best: "FrozenTrial | None",
    *,
    busy: bool,
    study: str | None,
    place: str,
) -> str:
    if by_hand:
        listed = ", ".join(str(trial.number) for trial in by_hand[:_MOST_LISTED])
        more = ", …" if len(by_hand) > _MOST_LISTED else ""
        tell = command("tell", str(by_hand[0].number), "VALUE", study=study, place=place)
        return f"Next: tell what came of {listed}{more}: {tell} (or --failed instead of VALUE)"
    if busy:
        return "Next: 'hetbo tune' is at work, or was stopped; the same command goes on."
    ask = command("ask", study=study, place=place)
    if best is None:
        return f"Next: {ask}"
    report = command("report", "-o", "report.html", study=study, place=place)
    return f"Next: {ask}, or look at what was learned: {report}"
