"""`hetbo report`: an HTML page about a study."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from hetbo._files import check_replaceable, is_page
from hetbo.cli._options import DEFAULT_PLACE, OutputFile, Place
from hetbo.cli._output import say
from hetbo.errors import DataError, printable, shown


def report(
    *,
    output: Annotated[OutputFile, Parameter(alias="-o")] = Path("report.html"),
    study: str | None = None,
    storage: Place = DEFAULT_PLACE,
) -> None:
    """Write what was tried and what was learned to one HTML file that works offline.

    Args:
        output: The file; a page that is there is replaced.
        study: The study; not needed if the storage holds one to tune.
        storage: A database's URL, an SQLite file, or a journal file (.log).
    """
    from hetbo.cli._target import target_at

    _check_writable(output)
    with target_at(storage, study) as target:
        optimizer = target.optimizer()
        name, value = target.name, target.plan.value
    from hetbo.report import write_report  # loads PyTorch

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


def _check_writable(path: Path) -> None:
    check_replaceable(path, is_page)
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {shown(str(folder))}")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise DataError(f"cannot write {path}: permission denied")
