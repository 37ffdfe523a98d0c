"""What an experiment measures, and wrappers that compose, from an objective to an objective."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hetbo.encoding import Encoder
from hetbo.experiments import Goal, Trial
from hetbo.joint import JointSpace
from hetbo.spaces import Space, Value
from hetbo_bench.problems.wrappers import random_function

__all__ = [
    "Objective",
    "Params",
    "held",
    "negated",
    "noisy",
    "random_settings",
    "random_trials",
    "scaled",
    "searched_trials",
    "shifted",
    "unrelated",
]

FloatArray = NDArray[np.float64]
Params: TypeAlias = Mapping[str, Value]

_SEARCH_LENGTH = 300
"""A search that made old trials starts anew after so many."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objective:
    """What an experiment measures.

    Attributes:
        space: What is tuned.
        goal: Which way is better.
        values: Returns the values of `n` settings, shape `n`.
        pool: The only settings that can be measured; None if all of the space can.
    """

    space: Space
    goal: Goal
    values: Callable[[Sequence[Params]], FloatArray] = field(repr=False)
    pool: Sequence[Params] | None = field(default=None, repr=False)

    def value(self, params: Params) -> float:
        """Return the value of one setting."""
        return float(self.values([params])[0])


def held(objective: Objective, values: Mapping[str, Value]) -> Objective:
    """Return the objective with some parameters held at values, and not tuned."""
    return Objective(
        space=objective.space.drop(*values),
        goal=objective.goal,
        values=lambda rows: objective.values([{**row, **values} for row in rows]),
    )


def shifted(objective: Objective, offsets: Mapping[str, float]) -> Objective:
    """Return the objective with its numbers moved: its hills are elsewhere.

    What would leave a range is reflected at its end.

    Args:
        objective: The objective.
        offsets: By how much each number is moved, in parts of its range and on its scale.
    """
    encoder = Encoder(JointSpace.merge(objective.space))

    def values(rows: Sequence[Params]) -> FloatArray:
        X = encoder.encode(rows)
        for name, offset in offsets.items():
            columns = encoder.columns.of(name)
            X[:, columns] = 1 - np.abs(1 - np.abs(X[:, columns] + offset) % 2)
        return objective.values(encoder.decode(X))

    return replace(objective, values=values)


def scaled(objective: Objective, factor: float, offset: float) -> Objective:
    """Return the objective in other units: `offset + factor * value`, with `factor` above 0."""
    return replace(objective, values=lambda rows: offset + factor * objective.values(rows))


def negated(objective: Objective, *, goal: Goal) -> Objective:
    """Return the objective with its values negated, and a goal that may or may not follow."""
    return replace(objective, goal=goal, values=lambda rows: -objective.values(rows))


def noisy(objective: Objective, deviation: float, rng: np.random.Generator) -> Objective:
    """Return the objective with normal noise on its values, other noise at each call."""
    return replace(
        objective,
        values=lambda rows: objective.values(rows) + deviation * rng.standard_normal(len(rows)),
    )


def unrelated(objective: Objective, rng: np.random.Generator) -> Objective:
    """Return a smooth random function of the objective's parameters, of variance 1 or so."""
    encoder = Encoder(JointSpace.merge(objective.space))
    drawn = random_function(len(encoder.columns), rng)
    return replace(objective, values=lambda rows: drawn(encoder.encode(rows)))


def random_settings(objective: Objective, count: int, rng: np.random.Generator) -> list[Params]:
    """Return random settings; rows of a pool come once each, and there may be fewer of them."""
    if objective.pool is not None:
        rows = rng.permutation(len(objective.pool))[:count]
        return [objective.pool[row] for row in rows.tolist()]
    encoder = Encoder(JointSpace.merge(objective.space))
    return [*encoder.decode(rng.random((count, len(encoder.columns))))]


def random_trials(objective: Objective, count: int, rng: np.random.Generator) -> list[Trial]:
    """Return trials at random settings. More of them begin with the same settings as fewer."""
    rows = random_settings(objective, count, rng)
    return [Trial(row, y) for row, y in zip(rows, objective.values(rows).tolist(), strict=True)]


def searched_trials(objective: Objective, count: int, seed: Callable[[], int]) -> list[Trial]:
    """Return what Optuna's TPE measured; it starts anew, with another seed, after some hundred.

    TPE cannot be restricted to a pool: the row nearest to each suggestion is measured, none twice.
    """
    from optuna.samplers import TPESampler  # noqa: PLC0415  # slow to import

    from hetbo_bench.peers.optuna_study import StudyTuner  # noqa: PLC0415

    def study() -> StudyTuner:
        own = seed()
        return StudyTuner(objective.space, objective.goal, lambda: TPESampler(seed=own), seed=own)

    nearest, search = _nearest_of(objective), study()
    found: list[Trial] = []
    for at in range(count if objective.pool is None else min(count, len(objective.pool))):
        if at and at % _SEARCH_LENGTH == 0:
            search = study()
        params = nearest(search.ask())
        found.append(Trial(params, objective.value(params)))
        search.tell(params, found[-1].value or 0.0)
    return found


def _nearest_of(objective: Objective) -> Callable[[Params], Params]:
    """Return what leads from a suggestion to the setting that is measured."""
    if (pool := objective.pool) is None:
        return lambda params: params
    encoder = Encoder(JointSpace.merge(objective.space))
    rows = encoder.encode(pool)

    def nearest(params: Params) -> Params:
        distances = ((rows - encoder.encode([params])) ** 2).sum(axis=1)
        row = int(distances.argmin())
        rows[row] = np.inf
        return pool[row]

    return nearest
