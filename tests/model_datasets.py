"""Data sets for tests of models: random families of experiments, and known functions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetbo import Categorical, Experiment, Float, Int, JointSpace, Space, Trial
from hetbo.encoding import Dataset
from hetbo.models import CommonGP, ConditionalGP, ImputedGP, TargetGP, TransferGP
from hetbo.spaces import Parameter, Value

PARAMETERS: Mapping[str, Parameter] = {
    "rate": Float(1e-4, 1e-1, log=True),
    "depth": Int(1, 6),
    "kind": Categorical("a", "b", "c"),
    "share": Float(-1.0, 1.0),
    "width": Int(4, 400, log=True),
    "flag": Categorical(False, True),  # noqa: FBT003
}

MODELS: Mapping[str, Callable[[Dataset], TransferGP]] = {
    "conditional": ConditionalGP,
    "conditional, residual": lambda data: ConditionalGP(data, residual=True),
    "imputed": ImputedGP,
    "imputed, residual": lambda data: ImputedGP(data, residual=True),
    "imputed, one scale": lambda data: ImputedGP(data, settings="one scale"),
    "imputed, fixed": lambda data: ImputedGP(data, learned=False),
    "common": CommonGP,
    "target": TargetGP,
    "target, effects": lambda data: TargetGP(data, main_effects=True),
}


def drawn(parameter: Parameter, rng: np.random.Generator) -> Value:
    """A random value of a parameter."""
    if isinstance(parameter, Categorical):
        return parameter.choices[int(rng.integers(len(parameter.choices)))]
    if isinstance(parameter, Int):
        return int(rng.integers(parameter.low, parameter.high + 1))
    assert isinstance(parameter, Float)
    return float(rng.uniform(parameter.low, parameter.high))


def drawn_trials(
    space: Space, count: int, rng: np.random.Generator, *, noise: bool = False
) -> list[Trial]:
    """Random trials with random values; every second one has a known noise if asked for."""
    return [
        Trial(
            {name: drawn(parameter, rng) for name, parameter in space.items()},
            float(rng.normal()),
            noise=0.1 if noise and index % 2 else None,
        )
        for index in range(count)
    ]


def random_dataset(
    seed: int, *, experiments: int = 3, trials: int = 7, noise: bool = False
) -> Dataset:
    """A target and sources, each with some of the parameters; some sources fix another one."""
    rng = np.random.default_rng(seed)

    def family() -> list[str]:
        size = int(rng.integers(1, len(PARAMETERS) + 1))
        return sorted(rng.choice(list(PARAMETERS), size=size, replace=False).tolist())

    def space() -> Space:
        return Space.from_mapping({name: PARAMETERS[name] for name in family()})

    target = space()
    sources = []
    for index in range(experiments - 1):
        own = space()
        known = {n: drawn(PARAMETERS[n], rng) for n in family() if n not in own}
        tried = drawn_trials(own, trials + index, rng, noise=noise)
        sources.append(
            Experiment(
                f"source {index}", own, tried, fixed=known if index % 2 else None, goal="minimize"
            )
        )
    return Dataset.build(
        JointSpace.merge(target, sources),
        drawn_trials(target, trials, rng, noise=noise),
        goal="minimize",
    )


def dataset(
    families: Mapping[str, Sequence[str]],
    function: Callable[[Mapping[str, float]], float],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    elsewhere: float = 0.0,
) -> Dataset:
    """Trials of a function over the unit cube, the first family being the target's.

    Parameters that a family lacks are at `elsewhere`.
    """
    rng = np.random.default_rng(seed)
    every = sorted({name for family in families.values() for name in family})
    made = []
    for name, family in families.items():
        space = Space.from_mapping({p: Float(0.0, 1.0) for p in family})
        trials = []
        for point in rng.random((sizes[name], len(family))):
            params = dict(zip(family, point.tolist(), strict=True))
            value = function({**dict.fromkeys(every, elsewhere), **params})
            trials.append(Trial(params, value))
        made.append(Experiment(name, space, trials, goal="maximize"))
    target, *sources = made
    return Dataset.build(JointSpace.merge(target.space, sources), target.trials, goal="maximize")
