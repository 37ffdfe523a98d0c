"""Small archives with known truth."""

import numpy as np

from hetbo import Experiment, Float, Space, Trial
from hetbo.archive._digest import SourceRows
from hetbo.encoding import Dataset
from hetbo.joint import JointSpace
from hetbo.test_functions import hartmann

NAMES = ("x1", "x2", "x3", "x4", "x5", "x6")
SPACE = Space.from_mapping({name: Float(0.0, 1.0) for name in NAMES})


def source(
    number: int, *, trials: int = 20, related: bool = True, scale: float = 1.0, seed: int = 0
) -> Experiment:
    """An experiment that tuned four of Hartmann's six parameters, or has nothing to do with it."""
    rng = np.random.default_rng([seed, number])
    tuned = np.sort(rng.permutation(6)[:4])
    held = rng.random(6)
    waves = rng.normal(size=4) * 4
    kept = []
    for u in rng.random((trials, 4)):
        x = held.copy()
        x[tuned] = u
        value = hartmann(x) if related else float(np.sin(u @ waves))
        params = {NAMES[i]: float(v) for i, v in zip(tuned, u, strict=True)}
        kept.append(Trial(params, scale * value))
    space = Space.from_mapping({NAMES[i]: Float(0.0, 1.0) for i in tuned})
    return Experiment(f"source {number:02d}", space, kept, goal="maximize")


def target_trials(count: int, seed: int = 0) -> list[Trial]:
    """Random trials of Hartmann's function."""
    X = np.random.default_rng([seed, 99]).random((count, 6))
    return [Trial(dict(zip(NAMES, x.tolist(), strict=True)), hartmann(x)) for x in X]


def data_of(sources: list[Experiment], trials: int, seed: int = 0) -> Dataset:
    """The sources, and trials of Hartmann's function."""
    joint = JointSpace.merge(SPACE, sources)
    return Dataset.build(joint, target_trials(trials, seed), goal="maximize")


def random_rows(count: int, columns: int = 3, seed: int = 0) -> SourceRows:
    """Trials of a smooth function with some noise, scaled; some of the noise is known."""
    rng = np.random.default_rng(seed)
    X = rng.random((count, columns))
    y = np.sin(5 * X @ rng.normal(size=columns)) + 0.1 * rng.normal(size=count)
    noise = np.where(rng.random(count) < 0.2, 0.02, np.nan)
    return SourceRows(X, (y - y.mean()) / y.std(), noise, np.arange(columns))
