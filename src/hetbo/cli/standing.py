"""Where a study stands, and what to do next; and a report about it."""

import os
from pathlib import Path

from optuna.trial import FrozenTrial
from optuna.trial import TrialState as State
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from hetbo.cli.commands import command
from hetbo.cli.output import say, say_command, show_table
from hetbo.cli.targets import TUNER, Target, target_at
from hetbo.errors import DataError, printable, shown

_MOST_LISTED = 8


def status(*, study: str | None, explain: bool, place: str) -> None:
    """Print how many trials there are, the best, the sources, and what to do next."""
    with target_at(place, study) as target:
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
        explain_command = command("status", "--explain", study=study, place=place)
        _show_sources(target, None if explain else explain_command)
        say("")
        say_command(_next(states[State.RUNNING], best, study=study, place=place))


def report(*, study: str | None, output: Path, place: str) -> None:
    """Write a report about a study to an HTML file."""
    _check_writable(output)
    with target_at(place, study) as target:
        optimizer = target.optimizer()
        name, value = target.name, target.plan.value
    from hetbo.report import write_report  # noqa: PLC0415  # loads PyTorch

    console = Console(stderr=True)
    with Progress(
        "writing the report",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("report", total=None)
        try:
            write_report(
                optimizer,
                output,
                title=printable(name),
                value=value,
                progress=lambda step, total: bar.update(task, completed=step, total=total),
            )
        except OSError as error:
            raise DataError(f"cannot write {output}: {error.strerror}") from error
    say(f"The report is in {output}; it opens in any browser, also offline.")


def _show_sources(target: Target, explain_command: str | None) -> None:
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
        show_table(headings, rows)
        say_command(f"How far each is trusted (this fits a model): {explain_command}")
        return
    from hetbo.explanation import verdict  # noqa: PLC0415  # loads PyTorch

    with Console(stderr=True).status("fitting the models"):
        explanation = target.optimizer().explain()
    for row, source in zip(rows, sources, strict=True):
        nothing = 0.0 if source.name in explanation.left_out else None
        trust = explanation.sources.get(source.name, nothing)
        row.extend(["", ""] if trust is None else [f"{trust:.0%}", verdict(trust)])
    show_table([*headings, "trust", "which means: it"], rows)
    say(explanation.sentence)


def _next(
    running: list[FrozenTrial], best: FrozenTrial | None, *, study: str | None, place: str
) -> str:
    by_hand = [trial.number for trial in running if TUNER not in trial.user_attrs]
    if by_hand:
        listed = ", ".join(map(str, by_hand[:_MOST_LISTED]))
        more = ", …" if len(by_hand) > _MOST_LISTED else ""
        tell = command("tell", str(by_hand[0]), "VALUE", study=study, place=place)
        return f"Next: tell what came of {listed}{more}: {tell} (or --failed instead of VALUE)"
    if running:
        return "Next: 'hetbo tune' is at work, or was stopped; the same command goes on."
    ask = command("ask", study=study, place=place)
    if best is None:
        return f"Next: {ask}"
    report = command("report", "-o", "report.html", study=study, place=place)
    return f"Next: {ask}, or look at what was learned: {report}"


def _check_writable(path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {shown(str(folder))}")
    if path.is_dir():
        raise DataError(f"cannot write {path}: it is a folder; name a file in it")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise DataError(f"cannot write {path}: permission denied")
