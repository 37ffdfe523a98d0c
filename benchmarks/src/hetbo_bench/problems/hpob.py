"""Two problems from HPO-B's tables, as the paper builds them.

HPO-B scales each search space on its own, and the paper joins spaces by the position of a column
in a union. `ranger` and `rpart` keep that encoding, with the paper's misplaced column: 7607's
`respect.unordered.factors = INVALID` counts as a parameter of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Float, Space, Value
from hetbo_bench.data.hpob_tables import HpobTable, tables_of
from hetbo_bench.paper.published import Replication, replications_of
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem, Start

MISPLACED_COLUMN = ("7607", "respect.unordered.factors.ohe._INVALID")
"""The search space and the column that the paper takes for a parameter of its own."""


@dataclass(frozen=True, slots=True)
class HpobFamily:
    """Which of HPO-B's search spaces make up a problem.

    Attributes:
        target: The target's search space.
        sources: The sources' search spaces.
        algorithm: What is tuned.
    """

    target: str
    sources: tuple[str, ...]
    algorithm: str


FAMILIES: Mapping[str, HpobFamily] = {
    "ranger": HpobFamily("5889", ("5965", "7607"), "random forests (ranger)"),
    "rpart": HpobFamily("4796", ("5636", "5859"), "decision trees (rpart)"),
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the rows of a table become parameters.

    Attributes:
        space: The parameters.
        params: Returns the parameters of a row.
    """

    space: Space
    params: Callable[[Sequence[float]], dict[str, Value]]


def paper_problem(name: str, family: str, *, source_trials: int) -> Problem:
    """Return a problem of HPO-B in the paper's encoding.

    Args:
        name: How the problem is called.
        family: A name in `FAMILIES`.
        source_trials: How many trials each source has.

    Raises:
        DataError: The tables are not available.
    """
    return table_problem(
        name,
        family,
        source_trials=source_trials,
        encoded="encoded as in the paper",
        encode=lambda table, _: _as_in_the_paper(table),
    )


def table_problem(
    name: str,
    family: str,
    *,
    source_trials: int,
    encoded: str,
    encode: Callable[[HpobTable, HpobTable], Encoding],
) -> Problem:
    """Return a problem of HPO-B.

    Starts are the published ones where they are available, and drawn from the tables otherwise and
    beyond them.

    Args:
        name: How the problem is called.
        family: A name in `FAMILIES`.
        source_trials: How many trials each source has.
        encoded: What the encoding is, for the summary.
        encode: Returns how the rows of a table, the first argument, become parameters; the second
            one is the target's table.

    Raises:
        DataError: The tables are not available.
    """
    described = FAMILIES[family]
    tables = tables_of(
        family,
        target=described.target,
        sources=described.sources,
        source_trials=source_trials,
    )
    target = tables[described.target]
    encodings = {key: encode(table, target) for key, table in tables.items()}
    own = encodings[described.target]
    published = replications_of(f"{family}_{source_trials}")
    candidates = tuple(own.params(x) for x in target.X)
    values = {tuple(params.values()): y for params, y in zip(candidates, target.y, strict=True)}

    def start(replication: int) -> Start:
        if published is not None and replication < len(published):
            found = published[replication]
        else:
            found = drawn(tables, described, replication, source_trials)
        sources = []
        for key, X, y in zip(
            described.sources, found.source_points, found.source_values, strict=True
        ):
            encoding = encodings[key]
            trials = [Trial(encoding.params(x), v) for x, v in zip(X, y, strict=True)]
            sources.append(Experiment(key, encoding.space, trials, goal=Goal.MAXIMIZE))
        first = zip(found.first_points, found.first_values, strict=True)
        return Start(tuple(sources), tuple(Trial(own.params(x), y) for x, y in first))

    def evaluate(params: Mapping[str, Value]) -> float:
        return values[tuple(params[name] for name in own.space)]

    return Problem(
        name=name,
        summary=f"{described.algorithm} on HPO-B's tables, {encoded}",
        space=own.space,
        source_spaces={key: encodings[key].space for key in described.sources},
        goal=Goal.MAXIMIZE,
        start=start,
        evaluate=evaluate,
        optimum=max(target.y),
        replications=None if published is None else len(published),
        candidates=candidates,
        published=None if published is None else f"{family}_{source_trials}",
        starts="drawn" if published is None else "published",
    )


def drawn(
    tables: Mapping[str, HpobTable], family: HpobFamily, replication: int, source_trials: int
) -> Replication:
    """Return a start of one's own, of rows of the tables."""
    rng = np.random.default_rng([replication, source_trials])

    def rows(key: str, count: int) -> tuple[list[Sequence[float]], list[float]]:
        table = tables[key]
        chosen = rng.permutation(len(table.y))[:count].tolist()
        return [table.X[i] for i in chosen], [table.y[i] for i in chosen]

    sources = [rows(key, source_trials) for key in family.sources]
    first_points, first_values = rows(family.target, FIRST_TRIALS)
    return Replication([X for X, _ in sources], [y for _, y in sources], first_points, first_values)


def _as_in_the_paper(table: HpobTable) -> Encoding:
    names = [
        f"{column} of {table.search_space}"
        if (table.search_space, column) == MISPLACED_COLUMN
        else column
        for column in table.columns
    ]
    space = Space.from_mapping({name: Float(0.0, 1.0) for name in names})
    return Encoding(space, lambda x: dict(zip(space, map(float, x), strict=True)))
