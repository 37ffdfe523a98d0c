"""What can be run: problems, suites and methods, as tables."""

from rich.console import Console
from rich.table import Column, Table

from hetbo.errors import DataError
from hetbo_bench.methods import BENCHED
from hetbo_bench.problems.named import FAMILIES, problem_named
from hetbo_bench.problems.wrappers import MISLEADING
from hetbo_bench.running.suites import SUITES

_MOST_SOURCES = 5


def show_listing(console: Console | None = None) -> None:
    """Print the problems, the suites and the methods."""
    out = Console() if console is None else console
    problems = _table("Problems", "problem", "what it is")
    missing: dict[str, list[str]] = {}
    with out.status("Reading the tables"):
        for name in FAMILIES:
            try:
                problem = problem_named(name)
            except DataError as error:
                missing.setdefault(str(error), []).append(name)
                continue
            sources = [f"{source} with {len(s)}" for source, s in problem.source_spaces.items()]
            if len(sources) > _MOST_SOURCES:
                sources = [*sources[: _MOST_SOURCES - 1], f"… {len(sources)} in all"]
            problems.add_row(
                name,
                f"{problem.summary}\n{len(problem.space)} parameters: {', '.join(problem.space)}\n"
                f"sources: {', '.join(sources)}\n"
                f"{problem.goal.value}, optimum {problem.optimum:.6g}",
            )
    out.print(problems)
    for reason, names in missing.items():
        out.print(f"Not here: {', '.join(names)}. {reason}", markup=False)
    wrappers = ", ".join(f"/{wrapper}" for wrapper in MISLEADING)
    out.print(
        "NAME_N has sources of N trials each (30 if not said). Source values can be changed with "
        f"{wrappers}, one after the other, Hartmann's missing parameters with /fixed=0.3, "
        "archives with /experiments=100, /unrelated=0.3 and others, and what replications start "
        "from with /fresh. 'hetbo bench tree NAME' shows which parameters target and sources "
        "share.\n",
        markup=False,
    )
    suites = _table("Suites", "suite", "what it shows")
    for name, suite in SUITES.items():
        suites.add_row(
            name,
            f"{suite.summary}\nproblems: {', '.join(suite.problems)}\n"
            f"methods: {', '.join(suite.methods)}\n{suite.replications} replications",
        )
    out.print(suites)
    methods = _table("Methods", "method", "what it does")
    for name, method in BENCHED.items():
        methods.add_row(name, method.summary)
    out.print(methods)


def _table(title: str, names: str, texts: str) -> Table:
    """Return an empty table whose names stay whole, so that they can be copied."""
    return Table(
        Column(names, no_wrap=True),
        Column(texts, overflow="fold"),
        title=title,
        title_justify="left",
        show_lines=True,
    )
