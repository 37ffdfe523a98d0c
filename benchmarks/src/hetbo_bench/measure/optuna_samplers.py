"""What an old Optuna study is worth to a new one with more parameters, sampler by sampler.

usage: script/bench optuna_samplers [SEEDS]

The old program tunes four parameters of Hartmann's function, the other two at 0, in 30 trials,
with Optuna's default sampler or at random. The new one tunes six; its versions differ in the
`sampler=` line only. Figures are medians over the seeds of the best value so far; larger is
better, and 3.322 is the largest possible.
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from optuna.logging import WARNING, set_verbosity
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import Trial

from hetbo.optuna import TransferSampler
from hetbo.test_functions import hartmann
from hetbo_bench.measure.optuna_runs import old_study, trials_by
from hetbo_bench.peers.optuna_tpe import group_tpe

OLD_TRIALS, TRIALS = 30, 20
SHOWN = (1, 5, 10, 20)


def old_objective(trial: Trial) -> float:
    tuned = [trial.suggest_float(f"x{number}", 0, 1) for number in range(1, 5)]
    return hartmann(np.array([*tuned, 0.0, 0.0]))


def new_objective(trial: Trial) -> float:
    return hartmann(np.array([trial.suggest_float(f"x{number}", 0, 1) for number in range(1, 7)]))


def best_so_far(sampler: BaseSampler, added: Study | None = None) -> list[float]:
    trials = trials_by(sampler, new_objective, TRIALS, added)
    values = [trial.value or 0.0 for trial in trials]
    return [max(values[: count + 1]) for count in range(len(values))]


ROWS: dict[str, Callable[[int, Study], list[float]]] = {
    "hetbo TransferSampler": lambda seed, old: best_so_far(TransferSampler([old], seed=seed)),
    "Optuna's default (TPE)": lambda seed, _: best_so_far(TPESampler(seed=seed)),
    "group TPE, old trials added": lambda seed, old: best_so_far(group_tpe(seed), old),
}


OLD_SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    "Optuna's default sampler": lambda seed: TPESampler(seed=seed),
    "random search": lambda seed: RandomSampler(seed=seed),
}


def print_table(old: Callable[[int], BaseSampler], seeds: int) -> None:
    print(
        f"{'sampler':<28}" + "".join(f"{count:>8}" for count in SHOWN) + "   at 20        s/trial"
    )
    for name, run in ROWS.items():
        began = time.perf_counter()
        curves = [
            run(seed, old_study(old(seed), old_objective, OLD_TRIALS)) for seed in range(seeds)
        ]
        seconds = (time.perf_counter() - began) / (seeds * TRIALS)
        medians = [statistics.median(curve[count - 1] for curve in curves) for count in SHOWN]
        last = [curve[-1] for curve in curves]
        print(
            f"{name:<28}"
            + "".join(f"{median:8.2f}" for median in medians)
            + f"   {min(last):.2f} to {max(last):.2f}  {seconds:.2f}",
            flush=True,
        )


def main(arguments: list[str]) -> None:
    set_verbosity(WARNING)
    seeds = int(arguments[0]) if arguments else 10
    print(
        f"best value after so many trials, median of {seeds} seeds, lowest and highest at {TRIALS}"
    )
    for name, old in OLD_SAMPLERS.items():
        print(f"\nthe old trials were made by {name}\n")
        print_table(old, seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
