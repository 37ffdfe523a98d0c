"""Problems whose sources mislead: wrappers that compose, from a problem to a problem.

The target, its first trials and the parameters of the sources' trials stay as they are.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hetbo.encoding import Encoder
from hetbo.experiments import Experiment, TrialState
from hetbo.joint import JointSpace
from hetbo_bench.problems.problem import Problem, Start

_FEATURES = 512
_LENGTH_SCALE = 0.3
"""The length-scale of unrelated functions, in parts of the cube's diagonal: a few hills."""

FloatArray = NDArray[np.float64]
Rewrite = Callable[[Experiment, FloatArray, np.random.Generator], FloatArray]
"""From a source with `n` complete trials and their `n` values to the values they get instead."""


def shuffled(problem: Problem) -> Problem:
    """Return the problem with each source's values permuted among its trials."""
    return _rewritten(problem, "shuffled", _shuffle)


def negated(problem: Problem) -> Problem:
    """Return the problem with the sources' values negated: their best is their worst."""
    return _rewritten(problem, "negated", _negate)


def unrelated(problem: Problem) -> Problem:
    """Return the problem with each source's values from a smooth random function.

    The function is another one for each source and replication; the values' mean and standard
    deviation are those of the source's own values.
    """
    return _rewritten(problem, "unrelated", _replace)


MISLEADING: Mapping[str, Callable[[Problem], Problem]] = {
    "shuffled": shuffled,
    "negated": negated,
    "unrelated": unrelated,
}
"""The wrappers by name, which is also what they add to a problem's name."""


def _rewritten(problem: Problem, label: str, rewrite: Rewrite) -> Problem:
    def start(replication: int) -> Start:
        original = problem.start(replication)
        rng = np.random.default_rng([replication, zlib.crc32(label.encode())])
        rngs = rng.spawn(len(original.sources))
        sources = [_with_values(s, rewrite, r) for s, r in zip(original.sources, rngs, strict=True)]
        return Start(tuple(sources), original.trials)

    return replace(
        problem,
        name=f"{problem.name}/{label}",
        summary=f"{problem.summary}; the sources' values {label}",
        start=start,
        published=None,
    )


def _with_values(source: Experiment, rewrite: Rewrite, rng: np.random.Generator) -> Experiment:
    """Return a source with other values; trials without a value stay as they are."""
    complete = tuple(t for t in source.trials if t.state is TrialState.COMPLETE)
    if not complete:
        return source
    own = np.array([t.value for t in complete], dtype=np.float64)
    values = iter(rewrite(replace(source, trials=complete), own, rng).tolist())
    trials = [
        replace(t, value=next(values)) if t.state is TrialState.COMPLETE else t
        for t in source.trials
    ]
    return replace(source, trials=tuple(trials))


def _shuffle(_: Experiment, values: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.permutation(values)


def _negate(_: Experiment, values: FloatArray, __: np.random.Generator) -> FloatArray:
    return -values


def _replace(source: Experiment, values: FloatArray, rng: np.random.Generator) -> FloatArray:
    encoder = Encoder(JointSpace.merge(source.space, []))
    X = encoder.encode([trial.params for trial in source.trials])
    drawn = random_function(X.shape[1], rng)(X)
    spread = drawn.std()
    if spread == 0:  # a single trial, or all of them at one point
        return np.full(len(values), values.mean())
    return np.asarray(values.mean() + (drawn - drawn.mean()) * (values.std() / spread))


def random_function(columns: int, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """Return a draw from a Gaussian process with a squared exponential kernel.

    It is drawn by random Fourier features (Rahimi and Recht, 2007): a function of all of the cube,
    whichever of its points, `n × columns`, are asked for.
    """
    length_scale = _LENGTH_SCALE * np.sqrt(columns)
    frequencies = rng.normal(scale=1 / length_scale, size=(columns, _FEATURES))
    phases = rng.uniform(0, 2 * np.pi, size=_FEATURES)
    weights = rng.normal(scale=np.sqrt(2 / _FEATURES), size=_FEATURES)
    return lambda X: np.asarray(np.cos(X @ frequencies + phases) @ weights)
