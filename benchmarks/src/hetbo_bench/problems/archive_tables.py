"""Real tables that archives are made from: FCNet's, HPOBench-MLP's and HPO-B's.

An old experiment is a part of another table than the target's. On a grid, the parameters that it
did not tune are held at one of their values. HPO-B's rows lie anywhere, so that nothing can be
held: some of the parameters were not written down, and equal rows of the rest are averaged.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hetbo.errors import DataError
from hetbo.experiments import Goal
from hetbo.spaces import Space, Value
from hetbo_bench.data.hpob_tables import tables_of
from hetbo_bench.problems.functions import Part, not_tuned
from hetbo_bench.problems.grid_tables import GridTable
from hetbo_bench.problems.hpob import FAMILIES
from hetbo_bench.problems.hpob_natural import descriptors, natural_units
from hetbo_bench.problems.objectives import Objective, Params
from hetbo_bench.problems.tabular import (
    FCNET,
    FCNET_DATASETS,
    MLP,
    MLP_DATASETS,
    TabularFamily,
)

__all__ = ["TABLES", "OldTables"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OldTables:
    """A target's table, and what old experiments have of others.

    Attributes:
        summary: What is tuned, in one line.
        objective: Returns the target's objective, whose pool is its table.
        old: Returns what an old experiment measured.
    """

    summary: str
    objective: Callable[[], Objective] = field(repr=False)
    old: Callable[[np.random.Generator], Part] = field(repr=False)

    def part(self, rng: np.random.Generator, shift: float) -> Part:
        """Return what an old experiment measured.

        Raises:
            DataError: `shift` is not 0: tables are as they are.
        """
        if shift:
            raise DataError(f"shift={shift:g} must be 0 on tables, which cannot be moved")
        return self.old(rng)

    @property
    def optimum(self) -> float:
        """The best value in the target's table."""
        target = self.objective()
        values = target.values(target.pool or ())
        return float(values.max() if target.goal is Goal.MAXIMIZE else values.min())


def _grid(family: TabularFamily, target: str, datasets: Sequence[str]) -> OldTables:
    others = [dataset for dataset in datasets if dataset != target]

    def objective() -> Objective:
        table = family.table(target).held(family.held)
        return Objective(
            space=family.space, goal=family.goal, values=_values(table), pool=table.rows()
        )

    def part(rng: np.random.Generator) -> Part:
        table = family.table(others[int(rng.integers(len(others)))])
        tuned = not_tuned([*family.space], rng)
        values = {
            name: table.grid[name][int(rng.integers(len(table.grid[name])))]
            for name in (*tuned, *family.held)
        }
        own = table.held(values)
        rows = [
            dict(zip(own.grid, row, strict=True)) for row in itertools.product(*own.grid.values())
        ]
        made = Objective(
            space=family.space.drop(*tuned), goal=family.goal, values=_values(own), pool=rows
        )
        return made, {name: values[name] for name in tuned}

    return OldTables(f"a network on {target}, on tables ({family.name})", objective, part)


def _values(table: GridTable) -> Callable[[Sequence[Params]], FloatArray]:
    return lambda rows: np.array([table.at(row) for row in rows], dtype=np.float64)


def _hpob(family: str) -> OldTables:
    described = FAMILIES[family]

    def part(rng: np.random.Generator) -> Part:
        key = described.sources[int(rng.integers(len(described.sources)))]
        space, _ = _natural_rows(family, key)
        return _averaged(family, key, not_tuned([*space], rng)), {}

    return OldTables(
        f"{described.algorithm} on HPO-B's tables",
        lambda: _averaged(family, described.target, ()),
        part,
    )


@cache
def _natural_rows(family: str, key: str) -> tuple[Space, tuple[tuple[Params, float], ...]]:
    """Return one of HPO-B's tables in natural units: its space, and its rows and their values."""
    described = FAMILIES[family]
    tables = tables_of(family, target=described.target, sources=described.sources, source_trials=0)
    encoding = natural_units(tables[key], tables[described.target], descriptors(family))
    rows = zip(map(encoding.params, tables[key].X), tables[key].y, strict=True)
    return encoding.space, tuple(rows)


def _averaged(family: str, key: str, dropped: Sequence[str]) -> Objective:
    """Return a table without some parameters; rows that are equal then are averaged."""
    space, rows = _natural_rows(family, key)
    space = space.drop(*dropped)
    measured: dict[tuple[Value, ...], list[float]] = {}
    for params, y in rows:
        measured.setdefault(tuple(params[name] for name in space), []).append(y)
    means = {row: float(np.mean(values)) for row, values in measured.items()}
    return Objective(
        space=space,
        goal=Goal.MAXIMIZE,
        values=lambda rows: np.array([means[tuple(row[name] for name in space)] for row in rows]),
        pool=[dict(zip(space, row, strict=True)) for row in means],
    )


TABLES: Mapping[str, OldTables] = {
    "fcnet": _grid(FCNET, FCNET_DATASETS["protein"], [*FCNET_DATASETS.values()]),
    "mlp": _grid(MLP, MLP_DATASETS["vehicle"], [*MLP_DATASETS.values()]),
    "ranger": _hpob("ranger"),
    "rpart": _hpob("rpart"),
}
"""What archives are made from, by name."""
