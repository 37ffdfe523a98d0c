"""How fast one suggestion is, against the same step written plainly with BoTorch.

usage: script/bench suggest [REPETITIONS]

Every figure is a ratio of medians measured in one process on one thread. The step is: fit, then
maximize the expected improvement; at Hartmann size over the cube, at Ranger size over a pool.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

import hetbo as hb
from hetbo.acquisition import MemberAcquisition, PooledLogEI, maximize
from hetbo.encoding import Dataset
from hetbo.methods import METHODS, Engine, EnsembleMember, Recipe
from hetbo.models import ConditionalGP, FittedGP, ImputedGP, fit
from hetbo_bench.measure.botorch_models import heterogeneous_mtgp, imputed_mtgp, target_points
from hetbo_bench.measure.problems import Problem, hartmann_problem, ranger_problem

RESTARTS, RAW_SAMPLES, POOL = 20, 1024, 298

STEPS: dict[str, Callable[[Dataset], Any]] = {
    "conditional": heterogeneous_mtgp,
    "learned-imputation": imputed_mtgp,
}

ACQUISITIONS: dict[str, Callable[[Any, float], Any]] = {
    "the sampled qLogEI, as in the paper's runs": lambda model, best: qLogExpectedImprovement(
        model, best_f=best
    ),
    "the exact LogEI, as in ours": lambda model, best: LogExpectedImprovement(model, best_f=best),
}


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def botorch_step(data: Dataset, build: Callable[[Dataset], Any], *, pool: bool) -> dict[str, float]:
    """Return the seconds of one step with each of BoTorch's acquisitions, on the same fit."""
    model = build(data)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    fitting = seconds(lambda: fit_gpytorch_mll(mll))
    best = float(data.y[data.experiment == 0].max())
    return {
        name: fitting + seconds(lambda: botorch_search(make(model, best), model, data, pool=pool))  # noqa: B023
        for name, make in ACQUISITIONS.items()
    }


def botorch_search(acquisition: Any, model: Any, data: Dataset, *, pool: bool) -> None:  # noqa: ANN401
    example = target_points(model, data, POOL, seed=0)
    if pool:
        with torch.no_grad():
            acquisition(example).argmax()
        return
    columns = example.shape[-1]
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, columns)
    optimize_acqf(
        acquisition,
        bounds,
        q=1,
        num_restarts=RESTARTS,
        raw_samples=RAW_SAMPLES,
        fixed_features={columns - 1: 0.0},
    )


def optimizer_for(problem: Problem, method: str, *, pool: bool) -> hb.Optimizer:
    space = problem.target.space
    rng = np.random.default_rng(0)
    candidates = [
        dict(zip(space, row, strict=True)) for row in rng.random((POOL, len(space))).tolist()
    ]
    optimizer = hb.Optimizer(
        space,
        sources=problem.sources,
        goal=problem.target.goal,
        method=method,
        seed=0,
        candidates=candidates if pool else None,
    )
    for trial in problem.target.trials:
        optimizer.tell(trial.params, trial.value or 0.0)
    return optimizer


def compare_steps(
    size: str, make: Callable[[int], Problem], repetitions: int, *, pool: bool
) -> None:
    print(f"\n{size}\n")
    optimizer_for(make(0), "auto", pool=pool).ask()  # what is slow the first time only
    for method, build in STEPS.items():
        ours, theirs = [], []
        for seed in range(repetitions):
            # One right after the other: a shared machine is quick now and slow then.
            ours.append(seconds(optimizer_for(make(seed), method, pool=pool).ask))
            theirs.append(botorch_step(make(seed).dataset(), build, pool=pool))
        own = statistics.median(ours)
        for name in ACQUISITIONS:
            other = statistics.median(step[name] for step in theirs)
            print(
                f"  {method}: BoTorch with {name} {other:.2f} s, ours {own:.3f} s, "
                f"{other / own:.0f}x faster",
                flush=True,
            )
    auto = statistics.median(
        seconds(optimizer_for(make(seed), "auto", pool=pool).ask) for seed in range(repetitions)
    )
    parts = {
        name: statistics.median(
            member_alone(make(seed), member, pool=pool) for seed in range(repetitions)
        )
        for name, member in METHODS["auto"].members.items()
    }
    dearest = max(parts, key=parts.__getitem__)
    print(
        f"  auto: {auto:.3f} s, {auto / parts[dearest]:.1f}x its dearest part "
        f"alone ({dearest}, {parts[dearest]:.3f} s)",
        flush=True,
    )


def member_alone(problem: Problem, member: EnsembleMember, *, pool: bool) -> float:
    joint = hb.JointSpace.merge(problem.target.space, problem.sources)
    recipe, goal = Recipe({"alone": member}, ""), problem.target.goal
    candidates = None
    if pool:
        random = hb.Optimizer(problem.target.space, goal=goal, method="random", seed=0)
        candidates = [trial.params for trial in random.ask(POOL)]
    engine = Engine.of(recipe, joint, goal, candidates=candidates)
    trials, rng = problem.target.trials, np.random.default_rng(0)
    return seconds(lambda: engine.suggest(trials, 1, rng, order=len(trials)))


def compare_maxima(repetitions: int) -> None:
    print("\nthe highest log EI found on the same model, ours against optimize_acqf\n")
    for name, make, build in (
        ("hartmann, ConditionalGP", hartmann_problem, ConditionalGP),
        ("hartmann, ImputedGP", hartmann_problem, ImputedGP),
        ("ranger, ConditionalGP", ranger_problem, ConditionalGP),
        ("ranger, ImputedGP", ranger_problem, ImputedGP),
    ):
        gains, ratios = [], []
        for seed in range(repetitions):
            data = make(seed).dataset()
            model = fit(build(data))
            best = float(data.y[data.experiment == 0].max())
            bounds = torch.from_numpy(data.encoder.bounds())
            began = time.perf_counter()
            _, theirs = optimize_acqf(
                LogExpectedImprovement(model, best_f=best),
                bounds,
                q=1,
                num_restarts=RESTARTS,
                raw_samples=RAW_SAMPLES,
            )
            took = time.perf_counter() - began
            began = time.perf_counter()
            known = np.nan_to_num(data.X[data.experiment == 0])
            _, ours = maximize(
                PooledLogEI([MemberAcquisition(FittedGP(model), best, 1.0)]),
                data.encoder,
                rng=np.random.default_rng(seed),
                known=known,
                anchors=known[np.argsort(-data.y[: len(known)])[:5]],
            )
            ratios.append(took / (time.perf_counter() - began))
            gains.append(ours - float(theirs))
        print(
            f"  {name}: ours minus theirs, lowest {min(gains):+.4f}, median "
            f"{statistics.median(gains):+.4f}, highest {max(gains):+.4f}; "
            f"{statistics.median(ratios):.0f}x faster",
            flush=True,
        )


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.simplefilter("ignore")
    repetitions = int(arguments[0]) if arguments else 5
    compare_maxima(repetitions)
    compare_steps(
        "one suggestion at Hartmann size (30 + 20 trials)",
        hartmann_problem,
        repetitions,
        pool=False,
    )
    compare_steps(
        f"one suggestion at Ranger size (60 + 40 trials, a pool of {POOL})",
        ranger_problem,
        repetitions,
        pool=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
