"""`hetbo ask`: suggest what to try next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter

from hetbo.cli._backoff import briefly
from hetbo.cli._commands import command
from hetbo.cli._options import DEFAULT_PLACE, Place, Switch
from hetbo.cli._output import (
    Waiting,
    check_open,
    say_command,
    show_params,
    write_csv,
    write_json,
)
from hetbo.errors import DataError

if TYPE_CHECKING:
    from optuna.trial import Trial

Form: TypeAlias = Literal["table", "json", "csv"]

_MOST_AT_ONCE = 100


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
            = + - @, also full-width or after blanks) gets an apostrophe in front.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    if json and csv:
        raise DataError("--json and --csv exclude each other")
    form: Form = "json" if json else "csv" if csv else "table"
    if not 1 <= n <= _MOST_AT_ONCE:
        raise DataError(f"-n {n} must be from 1 to {_MOST_AT_ONCE}")
    check_open()

    from hetbo.cli._target import target_at
    from hetbo.cli._tune_owners import close_unfinished

    asked: list[Trial] = []
    with target_at(storage, study) as target:
        sources = target.sources()
        names = target.plan.space.names
        close_unfinished(target)
        try:
            with Waiting("choosing what to try next") as waiting:
                from hetbo.cli._suggester import Suggester  # loads PyTorch

                suggester = Suggester(target, sources, progress=waiting.digesting)
                asked.extend(briefly(suggester.ask) for _ in range(n))
        finally:
            if asked:  # what is stored is shown, even if a later one failed
                try:
                    _show_asked(names, asked, form)
                    if form == "table":
                        _show_next(asked, study=study, place=storage)
                except OSError as error:
                    raise _unseen(asked, error, study=study, place=storage) from error


def _unseen(
    asked: Sequence["Trial"], error: OSError, *, study: str | None, place: str
) -> DataError:
    numbers = ", ".join(str(trial.number) for trial in asked)
    return DataError(
        f"{error.filename}: {error.strerror}, so what to try was not shown; open until a value is "
        f"told: {numbers}; this shows them: {command('status', study=study, place=place)}"
    )


def _show_asked(names: Sequence[str], asked: Sequence["Trial"], form: Form) -> None:
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


def _show_next(asked: Sequence["Trial"], *, study: str | None, place: str) -> None:
    first = str(asked[0].number)
    measured = command("tell", first, "VALUE", study=study, place=place)
    failed = command("tell", first, "--failed", study=study, place=place)
    say_command(f"Try {'it' if len(asked) == 1 else 'them'}, then: {measured}")
    say_command(f"If it cannot be measured: {failed}")
