"""`hetbo bench`: run the benchmarks, compare, draw."""

import os
import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

bench = App(name="bench", help="Run the benchmarks, compare methods, draw the paper's figures.")

Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Results = Annotated[list[Path], Parameter(negative="")]


@bench.command(name="list")
def list_problems() -> None:
    """List the problems with their parameters, sources and optimum, the suites and the methods."""
    from hetbo_bench.listing import show_listing  # noqa: PLC0415

    show_listing()


@bench.command
def run(
    *,
    suite: str = "quick",
    problems: Names = None,
    methods: Names = None,
    replications: int | None = None,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    workers: int | None = None,
    dask: str | None = None,
) -> None:
    """Run a suite. What the output file holds already is not run again: stop and go on at will.

    Args:
        suite: Which problems and methods; 'hetbo bench list' shows them.
        problems: Other problems than the suite's.
        methods: Other methods than the suite's.
        replications: Another number of replications than the suite's.
        output: The file of JSON lines; results/SUITE.jsonl if not given.
        workers: How many processes, each with one thread; all cores if not given.
        dask: The address of a Dask scheduler whose workers run the replications instead, one at a
            time each. They need hetbo and the problems' data.
    """
    from hetbo.cli import say, say_command  # noqa: PLC0415
    from hetbo.errors import DataError, HetboError  # noqa: PLC0415
    from hetbo_bench.problems.named import without_published_starts  # noqa: PLC0415
    from hetbo_bench.progress import RunProgress  # noqa: PLC0415
    from hetbo_bench.running.runner import run_jobs, unfinished  # noqa: PLC0415
    from hetbo_bench.running.suites import suite_of  # noqa: PLC0415

    chosen = suite_of(suite, problems=problems, methods=methods, replications=replications)
    path = Path("results", f"{suite}.jsonl") if output is None else output
    processes = (os.cpu_count() or 1) if workers is None else workers
    if processes < 1:
        raise DataError(f"--workers {workers} must be at least 1")
    jobs = chosen.jobs()
    todo = unfinished(jobs, path)
    if unpaired := without_published_starts(chosen.problems):
        say(
            f"{', '.join(unpaired)}: starts are drawn, and cannot be paired with the paper's runs, "
            "which are not available (HETBO_PUBLISHED names their folder)"
        )
    with RunProgress(len(jobs), done=len(jobs) - len(todo)) as progress:
        failures = run_jobs(jobs, path, workers=processes, dask=dask, finished=progress.finished)
    if failures:
        first = failures[0]
        raise HetboError(
            f"{len(failures)} of {len(todo)} replications failed and will be tried again next "
            f"time; the first: {first.job.problem} {first.job.method} {first.job.replication}: "
            f"{first.reason}"
        )
    say_command(f"hetbo bench compare {shlex.quote(str(path))}    # shows what came out")


@bench.command
def compare(
    results: Results,
    *,
    methods: Names = None,
    problems: Names = None,
    against: str | None = None,
    form: Annotated[Literal["tables", "markdown", "json"], Parameter(name="--as")] = "tables",
) -> None:
    """Compare methods with each other and with the published ones.

    Args:
        results: Files of JSON lines, or folders of them.
        methods: Leave out all others.
        problems: Leave out all others; a beginning such as 'fcnet' stands for all that have it.
        against: The method that regret is shown relative to; if not given, vanilla, or else
            vanilla-paper.
        form: How to print it.
    """
    from hetbo_bench.showing import show_comparison  # noqa: PLC0415

    show_comparison(results, form=form, methods=methods, problems=problems, against=against)


@bench.command
def plot(
    results: Results,
    *,
    methods: Names = None,
    problems: Names = None,
    output: Annotated[Path, Parameter(alias="-o")] = Path("figures"),
) -> None:
    """Draw the paper's two figures, and one of all other problems, as PDF and PNG.

    Args:
        results: Files of JSON lines, or folders of them.
        methods: Leave out all others.
        problems: Leave out all others; a beginning such as 'fcnet' stands for all that have it.
        output: The folder for the figures.
    """
    from hetbo_bench.showing import draw_figures  # noqa: PLC0415

    draw_figures(results, output, methods=methods, problems=problems)


@bench.command
def tree(problem: str, *, output: Annotated[Path | None, Parameter(alias="-o")] = None) -> None:
    """Show the tree of a problem's search spaces: the paper's Figure 1.

    Args:
        problem: The problem's name.
        output: Write it as a picture (.svg) or for Graphviz (.dot) instead of printing it.
    """
    from hetbo_bench.showing import show_tree  # noqa: PLC0415

    show_tree(problem, output)


@bench.command
def data(
    name: Literal["hpob"],
    *,
    source: Annotated[str | None, Parameter(name="--from")] = None,
    sha256: str | None = None,
    descriptors: str | None = None,
) -> None:
    """Download the tables of the problems 'ranger' and 'rpart', and check them.

    Args:
        name: Which data.
        source: An available zip file, or another address, instead of HPO-B's own.
        sha256: What the zip file's SHA-256 checksum must be.
        descriptors: An available file, or an address, of HPO-B's meta-dataset-descriptors.json,
            which problems in natural units need; only if the zip file comes from elsewhere and
            lacks it.
    """
    from hetbo_bench.downloads import get_hpob  # noqa: PLC0415

    del name  # HPO-B is all there is to download
    get_hpob(source=source, sha256=sha256, descriptors=descriptors)
