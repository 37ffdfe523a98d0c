"""Functions whose best value is known, and what old experiments saw of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hetbo.experiments import Goal
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo.test_functions import HARTMANN_OPTIMUM, hartmann
from hetbo_bench.problems.objectives import Objective, Params, held, random_settings, shifted

__all__ = ["FUNCTIONS", "Function", "Part", "not_tuned"]

FloatArray = NDArray[np.float64]
Part: TypeAlias = tuple[Objective, Mapping[str, Value]]
"""What an old experiment measured, and what it held."""

_FEWEST_TUNED = 2


@dataclass(frozen=True, slots=True)
class Function:
    """A function with a known best value.

    Attributes:
        summary: What it is, in one line.
        space: Its parameters.
        goal: Which way is better.
        optimum: Its best value.
        at: Returns its value.
    """

    summary: str
    space: Space
    goal: Goal
    optimum: float
    at: Callable[[Params], float] = field(repr=False)

    def objective(self) -> Objective:
        """Return the function as an objective."""
        return Objective(
            space=self.space,
            goal=self.goal,
            values=lambda rows: np.array([self.at(row) for row in rows], dtype=np.float64),
        )

    def part(self, rng: np.random.Generator, shift: float) -> Part:
        """Return what an old experiment measured: the function, moved, some parameters held."""
        holding, moving = rng.spawn(2)
        whole = self.objective()
        (row,) = random_settings(whole, 1, holding)
        values = {name: row[name] for name in not_tuned([*self.space], holding)}
        numbers = [name for name, parameter in self.space.items() if parameter.scale is not None]
        offsets = moving.normal(scale=shift, size=len(numbers)).tolist()
        moved = shifted(whole, dict(zip(numbers, offsets, strict=True))) if shift else whole
        return held(moved, values), values


def not_tuned(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return at random what an experiment did not tune: at least one parameter, at most half."""
    tuned = int(rng.integers(max(_FEWEST_TUNED, (len(names) + 1) // 2), len(names)))
    return [names[at] for at in np.sort(rng.permutation(len(names))[tuned:])]


def _cube(count: int, low: float, high: float) -> Space:
    return Space.from_mapping({f"x{i}": Float(low, high) for i in range(1, count + 1)})


def _of_numbers(
    summary: str, space: Space, goal: Goal, optimum: float, at: Callable[[FloatArray], float]
) -> Function:
    """Return a function of the numbers in the order of the space, shape `d`."""

    def by_name(params: Params) -> float:
        return at(np.array([params[name] for name in space], dtype=np.float64))

    return Function(summary, space, goal, optimum, by_name)


def _ackley(x: FloatArray) -> float:
    ripples = np.exp(np.cos(2 * np.pi * x).mean())
    return float(20 + np.e - 20 * np.exp(-0.2 * np.sqrt((x**2).mean())) - ripples)


def _levy(x: FloatArray) -> float:
    w = 1 + (x - 1) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle.sum() + last)


def _log_rosenbrock(x: FloatArray) -> float:
    return float(np.log1p((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()))


def _styblinski(x: FloatArray) -> float:
    return float((x**4 - 16 * x**2 + 5 * x).sum() / 2)


_KERNELS: Mapping[Value, tuple[int, float]] = {
    "rbf": (8, 0.0),
    "matern": (4, 4.0),
    "cosine": (2, 9.0),
}
"""The best depth with each kernel of `branin-mixed`, and what the kernel costs."""


def _branin_mixed(params: Params) -> float:
    x, y, rate, depth = (float(params[n] or 0) for n in ("x", "y", "rate", "depth"))
    bend = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    branin = bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10
    best, cost = _KERNELS[params["kernel"]]
    return float(branin + 5 * (np.log10(rate) + 2.3) ** 2 + (depth - best) ** 2 / 2 + cost)


FUNCTIONS: Mapping[str, Function] = {
    "hartmann": _of_numbers(
        "Hartmann's function, 6 variables, two good hills",
        _cube(6, 0.0, 1.0),
        Goal.MAXIMIZE,
        HARTMANN_OPTIMUM,
        hartmann,
    ),
    "styblinski": _of_numbers(
        "Styblinski and Tang's function, 5 variables, additive, 32 valleys",
        _cube(5, -5.0, 5.0),
        Goal.MINIMIZE,
        5 * -39.16616570377142,
        _styblinski,
    ),
    "levy": _of_numbers(
        "Levy's function, 4 variables, many small valleys in a large one",
        _cube(4, -10.0, 5.0),
        Goal.MINIMIZE,
        0.0,
        _levy,
    ),
    "branin-mixed": Function(
        "Branin's function with a learning rate, a depth and a kernel, 5 parameters of all kinds",
        Space(
            x=Float(-5.0, 10.0),
            y=Float(0.0, 15.0),
            rate=Float(1e-4, 1.0, log=True),
            depth=Int(1, 12),
            kernel=Categorical(*map(str, _KERNELS)),
        ),
        Goal.MINIMIZE,
        0.39788735772973816,
        _branin_mixed,
    ),
    "rosenbrock": _of_numbers(
        "log of 1 + Rosenbrock's function, 4 variables, a bent valley",
        _cube(4, -2.0, 2.0),
        Goal.MINIMIZE,
        0.0,
        _log_rosenbrock,
    ),
    "ackley": _of_numbers(
        "Ackley's function, 8 variables, ripples around a narrow pit",
        _cube(8, -5.0, 10.0),
        Goal.MINIMIZE,
        0.0,
        _ackley,
    ),
}
"""The functions by name."""
