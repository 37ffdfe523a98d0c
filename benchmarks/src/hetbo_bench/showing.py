"""From files of runs to tables and figures on the screen and on disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console

from hetbo.cli import write_text_atomically
from hetbo.errors import DataError, shown
from hetbo_bench.analysis.comparison import compare
from hetbo_bench.analysis.figures import write_figures
from hetbo_bench.analysis.rendering import (
    comparison_to_json,
    comparison_to_markdown,
    render_comparison,
)
from hetbo_bench.problems.named import problem_named
from hetbo_bench.running.runs import Run, read_runs

_SUFFIXES = ("*.jsonl", "*.jsonl.gz")
_NARROWEST = 100


def runs_in(paths: Sequence[Path]) -> list[Run]:
    """Return the runs in files, and in the files of folders.

    Raises:
        DataError: There is none.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(f for suffix in _SUFFIXES for f in path.glob(suffix))
        files += found if path.is_dir() else [path]
    runs = read_runs(files)
    if not runs:
        where = ", ".join(map(str, paths)) or "no file"
        raise DataError(f"there are no runs in {where}: make some with 'hetbo bench run'")
    return runs


def show_comparison(
    paths: Sequence[Path],
    *,
    form: Literal["tables", "markdown", "json"] = "tables",
    methods: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    against: str | None = None,
    console: Console | None = None,
) -> None:
    """Print how methods compare."""
    out = Console() if console is None else console
    comparison = compare(runs_in(paths), methods=methods, problems=problems, against=against)
    if form == "tables":
        if out.width < _NARROWEST and not out.is_terminal:
            out.width = _NARROWEST
        render_comparison(comparison, out)
        return
    make = comparison_to_markdown if form == "markdown" else comparison_to_json
    out.out(make(comparison), highlight=False)


def draw_figures(
    paths: Sequence[Path],
    folder: Path,
    *,
    methods: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    console: Console | None = None,
) -> None:
    """Write the figures into a folder and print their names."""
    out = Console() if console is None else console
    for path in write_figures(runs_in(paths), folder, methods=methods, problems=problems):
        out.print(str(path), markup=False, soft_wrap=True)


def show_tree(name: str, path: Path | None, console: Console | None = None) -> None:
    """Print the tree of a problem's search spaces, or write it to a file and print its name.

    Raises:
        DataError: There is no such problem, or the file is of another kind.
    """
    tree = problem_named(name).joint().tree()
    out = Console() if console is None else console
    if path is None:
        out.print(tree.text(), markup=False, soft_wrap=True)
        return
    if path.suffix not in (".svg", ".dot"):
        raise DataError(f"{shown(str(path))} must end in .svg or .dot")
    write_text_atomically(path, tree.svg() if path.suffix == ".svg" else tree.dot())
    out.print(str(path), markup=False, soft_wrap=True)
