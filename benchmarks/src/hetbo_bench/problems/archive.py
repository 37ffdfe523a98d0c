"""Archives: many old experiments around one target, each with parameters and a scale of its own.

An experiment tuned a random part of the parameters and held the others anywhere, which nobody
knows any more. Its trials are random or, in the families that end in `-searched`, what Optuna's TPE
measured. Settings, `hartmann-archive_30/experiments=100/unrelated=0.3`, say what the archive is
like.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo_bench.problems.archive_tables import TABLES, OldTables
from hetbo_bench.problems.functions import FUNCTIONS, Function
from hetbo_bench.problems.objectives import (
    Objective,
    negated,
    noisy,
    random_settings,
    random_trials,
    scaled,
    searched_trials,
    unrelated,
)
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem, Start

__all__ = ["ARCHIVES", "RUN_ONCE", "Archive", "Settings", "archive_problems", "archive_suite"]

_PROBES = 200
"""The spread of an objective is that of its values at so many random settings."""

ARCHIVES: Mapping[str, Function | OldTables] = {**FUNCTIONS, **TABLES}
"""What archives are made from, by name."""

RUN_ONCE = ("rosenbrock", "ackley", "mlp", "rpart")
"""Those that are run once, at the end: nobody looks at them while methods are made."""

Draw = Callable[[Objective, int, np.random.Generator], list[Trial]]
ORIGINS: Mapping[str, Draw] = {
    "": random_trials,
    "-searched": lambda objective, count, rng: searched_trials(
        objective, count, lambda: int(rng.integers(2**31))
    ),
}
"""Where old trials come from, by the ending of a family's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an archive is like. Shares are parts of its experiments, others than those of the rest.

    Attributes:
        experiments: How many there are.
        unrelated: The share whose values come from a smooth random function.
        negated: The share whose values are negated: their best is their worst.
        opposite: The share whose values and goals are negated: they say the same in other words.
        shift: The standard deviation by which each experiment's numbers are moved, in parts of
            their ranges.
        noise: The standard deviation of noise, in parts of that of an experiment's values.
        known: Whether it is known where the parameters that an experiment did not tune were held.
        chosen: Leave all but so many experiments out, chosen at random; 0 for none.
        related: Whether to leave out unrelated and negated experiments.
    """

    experiments: int = 10
    unrelated: float = 0.0
    negated: float = 0.0
    opposite: float = 0.0
    shift: float = 0.0
    noise: float = 0.0
    known: bool = False
    chosen: int = 0
    related: bool = False

    def __post_init__(self) -> None:
        if self.experiments < 1:
            raise DataError(f"experiments={self.experiments} must be at least 1")
        if not 0 <= self.chosen <= self.experiments:
            raise DataError(
                f"chosen={self.chosen} must be from 0 to experiments={self.experiments}"
            )
        for name in ("unrelated", "negated", "opposite", "shift", "noise"):
            if not 0.0 <= (value := getattr(self, name)) <= 1.0:
                raise DataError(f"{name}={value:g} must be from 0 to 1")
        if (taken := self.unrelated + self.negated + self.opposite) > 1.0 + 1e-9:
            raise DataError(
                f"unrelated, negated and opposite add up to {taken:g}; they must not exceed 1"
            )

    def kinds(self, rng: np.random.Generator) -> list[str]:
        """Return what each experiment is: 'unrelated', 'negated', 'opposite' or 'related'."""
        kinds = [
            kind
            for kind in ("unrelated", "negated", "opposite")
            for _ in range(round(getattr(self, kind) * self.experiments))
        ][: self.experiments]
        kinds += ["related"] * (self.experiments - len(kinds))
        return [kinds[at] for at in rng.permutation(self.experiments)]


@dataclass(frozen=True, slots=True)
class Archive:
    """A target and its old experiments.

    Attributes:
        base: What they are made from: a name in `ARCHIVES`.
        origin: Where old trials come from: a key of `ORIGINS`.
        settings: What the experiments are like.
    """

    base: str
    origin: str
    settings: Settings

    def problem(self, name: str, source_trials: int) -> Problem:
        """Return the target with its archive as sources.

        Args:
            name: How the problem is called.
            source_trials: How many trials each experiment has; a part of a table may have fewer.

        Raises:
            DataError: Tables are not available, or a setting does not suit them.
        """
        made, noise = ARCHIVES[self.base], self.settings.noise
        quick = Archive(self.base, "", replace(self.settings, noise=0.0))  # of the same spaces
        target = made.objective()

        def start(replication: int) -> Start:
            first = random_trials(target, FIRST_TRIALS, self._rngs(replication)[0])
            return Start(tuple(self.experiments(replication, source_trials)), tuple(first))

        return Problem(
            name=name,
            summary=f"{made.summary}; old experiments tuned a part of the parameters each"
            + (", made by searches" if self.origin else ""),
            space=target.space,
            # Experiments differ from one replication to another: these are the first one's.
            source_spaces={old.name: old.space for old in quick.experiments(0, 1)},
            goal=target.goal,
            start=start,
            evaluate=target.value,
            optimum=made.optimum,
            candidates=None if target.pool is None else tuple(target.pool),
            noise=noise * _spread(target, np.random.default_rng(0)) if noise else 0.0,
        )

    def experiments(self, replication: int, trials: int) -> Iterator[Experiment]:
        """Yield the experiments that are not left out, with so many trials each."""
        _, rng = self._rngs(replication)
        settings = self.settings
        kinds = settings.kinds(rng)
        chosen = rng.permutation(settings.experiments)[: settings.chosen or None]
        for at, (kind, own) in enumerate(zip(kinds, rng.spawn(len(kinds)), strict=True)):
            if at in chosen and not (settings.related and kind in ("unrelated", "negated")):
                yield self._experiment(f"old-{at:03d}", kind, trials, own)

    def _experiment(
        self, name: str, kind: str, trials: int, rng: np.random.Generator
    ) -> Experiment:
        # A generator for each choice: a setting changes what it says and nothing else.
        parts, others, units, noise, draws = rng.spawn(5)
        objective, values = ARCHIVES[self.base].part(parts, self.settings.shift)
        match kind:
            case "unrelated":
                objective = unrelated(objective, others)
            case "negated":
                objective = negated(objective, goal=objective.goal)
            case "opposite":
                objective = negated(objective, goal=_other(objective.goal))
        factor, offset = float(np.exp(units.normal(scale=2.0))), float(units.normal(scale=10.0))
        objective = scaled(objective, factor, offset)
        if self.settings.noise:
            deviation = self.settings.noise * _spread(objective, noise)
            objective = noisy(objective, deviation, noise)
        return Experiment(
            name,
            objective.space,
            ORIGINS[self.origin](objective, trials, draws),
            goal=objective.goal,
            fixed=values if self.settings.known else {},
        )

    def _rngs(self, replication: int) -> tuple[np.random.Generator, np.random.Generator]:
        """Return what draws the first trials, and what draws the experiments."""
        first, old = np.random.default_rng([replication, zlib.crc32(self.base.encode())]).spawn(2)
        return first, old


def _spread(objective: Objective, rng: np.random.Generator) -> float:
    return float(objective.values(random_settings(objective, _PROBES, rng)).std())


def _other(goal: Goal) -> Goal:
    return Goal.MINIMIZE if goal is Goal.MAXIMIZE else Goal.MAXIMIZE


def archive_problems() -> Mapping[str, Callable[..., Problem]]:
    """Return the families by name, without reading a table.

    Each makes a problem from its own name, the number of trials that each source has, and values
    of `Settings` by name.
    """

    def maker(base: str, origin: str) -> Callable[..., Problem]:
        return lambda name, trials, **settings: Archive(base, origin, Settings(**settings)).problem(
            name, trials
        )

    return {
        f"{base}-archive{origin}": maker(base, origin) for origin in ORIGINS for base in ARCHIVES
    }


_MIXED = "/experiments=100/unrelated=0.3"
_OF_FUNCTIONS = (
    "-archive_30/experiments=1",
    "-archive_1000/experiments=1",
    "-archive_10000/experiments=1",
    "-archive_30",
    f"-archive_30{_MIXED}",
    f"-archive_30{_MIXED}/chosen=3",
    f"-archive_30{_MIXED}/shift=0.1",
    f"-archive_30{_MIXED}/noise=0.1",
    "-archive_30/experiments=100/negated=0.3",
    "-archive_30/experiments=100/unrelated=0.9",
    "-archive_30/experiments=100/unrelated=0.9/related",
    f"-archive_100{_MIXED}",
    f"-archive-searched_30{_MIXED}",
    "-archive-searched_1000/experiments=1",
)
_OF_TABLES = (
    "-archive_30",
    f"-archive_30{_MIXED}",
    f"-archive-searched_30{_MIXED}",
    f"-archive_100{_MIXED}",
)


def archive_suite(*, run_once: bool) -> tuple[str, ...]:
    """Return the names of the problems that are looked at, or of those that are run once."""
    return tuple(
        f"{base}{form}"
        for base in ARCHIVES
        if (base in RUN_ONCE) is run_once
        for form in (_OF_TABLES if base in TABLES else _OF_FUNCTIONS)
    )
