"""A full transfer optimisation in under a minute.

    python examples/reaction.py [SEED]

Last year a reaction was tuned in four parameters, at a catalyst and a stirring speed that nobody
wrote down. Today those two are tuned as well. The yield comes from a test function (Hartmann's, in
six variables), so that the best possible one is known.
"""

import math
import sys

import numpy as np

from hetbo.experiments import Experiment, Trial
from hetbo.joint import JointSpace
from hetbo.optimizer import Optimizer
from hetbo.spaces import Float, Int, Space, Value
from hetbo.test_functions import HARTMANN_OPTIMUM, hartmann

OLD_SPACE = Space(
    temperature=Float(20.0, 120.0),
    minutes=Float(1.0, 60.0, log=True),
    acidity=Float(3.0, 11.0),
    concentration=Float(0.01, 1.0, log=True),
)
SPACE = OLD_SPACE.replace(catalyst=Float(0.0, 10.0), stirring=Int(100, 900))
OLD_HABITS: dict[str, Value] = {"catalyst": 3.5, "stirring": 580}
OLD_TRIALS, TRIALS, INITIAL = 30, 25, 4


def reaction_yield(**params: Value) -> float:
    """Return the yield in percent; at most 100."""
    unit = []
    for name, parameter in SPACE.items():
        value = params[name]
        scale = parameter.scale
        if not isinstance(value, int | float) or scale is None:
            raise TypeError(f"{name} must be a number")
        low, high = scale.low, scale.high
        unit.append(
            math.log(value / low) / math.log(high / low)
            if scale.log
            else (value - low) / (high - low)
        )
    return 100 * hartmann(np.array(unit)) / HARTMANN_OPTIMUM


def old_experiment(seed: int) -> Experiment:
    """Return last year's trials: random ones, in four parameters."""
    rng = np.random.default_rng([seed, 1])
    trials = []
    for _ in range(OLD_TRIALS):
        params: dict[str, Value] = {
            "temperature": rng.uniform(20, 120),
            "minutes": 60 ** rng.uniform(),
            "acidity": rng.uniform(3, 11),
            "concentration": 10 ** rng.uniform(-2, 0),
        }
        trials.append(Trial(params, reaction_yield(**params, **OLD_HABITS)))
    return Experiment("last-year", OLD_SPACE, trials, goal="maximize")


def tune(label: str, optimizer: Optimizer) -> list[float]:
    """Make the trials with a progress line; return the best yield after each."""
    best, history = 0.0, []
    live = sys.stdout.isatty()
    for number in range(1, TRIALS + 1):
        suggestion = optimizer.ask()
        value = reaction_yield(**suggestion.params)
        optimizer.tell(suggestion, value)
        best = max(best, value)
        history.append(best)
        bar = "█" * round(best / 5) + "░" * (20 - round(best / 5))
        line = f"  {label:<17} {number:2d}/{TRIALS}  {bar}  best yield {best:5.1f} %"
        if live:
            sys.stdout.write(f"\r{line}")
        elif number in {5, 10, 15, 20, TRIALS}:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write("\n" if live else "")
    return history


def main(arguments: list[str]) -> None:
    """Tune with last year's trials and without, and say what was learned."""
    seed = int(arguments[0]) if arguments else 0
    old = old_experiment(seed)
    known = old.best.value if old.best is not None and old.best.value is not None else 0.0
    joint = JointSpace.merge(SPACE, [old], target_name="today")
    write = sys.stdout.write
    write(
        f"Last year: {OLD_TRIALS} trials in 4 parameters, best yield {known:.1f} %.\n"
        "Today: 6 parameters. What changed, and what is shared:\n\n"
        f"{joint.describe()}\n\n{joint.tree().text()}\n\n"
        f"{TRIALS} trials of the new reaction (the best possible yield is 100 %):\n\n"
    )
    helped = Optimizer(SPACE, sources=[old], goal="maximize", seed=seed)
    with_transfer = tune("with last year", helped)
    alone = Optimizer(SPACE, goal="maximize", method="vanilla", seed=seed, n_initial=INITIAL)
    without = tune("without", alone)
    write("\n")
    for number in (10, TRIALS):
        write(
            f"After {number} trials: {with_transfer[number - 1]:.1f} % with last year's, "
            f"{without[number - 1]:.1f} % without.\n"
        )
    if helped.best is not None:
        chosen = ", ".join(f"{k} {v:.4g}" for k, v in helped.best.params.items())
        write(f"Best parameters: {chosen}\n\n")
    write(f"What hetbo made of last year: {helped.explain()}\n")
    truth = " and ".join(f"{name} {value}" for name, value in OLD_HABITS.items())
    write(f"(In truth it was {truth}.)\n")


if __name__ == "__main__":
    main(sys.argv[1:])
