"""`hetbo backtest`: would old runs have helped?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hetbo.cli._options import DEFAULT_PLACE, OutputFile, Place, Switch

if TYPE_CHECKING:
    from hetbo.backtesting import Backtest
    from hetbo.experiments import Experiment

_ENDING = ".backtest.jsonl"
_MOST_PERCENT = 50


def backtest(
    *,
    source: Annotated[list[str], Parameter(consume_multiple=True, negative="")],
    method: str = "auto",
    top: float = 5.0,
    repeats: int = 3,
    workers: int = 1,
    json: Switch = False,
    report: OutputFile | None = None,
    output: Annotated[OutputFile | None, Parameter(alias="-o")] = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Replay each past study as if it were today's, and see whether the others would have helped.

    A replay searches the settings that a study tried until it finds a good one: with all other
    studies as sources, with one of them alone, and 40 times without any, to know what is luck. Ten
    studies of 30 trials take two to five minutes on one core. Ctrl-C stops; the same command goes
    on.

    Args:
        source: Past studies, two or more: STUDY, or STORAGE::STUDY if it is in another storage,
            each a name or a pattern; files, folders and patterns of files.
        method: The method that uses sources.
        top: What is good: so many percent of a study's settings, the best ones; 0 for the best.
        repeats: How often to make each replay with sources, with other random choices.
        workers: How many processes to use.
        json: Print JSON, exact to the last digit.
        report: An HTML file to write the picture and the numbers to; it works offline.
        output: Where finished replays are kept; beside the storage if not given.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo._files import check_replaceable, is_page
    from hetbo.cli._output import check_open, progress_bar, say, write_json
    from hetbo.cli._places import file_of  # loads Optuna
    from hetbo.errors import DataError

    check_open()
    if not 0 <= top <= _MOST_PERCENT:
        raise DataError(f"--top {top:g} must be from 0 to {_MOST_PERCENT} percent")
    if report is not None:
        check_replaceable(report, is_page)  # before minutes are spent
    experiments = _read(source, storage)
    database = file_of(storage)
    kept = output or Path(f"{database or 'hetbo'}{_ENDING}")
    from hetbo.backtesting import backtest as replay_all  # loads PyTorch

    try:
        with progress_bar("replaying") as progress:
            found = replay_all(
                experiments,
                method=method,
                top=top / 100,
                repeats=repeats,
                workers=workers,
                results=kept,
                progress=progress,
            )
    except KeyboardInterrupt:
        if kept.exists():
            say(f"Finished replays are in {kept}; the same command goes on.")
        raise
    if report is not None:
        from hetbo.report import write_backtest_report

        write_backtest_report(found, report)
    if json:
        write_json(found.to_json())
    else:
        _show(found, report)


def _read(sources: Sequence[str], place: str) -> "list[Experiment]":
    from hetbo.cli._sources import experiments_of, read_sources

    return experiments_of(read_sources(sources, None, place=place))


def _show(found: "Backtest", report: Path | None) -> None:
    from hetbo.cli._output import say, show_table

    say(str(found))
    say("")
    show_table(
        ["case", "without", "with", "saved", "in most runs"],
        [
            [
                case.name,
                round(case.needed_without, 1),
                round(case.needed, 1),
                round(case.saved, 1),
                " to ".join(f"{end:.0f}" for end in case.saved_in_most_runs),
            ]
            for case in found.cases
        ],
    )
    show_table(
        ["source", "alone saves", "of cases", "which means: it"],
        [
            [
                one.name,
                round(one.mean, 1),
                len(one.saved),
                one.verdict.replace("not clear", "may be luck"),
            ]
            for one in found.sources
        ],
    )
    for text in (*found.skipped.values(), *found.dropped.values(), *found.notes):
        say(f"Note: {text}")
    if report is not None:
        say(f"The picture is in {report}; it opens in any browser, also offline.")
