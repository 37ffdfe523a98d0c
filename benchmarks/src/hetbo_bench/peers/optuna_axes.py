"""hetbo's parameters as Optuna draws them.

Optuna cannot be restricted to candidates. Where the candidates are all combinations of some values
per parameter, as in the tables of `fcnet` and `mlp`, Optuna draws a number's position among its
values instead, so that each of its suggestions is a candidate.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from hetbo.errors import SpaceError, shown
from hetbo.integrations.optuna import distribution_of, written_value
from hetbo.spaces import Categorical, Parameter, Space, Value
from hetbo_bench.peers.old_trials import not_restricted
from hetbo_bench.problems.problem import Problem

Grid: TypeAlias = Mapping[str, tuple[float, ...]]
"""The values that numbers can have, in ascending order; empty if they can have any."""


@dataclass(frozen=True, slots=True)
class Natural:
    """A parameter that Optuna draws as it is.

    Attributes:
        parameter: The parameter.
    """

    parameter: Parameter

    @property
    def distribution(self) -> BaseDistribution:
        """What Optuna draws from."""
        return distribution_of(self.parameter)

    def write(self, value: Value) -> Any:  # noqa: ANN401  # whatever a choice may be
        """Return Optuna's value for one of hetbo's."""
        return written_value(self.parameter, value)

    def read(self, value: Any) -> Value:  # noqa: ANN401
        """Return hetbo's value for one of Optuna's."""
        distribution = self.distribution
        if isinstance(self.parameter, Categorical) and isinstance(
            distribution, CategoricalDistribution
        ):
            return self.parameter.choices[int(distribution.to_internal_repr(value))]
        return self.parameter.check(value)


@dataclass(frozen=True, slots=True)
class Ordinal:
    """A number that Optuna draws by its position among the values it can have.

    Attributes:
        values: The values in ascending order.
    """

    values: tuple[float, ...]

    @property
    def distribution(self) -> BaseDistribution:
        """What Optuna draws from."""
        return IntDistribution(0, len(self.values) - 1)

    def write(self, value: Value) -> int:
        """Return the position of the value that is nearest to one of hetbo's.

        Raises:
            SpaceError: It is no number.
        """
        if not isinstance(value, int | float):
            raise SpaceError(f"{shown(value)} is not a number")
        distances = [abs(own - value) for own in self.values]
        return distances.index(min(distances))

    def read(self, value: int) -> Value:
        """Return hetbo's value at a position."""
        return self.values[value]


Axis: TypeAlias = Natural | Ordinal
"""How Optuna draws a parameter."""


def axes_of(space: Space, grid: Grid) -> dict[str, Axis]:
    """Return how Optuna draws each parameter of a space."""
    return {
        name: Ordinal(grid[name]) if name in grid else Natural(parameter)
        for name, parameter in space.items()
    }


def grid_of(problem: Problem) -> Grid:
    """Return the values that the target's numbers can have.

    Raises:
        DataError: The problem has candidates, which are not all combinations of some values.
    """
    if problem.candidates is None:
        return {}
    columns = {name: {c[name] for c in problem.candidates} for name in problem.space}
    complete = all(
        columns[name] >= set(parameter.choices)
        for name, parameter in problem.space.items()
        if isinstance(parameter, Categorical)
    )
    if not complete or math.prod(map(len, columns.values())) != len(problem.candidates):
        raise not_restricted(problem, "Optuna")
    numbers = {
        name: [value for value in values if isinstance(value, int | float)]
        for name, values in columns.items()
        if not isinstance(problem.space[name], Categorical)
    }
    return {name: tuple(sorted(values)) for name, values in numbers.items()}
