"""Values as far as floats go: nothing overflows, and no warning of NumPy's reaches a user."""

import random
import sys
import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from hetbo import (
    Categorical,
    Experiment,
    Float,
    Goal,
    Int,
    MergeError,
    Optimizer,
    SourceWarning,
    Space,
    Trial,
)
from hetbo.spaces import Parameter, Value

Draw: TypeAlias = Callable[[], float]
LARGEST, SMALLEST = sys.float_info.max, 5e-324
HOSTILE = (
    *(LARGEST, -LARGEST, 1e308, -1e308, 1e300, 1e200, -1e200, 1e155, 1e100, -1e100, 1e16, 1e8),
    *(1.0, -1.0, 0.0, -0.0, 0.5, 1e-8, 1e-100, -1e-200, 1e-300, sys.float_info.min, SMALLEST),
)
NOISE = (None, None, None, 0.0, SMALLEST, 1e-300, 1.0, 1e10, 1e200, LARGEST)
PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "a": (
        *(Float(0, 1), Float(-8e307, 8e307), Float(SMALLEST, 1e-300), Float(-SMALLEST, SMALLEST)),
        *(Float(1e-150, 1e150, log=True), Float(1.0, 1.0 + 2**-52), Float(1e307, 1.7e308)),
    ),
    "n": (
        *(Int(0, 3), Int(-(2**52), 2**52), Int(0, 2**53), Int(-(2**53), 2**53)),
        *(Int(1, 2**53, log=True), Int(2**53 - 3, 2**53)),
    ),
    "c": (Categorical("a", "b", None), Categorical(10**18, 10**18 + 1), Categorical("only")),
}


def draw_values(draw: random.Random, count: int) -> list[float]:
    some = draw.choice(HOSTILE)
    kinds: tuple[Draw, ...] = (
        lambda: draw.choice(HOSTILE),
        lambda: some * draw.random(),
        lambda: some,
        lambda: draw.choice([LARGEST, -LARGEST, 0.0]),
        lambda: 1.0 + draw.random() * 1e-15,
        lambda: draw.choice([draw.random()] * 9 + [some]),
        lambda: draw.choice([SMALLEST, 1e-320, 0.0, 1e-310]),
    )
    kind = draw.choice(kinds)
    return [kind() for _ in range(count)]


def draw_value(draw: random.Random, parameter: Parameter) -> Value:
    match parameter:
        case Categorical(choices):
            return draw.choice(choices)
        case Int(low, high):
            return draw.choice([low, high, draw.randint(low, high)])
        case Float(low, high):
            inside = low + draw.random() * (high - low)
            return min(max(draw.choice([low, high, inside]), low), high)
        case _:
            raise TypeError(f"no value for {parameter!r}")


def draw_space(draw: random.Random) -> Space:
    names = [name for name in PARAMETERS if draw.random() < 0.7] or ["a"]
    return Space(**{name: draw.choice(PARAMETERS[name]) for name in names})


def draw_trials(draw: random.Random, space: Space, count: int) -> list[Trial]:
    return [
        Trial({n: draw_value(draw, p) for n, p in space.items()}, value, noise=draw.choice(NOISE))
        for value in draw_values(draw, count)
    ]


def hostile_run(seed: int, *, source_trials: tuple[int, ...]) -> Optimizer | None:
    """Return an optimizer with a hostile history; None if its ranges have no joint range."""
    draw = random.Random(seed)  # noqa: S311  # no secrets here
    space = draw_space(draw)
    method, goal = draw.choice(["vanilla", "auto"]), draw.choice(list(Goal))
    sources = []
    if method == "auto":
        other = draw_space(draw)
        trials = draw_trials(draw, other, draw.choice(source_trials))
        sources = [Experiment("old", other, trials, goal=draw.choice(list(Goal)))]
    try:
        optimizer = Optimizer(
            space,
            sources=sources,
            goal=goal,
            method=method,
            seed=seed,
            n_initial=draw.choice([0, 2]),
        )
    except MergeError:
        return None
    for trial in draw_trials(draw, space, draw.randrange(13)):
        assert trial.value is not None
        optimizer.tell(trial.params, trial.value, noise=trial.noise)
    return optimizer


@pytest.mark.parametrize("seed", range(24))
def test_no_finite_history_is_too_hostile(seed: int) -> None:
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SourceWarning)
        optimizer = hostile_run(seed, source_trials=(0, 1, 2, 5, 12))
        if optimizer is not None:
            assert optimizer.space.check(optimizer.ask().params)
