"""How fast the models are fitted and evaluated, against BoTorch on the same data.

usage: script/bench models [REPETITIONS] [--growth-only | --no-growth]

Every figure is a ratio of medians measured in one process on one thread.
"""

import resource
import statistics
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from gpytorch.mlls import ExactMarginalLogLikelihood

from hetbo.encoding import Dataset
from hetbo.models import ConditionalGP, ImputedGP, MarginalLikelihood, TransferGP, fit
from hetbo_bench.measure.botorch_models import heterogeneous_mtgp, imputed_mtgp, target_points
from hetbo_bench.measure.problems import Problem, hartmann_problem, ranger_problem

Factory = Callable[[Dataset], TransferGP]

SIZES = {
    "hartmann (30 + 20 trials, 6 columns, 2 experiments)": hartmann_problem,
    "ranger (60 + 40 trials, 11 columns, 3 experiments)": ranger_problem,
}
OURS: dict[str, Factory] = {"ConditionalGP": ConditionalGP, "ImputedGP": ImputedGP}
SHIPPED: dict[str, Callable[[Dataset], Any]] = {
    "HeterogeneousMTGP": heterogeneous_mtgp,
    "MultiTaskGP + LearnedFeatureImputation": imputed_mtgp,
}
GROWTH = (50, 100, 200, 500, 1000, 2000)
POINTS = 1024


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def log_posterior(model: TransferGP) -> float:
    """The MAP value of a model's parameters as they are, as GPyTorch computes it."""
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    mll.train()
    value = mll(model(*model.train_inputs), model.train_targets, *model.train_inputs)
    model.eval()
    return float(value) * len(model.train_targets)


def compare_fits(repetitions: int) -> None:
    for size, make in SIZES.items():
        print(f"\n{size}\n")
        for name, factory in OURS.items():
            one, several, theirs, ours_map, theirs_map = [], [], [], [], []
            for seed in range(repetitions):
                data = make(seed).dataset()
                model = factory(data)
                mll = ExactMarginalLogLikelihood(model.likelihood, model)
                theirs.append(seconds(lambda: fit_gpytorch_mll(mll)))  # noqa: B023
                theirs_map.append(log_posterior(model))
                single, multi = factory(data), factory(data)
                one.append(seconds(lambda: fit(single, starts=1)))  # noqa: B023
                several.append(seconds(lambda: fit(multi)))  # noqa: B023
                ours_map.append(log_posterior(multi))
            base = statistics.median(theirs)
            worse = sum(a < b - 1e-2 for a, b in zip(ours_map, theirs_map, strict=True))
            print(
                f"  {name}: fit_gpytorch_mll {base:.2f} s; ours, same single start, "
                f"{base / statistics.median(one):.0f}x faster; with our 4 starts "
                f"{base / statistics.median(several):.0f}x faster; median MAP value "
                f"{statistics.median(ours_map):.3f} against {statistics.median(theirs_map):.3f}, "
                f"worse by more than 0.01 in {worse} of {repetitions}",
                flush=True,
            )
        for (shipped, build), (name, factory) in zip(SHIPPED.items(), OURS.items(), strict=True):
            compare_with_shipped(
                shipped, build, ours=name, factory=factory, make=make, repetitions=repetitions
            )


def compare_with_shipped(
    shipped: str,
    build: Callable[[Dataset], Any],
    *,
    ours: str,
    factory: Factory,
    make: Callable[[int], Problem],
    repetitions: int,
) -> None:
    fits: list[float] = []
    fits_ours: list[float] = []
    posteriors: list[float] = []
    posteriors_ours: list[float] = []
    for seed in range(repetitions):
        data = make(seed).dataset()
        theirs = build(data)
        mll = ExactMarginalLogLikelihood(theirs.likelihood, theirs)
        fits.append(seconds(lambda: fit_gpytorch_mll(mll)))  # noqa: B023
        own = factory(data)
        fits_ours.append(seconds(lambda: fit(own)))  # noqa: B023
        points = target_points(theirs, data, POINTS, seed)
        cube = torch.rand(POINTS, 1, data.X.shape[1], dtype=torch.float64)
        for model, X, times in (
            (theirs, points, posteriors),
            (own, cube, posteriors_ours),
        ):
            posterior_with_gradient(model, X)
            times.append(seconds(lambda: posterior_with_gradient(model, X)))  # noqa: B023
    print(
        f"  {shipped} as shipped: fit {statistics.median(fits):.2f} s, {ours} with our 4 starts "
        f"{statistics.median(fits) / statistics.median(fits_ours):.0f}x faster; posterior with "
        f"gradient at {POINTS} points {statistics.median(posteriors) * 1e3:.1f} ms, ours "
        f"{statistics.median(posteriors) / statistics.median(posteriors_ours):.1f}x faster",
        flush=True,
    )


def posterior_with_gradient(model: Any, X: torch.Tensor) -> None:  # noqa: ANN401
    points = X.clone().requires_grad_()
    posterior = model.posterior(points)
    (posterior.mean.sum() + posterior.variance.sum()).backward()


def growth() -> None:
    print("\ngrowth: ImputedGP with residual, one start, 20 target trials\n")
    times = []
    for trials in GROWTH:
        data = hartmann_problem(0, source_trials=trials).dataset()
        model = ImputedGP(data, residual=True)
        took = seconds(lambda: fit(model, starts=1))  # noqa: B023
        # Apart from the timing: tracing slows everything down.
        likelihood = MarginalLikelihood(model)
        tracemalloc.start()
        likelihood(likelihood.vector.read())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        report = model.fit_report
        evaluations = report.evaluations if report is not None else 0
        times.append(took)
        print(
            f"  {trials:5d} source trials: {took:8.2f} s, {evaluations:4d} evaluations, "
            f"{1e3 * took / evaluations:8.2f} ms each, {peak / 2**20:7.1f} MiB at peak of one",
            flush=True,
        )
    sizes = np.log(np.array(GROWTH) + 20.0)
    slope = np.polyfit(sizes, np.log(times), 1)[0]
    late = np.polyfit(sizes[-3:], np.log(times[-3:]), 1)[0]
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"  fitted exponent {slope:.2f} over all, {late:.2f} over the last three")
    print(f"  largest resident size of the process {largest:.0f} MiB")


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    if "--growth-only" not in arguments:
        compare_fits(numbers[0] if numbers else 10)
    if "--no-growth" not in arguments:
        growth()


if __name__ == "__main__":
    main(sys.argv[1:])
