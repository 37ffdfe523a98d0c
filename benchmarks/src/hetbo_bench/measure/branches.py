"""What an old study of a program with branches is worth to the program's next version.

usage: script/bench branches [SEEDS]

A classifier is chosen, then its parameters; one parameter is common. The new version has one
parameter more (`shrink`, of the SVC) and a range that moved (`depth`, of the forest). The old study
has 36 trials, at random or by Optuna's default sampler; the new one makes 25. Values are made by a
formula, with slight noise that depends on the parameters alone; the best possible is 1.
"""

import math
import statistics
import sys
import time
import zlib
from collections.abc import Callable

import numpy as np
from optuna.logging import WARNING, set_verbosity
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial

from hetbo.optuna import TransferSampler
from hetbo_bench.measure.optuna_runs import old_study, trials_by
from hetbo_bench.peers.optuna_tpe import group_tpe

OLD_TRIALS, TRIALS = 36, 25
SHOWN = (1, 5, 10, 25)
NOISE = 0.004


def off(value: float, best: float, width: float) -> float:
    """Return how far a value is from the best one, on a scale that levels off at 1."""
    return 1 - math.exp(-(((value - best) / width) ** 2))


def accuracy(params: dict[str, float | str]) -> float:
    """Return the value without noise."""
    at = {name: float(value) for name, value in params.items() if not isinstance(value, str)}
    common = 0.06 * off(at["smoothing"], 0.35, 0.3)
    match params["classifier"]:
        case "svc":
            place = math.log10(at["C"]), math.log10(at["gamma"])
            loss = 0.2 * off(place[0], 1.2, 1.3) + 0.25 * off(place[1], -2.2, 1.0)
            return 1.0 - common - loss - 0.05 * off(at.get("shrink", 0.0), 0.6, 0.5)
        case "forest":
            loss = 0.1 * off(at["depth"], 13, 8) + 0.1 * off(at["features"], 0.4, 0.4)
            return 0.93 - common - loss
        case _:
            return 0.88 - common - 0.2 * off(math.log10(at["alpha"]), -2.0, 1.5)


def suggested(trial: Trial, *, new: bool) -> dict[str, float | str]:
    params: dict[str, float | str] = {
        "smoothing": trial.suggest_float("smoothing", 0, 1),
        "classifier": trial.suggest_categorical("classifier", ["forest", "svc", "linear"]),
    }
    match params["classifier"]:
        case "svc":
            params["C"] = trial.suggest_float("C", 1e-3, 1e3, log=True)
            params["gamma"] = trial.suggest_float("gamma", 1e-5, 10, log=True)
            if new:
                params["shrink"] = trial.suggest_float("shrink", 0, 1)
        case "forest":
            depths = (6, 40) if new else (2, 20)
            params["depth"] = trial.suggest_int("depth", *depths)
            params["features"] = trial.suggest_float("features", 0.05, 1)
        case _:
            params["alpha"] = trial.suggest_float("alpha", 1e-6, 10, log=True)
    return params


def objective(*, new: bool) -> Callable[[Trial], float]:
    def value(trial: Trial) -> float:
        params = suggested(trial, new=new)
        noise = np.random.default_rng(zlib.crc32(repr(params).encode())).normal(scale=NOISE)
        return accuracy(params) + float(noise)

    return value


def tuned_by(sampler: BaseSampler, added: Study | None = None) -> list[FrozenTrial]:
    return trials_by(sampler, objective(new=True), TRIALS, added)


ROWS: dict[str, Callable[[int, Study], list[FrozenTrial]]] = {
    "hetbo TransferSampler": lambda seed, old: tuned_by(TransferSampler([old], seed=seed)),
    "group TPE, old trials added": lambda seed, old: tuned_by(group_tpe(seed), old),
    "group TPE": lambda seed, _: tuned_by(group_tpe(seed)),
    "random search": lambda seed, _: tuned_by(RandomSampler(seed=seed)),
}


OLD_SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    "random search": lambda seed: RandomSampler(seed=seed),
    "Optuna's default sampler": lambda seed: TPESampler(seed=seed),
}


def print_row(name: str, seed: str, curve: list[float], area: float, rest: str = "") -> None:
    shown = "".join(f"{curve[count - 1]:8.3f}" for count in SHOWN)
    print(f"{name:<28}{seed:>6}{shown}{area:8.4f}{rest}", flush=True)


def print_table(old: Callable[[int], BaseSampler], seeds: int) -> None:
    counts = "".join(f"{count:>8}" for count in SHOWN)
    print(f"{'sampler':<28}{'seed':>6}{counts}  regret   in svc   s/trial")
    for name, run in ROWS.items():
        curves, areas, shares = list[list[float]](), list[float](), list[float]()
        began = time.perf_counter()
        for seed in range(seeds):
            trials = run(seed, old_study(old(seed), objective(new=False), OLD_TRIALS))
            values = [accuracy(trial.params) for trial in trials]
            curve = [max(values[: count + 1]) for count in range(len(values))]
            curves.append(curve)
            areas.append(1 - statistics.mean(curve))
            shares.append(statistics.mean(t.params["classifier"] == "svc" for t in trials))
            print_row(name, str(seed), curve, areas[-1], f"{shares[-1]:9.2f}")
        seconds = (time.perf_counter() - began) / (seeds * TRIALS)
        means = [statistics.mean(values) for values in zip(*curves, strict=True)]
        share = statistics.mean(shares)
        print_row(name, "mean", means, statistics.mean(areas), f"{share:9.2f}{seconds:10.2f}")


def main(arguments: list[str]) -> None:
    set_verbosity(WARNING)
    seeds = int(arguments[0]) if arguments else 3
    print("best value after so many trials, without its noise, and the regret's mean over all")
    for name, old in OLD_SAMPLERS.items():
        print(f"\nthe old trials were made by {name}\n")
        print_table(old, seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
