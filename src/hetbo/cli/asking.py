"""Ask for parameters to try."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from optuna.trial import Trial
from rich.console import Console

from hetbo.cli.commands import command
from hetbo.cli.output import say_command, show_params, write_csv, write_json
from hetbo.cli.targets import target_at
from hetbo.errors import DataError

Form: TypeAlias = Literal["table", "json", "csv"]

_MOST_AT_ONCE = 100


def ask(*, study: str | None, n: int, form: Form, place: str) -> None:
    """Suggest trials and print them."""
    if not 1 <= n <= _MOST_AT_ONCE:
        raise DataError(f"-n {n} must be from 1 to {_MOST_AT_ONCE}")
    asked: list[Trial] = []
    with target_at(place, study) as target:
        sources = target.sources()
        names = target.plan.space.names
        try:
            with Console(stderr=True).status("choosing what to try next"):
                from hetbo.cli.asker import Asker  # noqa: PLC0415  # loads PyTorch

                asker = Asker(target, sources)
                asked.extend(asker.ask() for _ in range(n))
        finally:
            if asked:  # what is stored is shown, even if a later one failed
                _show_asked(names, asked, form)
                if form == "table":
                    _show_next(asked, study=study, place=place)


def _show_asked(names: Sequence[str], asked: Sequence[Trial], form: Form) -> None:
    rows: list[dict[str, Any]] = [{n: trial.params[n] for n in names} for trial in asked]
    match form:
        case "json":
            write_json(
                [{"id": t.number, "params": row} for t, row in zip(asked, rows, strict=True)]
            )
        case "csv":
            cells = ([t.number, *row.values()] for t, row in zip(asked, rows, strict=True))
            write_csv(["id", *names], cells)
        case _:
            show_params({t.number: row for t, row in zip(asked, rows, strict=True)})


def _show_next(asked: Sequence[Trial], *, study: str | None, place: str) -> None:
    first = str(asked[0].number)
    measured = command("tell", first, "VALUE", study=study, place=place)
    failed = command("tell", first, "--failed", study=study, place=place)
    say_command(f"Try {'it' if len(asked) == 1 else 'them'}, then: {measured}")
    say_command(f"If it cannot be measured: {failed}")
