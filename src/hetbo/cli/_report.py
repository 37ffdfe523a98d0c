"""`hetbo report`: an HTML page about a study."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hetbo._files import check_replaceable, is_page
from hetbo.cli._options import DEFAULT_PLACE, OutputFile, Place
from hetbo.cli._output import Waiting, progress_bar, say
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

    with Waiting("reading the sources") as waiting:
        optimizer.engine.prepare(progress=waiting.digesting)
    try:
        with progress_bar("writing the report") as progress:
            write_report(
                optimizer,
                output,
                title=printable(name),
                value=value,
                progress=progress,
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
