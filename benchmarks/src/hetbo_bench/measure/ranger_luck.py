"""How much of a result on Ranger is luck: what a method would reach that knew where to look.

usage: script/bench ranger_luck [REPETITIONS]

The best rows of Ranger's table are among those with the smallest `mtry`. Here they are tried in a
random order from the sixth evaluation on; which of them comes first is luck. Figures are regret
areas (evaluations 6 to 40) in means over the 50 published starts.
"""

import sys

import numpy as np

from hetbo_bench.problems.named import problem_named
from hetbo_bench.problems.problem import EVALUATIONS, FIRST_TRIALS

STARTS = 50


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    problem = problem_named("ranger_10")
    table = problem.candidates or ()
    smallest = min(float(row["mtry"] or 0.0) for row in table)
    rows = [row for row in table if row["mtry"] == smallest]
    rng = np.random.default_rng(0)
    areas = np.empty((repetitions, STARTS))
    for replication in range(STARTS):
        first = problem.start(replication).trials
        known = [problem.evaluate(trial.params) for trial in first]
        left = [problem.evaluate(row) for row in rows if row not in [t.params for t in first]]
        for repetition in range(repetitions):
            values = [*known, *rng.permutation(left)][:EVALUATIONS]
            best = np.maximum.accumulate(values)
            best = np.pad(best, (0, EVALUATIONS - len(best)), mode="edge")
            areas[repetition, replication] = problem.optimum - best[FIRST_TRIALS:].mean()
    means = areas.mean(axis=1)
    print(f"{len(rows)} of {len(table)} rows have the smallest mtry")
    print(f"regret area {means.mean():.5f}, standard deviation by luck alone {means.std():.5f}")


if __name__ == "__main__":
    main()
