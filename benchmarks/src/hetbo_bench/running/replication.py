"""One replication: a method on a problem, from its start to its last evaluation."""

import time
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hetbo.errors import HetboWarning
from hetbo.spaces import Value
from hetbo_bench.methods import tuner_named
from hetbo_bench.problems.problem import EVALUATIONS, Problem


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a replication went.

    Attributes:
        trace: The best value so far after each evaluation, without noise.
        seconds: How long each suggestion took. There are fewer of them than evaluations if the
            best candidate of all was found before: nothing can change then.
    """

    trace: tuple[float, ...]
    seconds: tuple[float, ...]


def replicate(
    problem: Problem, method: str, replication: int, *, evaluations: int = EVALUATIONS
) -> Outcome:
    """Run one replication.

    Args:
        problem: The problem.
        method: A name in `hetbo_bench.methods.BENCHED`, or of a user's file.
        replication: Which start, and which seed.
        evaluations: How many evaluations of the target to make, its first trials among them.
    """
    start = problem.start(replication)
    tuner = tuner_named(method)(problem, start, replication)
    noise = np.random.default_rng([replication, zlib.crc32(problem.name.encode())])
    values: list[float] = []

    def evaluate(params: Mapping[str, Value]) -> None:
        values.append(problem.evaluate(params))
        tuner.tell(params, values[-1] + problem.noise * float(noise.standard_normal()))

    for trial in start.trials[:evaluations]:
        evaluate(trial.params)
    seconds: list[float] = []
    while len(values) < evaluations:
        if problem.candidates is not None and problem.optimum in values:
            break
        began = time.perf_counter()
        with warnings.catch_warnings():
            # Sources that look like noise are no news here: some are made to.
            warnings.simplefilter("ignore", HetboWarning)
            params = tuner.ask()
        seconds.append(time.perf_counter() - began)
        evaluate(params)
    return Outcome(best_so_far(values, problem.goal.sign, evaluations), tuple(seconds))


def best_so_far(values: list[float], sign: int, count: int) -> tuple[float, ...]:
    """Return the best value after each evaluation; the last one stays if there are fewer."""
    best, trace = values[0], []
    for value in values:
        best = sign * max(sign * best, sign * value)
        trace.append(best)
    return tuple(trace + [best] * (count - len(trace)))
