"""A comparison as tables of text: on a terminal, as Markdown, and as JSON."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hetbo_bench.analysis.cells import (
    NOTHING,
    difference_cell,
    estimate_cell,
    number_cell,
    ratio_cell,
)
from hetbo_bench.analysis.estimates import COVERAGE, RESAMPLES
from hetbo_bench.analysis.grouping import FIRST_CHOSEN
from hetbo_bench.analysis.summaries import (
    Comparison,
    MethodSummary,
    ProblemComparison,
    PublishedComparison,
    Ranking,
)
from hetbo_bench.paper.against import CHECKED_AT, SHOWN_AT
from hetbo_bench.problems.problem import EVALUATIONS

_RANKED_PER_TABLE = 5
_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 6

LEGEND = (
    "± is two standard errors over replications. Ratios and differences are paired, each "
    "replication with its counterpart of the same start, unless a note says that they are not. "
    f"[a, b] is a {COVERAGE:.0%} percentile "
    f"bootstrap interval ({RESAMPLES} resamples of replications). Differences above 0 are in "
    "favour of ours. † marks what the paper reports."
)
"""How to read the tables."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table whose cells are text; the first column has names, the others numbers.

    Attributes:
        title: What it shows.
        heads: The columns' heads.
        rows: The rows; a cell may have several lines.
        faint: How many rows at the end are there for reference.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    faint: int = 0


def render_comparison(comparison: Comparison, console: Console) -> None:
    """Print a comparison as tables, for a terminal of 100 columns or more."""
    for problem in comparison.problems:
        console.rule(Text(problem_title(problem), style="bold"), align="left")
        for table in problem_tables(problem):
            console.print()
            console.print(_rich(table))
        console.print()
    if comparison.ranking is not None:
        console.rule(Text("Ranks", style="bold"), align="left")
        for table in ranking_tables(comparison):
            console.print()
            console.print(_rich(table))
        console.print()
    for note in comparison.notes:
        console.print(Text(f"Note: {note}.", style="yellow"))
    console.print(Text(LEGEND, style="dim"))


def comparison_to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown."""
    parts = []
    for problem in comparison.problems:
        parts.append(f"## {problem_title(problem)}")
        parts += [_markdown(table) for table in problem_tables(problem)]
    if comparison.ranking is not None:
        parts += ["## Ranks", *map(_markdown, ranking_tables(comparison))]
    if comparison.notes:
        parts.append("\n".join(f"- {note}." for note in comparison.notes))
    return "\n\n".join([*parts, LEGEND]) + "\n"


def comparison_to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON, with all digits."""
    return json.dumps(asdict(comparison), indent=2, allow_nan=False) + "\n"


def problem_title(problem: ProblemComparison) -> str:
    """Return the line above a problem's tables."""
    return f"{problem.problem} ({problem.goal}, best possible value {problem.optimum:g})"


def problem_tables(problem: ProblemComparison) -> Iterator[TextTable]:
    """Yield the tables of a problem."""
    decimals = _decimals(problem)
    yield _values(problem, decimals)
    yield _whole_runs(problem, decimals)
    if problem.published:
        yield _reaching(problem, decimals)
    if problem.against_published:
        yield _differences(problem, decimals)
        yield _whole_run_differences(problem, decimals)


def ranking_tables(comparison: Comparison) -> Iterator[TextTable]:
    """Yield a table of all problems together, and ranks on each, a few problems in a table."""
    ranking = comparison.ranking
    if ranking is None:
        return
    best_first = sorted(ranking.average, key=ranking.average.__getitem__)
    names = list(ranking.problems)
    yield _over_all(ranking, best_first, comparison)
    for first in range(0, len(names), _RANKED_PER_TABLE):
        problems = names[first : first + _RANKED_PER_TABLE]
        yield TextTable(
            f"Rank by the mean over evaluations {_window(EVALUATIONS)}; 1 is best",
            (
                "method",
                *(problem.replace("/", "\n") for problem in problems),
            ),
            tuple(
                (
                    method,
                    *(f"{ranking.problems[problem][method]:g}" for problem in problems),
                )
                for method in best_first
            ),
        )


def _over_all(ranking: Ranking, methods: Sequence[str], comparison: Comparison) -> TextTable:
    count = len(ranking.problems)
    # Ranked problems have the same methods, and so the same reference.
    reference = next(p.reference for p in comparison.problems if p.problem in ranking.problems)
    heads, rows = ["method", "mean rank"], [[m, f"{ranking.average[m]:.2f}"] for m in methods]
    if reference is not None:
        heads.append(f"regret relative to {reference},\ngeometric mean")
        for row in rows:
            ratio = ranking.relative_regret[row[0]]
            row.append(NOTHING if ratio is None else f"{ratio:.2f}")
    return TextTable(
        f"All {count} problems" if count > 1 else "One problem",
        tuple(heads),
        tuple(map(tuple, rows)),
    )


def _values(problem: ProblemComparison, decimals: int) -> TextTable:
    shown_at = [at for at in SHOWN_AT if at <= problem.evaluations]

    def row(name: str, summary: MethodSummary) -> tuple[str, ...]:
        count = NOTHING if summary.replications is None else str(summary.replications)
        return (name, count, *(estimate_cell(summary.at[at], decimals) for at in shown_at))

    return TextTable(
        "Best value so far after so many evaluations (n replications)",
        ("method", "n", *(f"@{at}" for at in shown_at)),
        _with_published(problem, row),
        faint=len(problem.published),
    )


def _whole_runs(problem: ProblemComparison, decimals: int) -> TextTable:
    reference = problem.reference

    def row(name: str, summary: MethodSummary) -> tuple[str, ...]:
        return (
            name,
            estimate_cell(summary.average, decimals),
            estimate_cell(summary.regret, decimals),
            *(() if reference is None else (ratio_cell(summary.relative_regret),)),
            NOTHING if summary.seconds is None else f"{summary.seconds:.2f}",
        )

    return TextTable(
        f"Mean over evaluations {_window(problem.evaluations)}; regret is the distance to the "
        "best possible value",
        (
            "method",
            "value",
            "regret",
            *(() if reference is None else (f"regret relative\nto {reference}",)),
            "seconds per\nsuggestion",
        ),
        _with_published(problem, row),
        faint=len(problem.published),
    )


def _reaching(problem: ProblemComparison, decimals: int) -> TextTable:
    def row(name: str, summary: MethodSummary) -> tuple[str, ...]:
        needed = (summary.reaches[other.method] for other in problem.published)
        return (name, *(NOTHING if count is None else str(count) for count in needed))

    heads = (
        f"{other.method.replace('-', chr(10))}\n{number_cell(other.at[EVALUATIONS].mean, decimals)}"
        for other in problem.published
    )
    return TextTable(
        "Evaluations until the mean is as good as the published final mean of each method",
        ("method", *heads),
        _with_published(problem, row),
        faint=len(problem.published),
    )


def _differences(problem: ProblemComparison, decimals: int) -> TextTable:
    checked_at = [at for at in CHECKED_AT if at <= problem.evaluations]

    def row(compared: PublishedComparison) -> tuple[str, ...]:
        verdict = {True: "yes", False: "no", None: NOTHING}[compared.within_two_errors]
        return (
            f"{compared.method}\nminus {compared.published}",
            *(difference_cell(compared.at[at], decimals) for at in checked_at),
            verdict,
        )

    return TextTable(
        "Ours minus published after so many evaluations: mean difference (in standard errors)",
        ("method", *(f"@{at}" for at in checked_at), "within\n2 SE"),
        tuple(map(row, problem.against_published)),
    )


def _whole_run_differences(problem: ProblemComparison, decimals: int) -> TextTable:
    return TextTable(
        f"Ours against published, over evaluations {_window(problem.evaluations)}",
        ("method", "published", "n", "difference\nof means", "regret relative\nto published"),
        tuple(
            (
                compared.method,
                compared.published,
                str(compared.replications),
                difference_cell(compared.average, decimals),
                ratio_cell(compared.relative_regret),
            )
            for compared in problem.against_published
        ),
    )


def _with_published(
    problem: ProblemComparison, row: Callable[[str, MethodSummary], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Return a row for each method, and then one for each published method."""
    ours = [row(summary.method, summary) for summary in problem.methods]
    theirs = [row(f"{summary.method} †", summary) for summary in problem.published]
    return (*ours, *theirs)


def _decimals(problem: ProblemComparison) -> int:
    """Return how many decimals tell the methods on a problem apart."""
    means = [e.mean for summary in problem.methods for e in summary.at.values()]
    spread = max(means) - min(means) if means else 0.0
    if spread <= 0.0:
        return _FEWEST_DECIMALS
    return min(max(2 - math.floor(math.log10(spread)), _FEWEST_DECIMALS), _MOST_DECIMALS)


def _window(evaluations: int) -> str:
    return f"{FIRST_CHOSEN}..{min(evaluations, EVALUATIONS)}"


def _rich(table: TextTable) -> Table:
    made = Table(
        title=table.title,
        title_justify="left",
        title_style="italic",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for position, head in enumerate(table.heads):
        made.add_column(head, justify="right" if position else "left", no_wrap=not position)
    solid = len(table.rows) - table.faint
    for position, row in enumerate(table.rows):
        made.add_row(*map(Text, row), style="" if position < solid else "dim")
    return made


def _markdown(table: TextTable) -> str:
    def line(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cell.replace(chr(10), ' ') for cell in cells)} |"

    rule = ("---", *["---:"] * (len(table.heads) - 1))
    return "\n".join([f"{table.title}:", "", *map(line, (table.heads, rule, *table.rows))])
