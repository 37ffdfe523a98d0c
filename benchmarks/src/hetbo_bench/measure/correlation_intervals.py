"""Whether the intervals that `explain()` tells of correlations hold the truth.

usage: script/bench correlation_intervals [REPETITIONS]

Draws a target and a source from Gaussian processes whose correlation is known, anywhere between
-0.95 and 0.95, with 30 old trials, and prints how often the interval of `auto` holds it.
"""

import sys
import warnings

import numpy as np

import hetbo as hb

SPACE = hb.Space(x=hb.Float(0.0, 1.0), y=hb.Float(0.0, 1.0))
OLD = 30


def drawn(rng: np.random.Generator, new: int) -> tuple[float, hb.Optimizer]:
    """Return a correlation, and an optimizer with a source and trials that have it."""
    r = rng.uniform(-0.95, 0.95)
    X = rng.random((OLD + new, 2))
    distance = (((X[:, np.newaxis] - X) / 0.35) ** 2).sum(-1)
    root = np.linalg.cholesky(np.exp(-0.5 * distance) + 1e-8 * np.eye(len(X)))
    source, other = (root @ rng.normal(size=(len(X), 2))).T
    values = np.where(np.arange(len(X)) < OLD, source, r * source + np.sqrt(1 - r * r) * other)
    trials = [
        hb.Trial({"x": x, "y": y}, value)
        for (x, y), value in zip(X.tolist(), values.tolist(), strict=True)
    ]
    old = hb.Experiment("old", SPACE, trials[:OLD], goal="maximize")
    optimizer = hb.Optimizer(SPACE, sources=[old], goal="maximize", seed=0)
    for trial in trials[OLD:]:
        optimizer.tell(trial.params, trial.value or 0.0)
    return r, optimizer


def main(arguments: list[str]) -> None:
    repetitions = int(arguments[0]) if arguments else 20
    warnings.simplefilter("ignore", hb.HetboWarning)
    rng = np.random.default_rng(0)
    print("new trials   holds the truth   known   mean width   wrong sign")
    for new in (1, 3, 6, 12, 25):
        held = known = wrong = 0
        width = 0.0
        for _ in range(repetitions):
            r, optimizer = drawn(rng, new)
            found = optimizer.explain().correlations["old"]
            held += found.low <= r <= found.high
            known += found.known
            wrong += found.low > 0 > r or found.high < 0 < r
            width += found.high - found.low
        shares = f"{held / repetitions:15.0%} {known / repetitions:7.0%}"
        print(f"{new:10d} {shares} {width / repetitions:12.2f} {wrong:12d}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
