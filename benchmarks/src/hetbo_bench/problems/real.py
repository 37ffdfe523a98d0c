"""Real measurements: an old run's table and today's differ in parameters, hardware or chemistry.

The rows of the target's table are the candidates. Spaces are what hetbo infers from the whole
tables, as for a user who has them as CSV files. Old runs are rows at random or, in the families
that end in `-searched`, what Optuna's TPE measured when it searched the source's table.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Space, Value
from hetbo_bench.problems.objectives import Objective
from hetbo_bench.problems.objectives import searched_trials as searched
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class RealFamily:
    """Which tables make up a problem.

    Attributes:
        summary: What it is, in one line.
        target: The target's table.
        sources: The sources' tables.
        held: What the sources held fixed at values that nobody knows any more.
        missing: The value that a parameter has where an experiment lacks it; None if unknown.
        sizes: How many trials each source has in the suite.
    """

    summary: str
    target: str
    sources: tuple[str, ...]
    held: Mapping[str, Value] = field(default_factory=dict)
    missing: Value = None
    sizes: tuple[int, ...] = (5, 30, 100, 300)


_CATALYSTS = "overpotentials of catalysts; the sources' plates had other metals, missing ones "
_PLATES = ("oer-plate-3851", "oer-plate-3496")

REAL: Mapping[str, RealFamily] = {
    "convolution": RealFamily(
        summary="run time of a GPU kernel (log); the source, on a GPU alike, lacks a parameter",
        target="convolution-A100",
        sources=("convolution-A4000",),
        held={"use_shmem": 1},
    ),
    "convolution-unlike": RealFamily(
        summary="run time of a GPU kernel (log); the source's GPU is unlike the target's",
        target="convolution-W7800",
        sources=("convolution-A6000",),
    ),
    "dedispersion": RealFamily(
        summary="run time of another GPU kernel (log); the source lacks two parameters",
        target="dedispersion-A100",
        sources=("dedispersion-A4000",),
        held={"tile_stride_x": 0, "tile_stride_y": 0},
    ),
    "catalysts": RealFamily(
        summary=_CATALYSTS + "have load 0",
        target="oer-plate-3860",
        sources=_PLATES,
        missing=0.0,
    ),
    "catalysts-unknown": RealFamily(
        summary=_CATALYSTS + "are unknown",
        target="oer-plate-3860",
        sources=_PLATES,
    ),
    "suzuki": RealFamily(
        summary="yield of a coupling; the sources had other substrates",
        target="suzuki-iv",
        sources=("suzuki-i", "suzuki-ii", "suzuki-iii"),
        sizes=(5, 30),
    ),
    "buchwald": RealFamily(
        summary="yield of a coupling, categories only; the sources had other halides",
        target="buchwald-c",
        sources=("buchwald-a", "buchwald-b"),
    ),
}
"""The families by name; `-searched` is added where old runs come from a search."""


@dataclass(frozen=True, slots=True, eq=False)
class RealTable:
    """A table of measurements; repeated ones are averaged.

    Attributes:
        name: How it is called.
        space: What was varied.
        goal: Which way is better.
        trials: The measurements.
    """

    name: str
    space: Space
    goal: Goal
    trials: tuple[Trial, ...] = field(repr=False)


Draw = Callable[[RealTable, int, int], tuple[Trial, ...]]
"""From a table, a replication and a number to so many of its trials. More of them begin with the
same ones as fewer."""


def random_trials(table: RealTable, replication: int, count: int) -> tuple[Trial, ...]:
    """Return trials at random, none twice."""
    rng = np.random.default_rng(_entropy(table, replication))
    return tuple(table.trials[row] for row in rng.permutation(len(table.trials))[:count].tolist())


def _entropy(table: RealTable, replication: int) -> tuple[int, int]:
    return replication, zlib.crc32(table.name.encode())


@cache
def searched_trials(table: RealTable, replication: int, count: int) -> tuple[Trial, ...]:
    """Return the trials that a search by Optuna's TPE made, in its order."""
    values = {tuple(trial.params.items()): trial.value or 0.0 for trial in table.trials}
    objective = Objective(
        space=table.space,
        goal=table.goal,
        values=lambda rows: np.array([values[tuple(row.items())] for row in rows]),
        pool=[trial.params for trial in table.trials],
    )
    (seed,) = np.random.SeedSequence(_entropy(table, replication)).generate_state(1).tolist()
    return tuple(searched(objective, count, lambda: seed))


@cache
def real_table(name: str, held: tuple[tuple[str, Value], ...] = ()) -> RealTable:
    """Return a table, or the part of it where parameters have the values `held`, without these.

    Run times span orders of magnitude, so that ratios count: their logarithm is taken.
    """
    path = resources.files("hetbo_bench.data").joinpath("real", f"{name}.csv")
    frame = pd.read_csv(str(path))
    value = frame.columns[-1]
    for parameter, at in held:
        frame = frame[frame[parameter] == at].drop(columns=parameter)
    frame = frame.groupby(list(frame.columns[:-1]), sort=False, as_index=False).mean()
    if value == "time":
        frame[value] = np.log(frame[value])
    goal = Goal.MAXIMIZE if value == "yield" else Goal.MINIMIZE
    read = Experiment.from_dataframe(frame, value=value, goal=goal, name=name)
    return RealTable(name, read.space, goal, tuple(read.trials))


def real_problem(name: str, family: RealFamily, origin: str, *, source_trials: int) -> Problem:
    """Return a problem made of real tables.

    Args:
        name: How the problem is called.
        family: Which tables make it up.
        origin: Where the sources' trials come from: a key of `ORIGINS`.
        source_trials: How many trials each source has.

    Raises:
        DataError: A source's table has fewer rows.
    """
    target = real_table(family.target)
    sources = {key: real_table(key, tuple(family.held.items())) for key in family.sources}
    for key, table in sources.items():
        if source_trials > len(table.trials):
            raise DataError(
                f"{name}: {source_trials} source trials are more than the {len(table.trials)} of "
                f"{key}; ask for at most that many"
            )
    values = {tuple(trial.params.values()): trial.value or 0.0 for trial in target.trials}

    def start(replication: int) -> Start:
        old = [
            Experiment(
                key,
                table.space,
                ORIGINS[origin](table, replication, source_trials),
                goal=table.goal,
                fixed=_missing(family, table.space, [target.space]),
            )
            for key, table in sources.items()
        ]
        return Start(tuple(old), random_trials(target, replication, FIRST_TRIALS))

    return Problem(
        name=name,
        summary=family.summary + ("; old trials made by a search" if origin else ""),
        space=target.space,
        source_spaces={key: table.space for key, table in sources.items()},
        goal=target.goal,
        start=start,
        evaluate=lambda params: values[tuple(params[name] for name in target.space)],
        optimum=target.goal.sign * max(target.goal.sign * value for value in values.values()),
        candidates=tuple(trial.params for trial in target.trials),
        fixed=_missing(family, target.space, [table.space for table in sources.values()]),
    )


def _missing(family: RealFamily, own: Space, others: Sequence[Space]) -> dict[str, Value]:
    """Return the known values of the parameters that only other experiments have."""
    if family.missing is None:
        return {}
    return {name: family.missing for other in others for name in other if name not in own}


ORIGINS: Mapping[str, Draw] = {"": random_trials, "-searched": searched_trials}
"""Where old trials come from, by the ending of a family's name."""


def real_problems() -> Mapping[str, Callable[[str, int], Problem]]:
    """Return the families by name, without reading a table.

    Each makes a problem from its own name and the number of trials that each source has.
    """

    def maker(family: RealFamily, end: str) -> Callable[[str, int], Problem]:
        return lambda name, trials: real_problem(name, family, end, source_trials=trials)

    return {f"{name}{end}": maker(family, end) for end in ORIGINS for name, family in REAL.items()}


def real_suite() -> tuple[str, ...]:
    """Return the names of the problems in all sizes, from both origins."""
    return tuple(
        f"{name}{end}_{size}"
        for name, family in REAL.items()
        for end in ORIGINS
        for size in family.sizes
    )
