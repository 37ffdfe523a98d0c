"""The methods that take part, on the same terms: hetbo's, the paper's, other tools', users' own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from hetbo.errors import DataError, shown
from hetbo.methods import METHODS, EnsembleMember, Recipe
from hetbo.models import Surrogate
from hetbo.optimizer import Optimizer
from hetbo.spaces import Value
from hetbo_bench.comparators.ablr import ABLR
from hetbo_bench.comparators.hierarchical import Hierarchical
from hetbo_bench.comparators.rgpe import RGPE
from hetbo_bench.comparators.scaml import ScaML
from hetbo_bench.comparators.tst import TST
from hetbo_bench.own_files import is_own, own_object
from hetbo_bench.paper.methods import PAPER_METHODS
from hetbo_bench.problems.problem import Problem, Start


class Tuner(Protocol):
    """Something that chooses the next parameters, one set at a time."""

    def ask(self) -> Mapping[str, Value]:
        """Return the next parameters to try."""

    def tell(self, params: Mapping[str, Value], value: float) -> None:
        """Take note of the value of some parameters: the last ones asked for, or a first trial."""


Factory = Callable[[Problem, Start, int], Tuner]
"""Makes a tuner for a problem, the start of a replication (its first trials not yet told), and a
seed."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tool that takes part.

    Attributes:
        module: The module that drives it; its `tuner` makes a tuner.
        summary: What it does, in one line.
    """

    module: str
    summary: str


def _recipe(name: str, surrogate: Surrogate, summary: str) -> Recipe:
    return Recipe({name: EnsembleMember(surrogate)}, summary)


COMPARATORS: Mapping[str, Recipe | Peer] = {
    **PAPER_METHODS,
    "rgpe": _recipe("rgpe", RGPE(), "RGPE: GPs of all experiments, weighted by how well they rank"),
    "tst": _recipe(
        "tst", TST(), "two-stage transfer surrogate: a kernel regression over their GPs"
    ),
    "hierarchical": _recipe(
        "hierarchical", Hierarchical(), "a hierarchical GP: the ten best sources and the target"
    ),
    "scaml": _recipe("scaml", ScaML(), "ScaML-GP: a weighted sum of source posteriors and a GP"),
    "ablr": _recipe("ablr", ABLR(), "ABLR: Bayesian linear regressions on shared neural features"),
    "optuna-tpe": Peer(
        "hetbo_bench.peers.optuna_tpe", "Optuna's group TPE, with the old trials added"
    ),
    "optuna-gp": Peer("hetbo_bench.peers.optuna_gp", "Optuna's GP sampler, without the old trials"),
    "ax": Peer("hetbo_bench.peers.ax_transfer", "Ax's transfer learning, with learned imputation"),
    "baybe": Peer(
        "hetbo_bench.peers.baybe_transfer",
        "BayBE's transfer learning, missing values at the centre",
    ),
}
"""What hetbo's own methods are compared with, by name."""

BENCHED: Mapping[str, Recipe | Peer] = {**METHODS, **COMPARATORS}
"""All methods that take part, by name."""


class HetboTuner:
    """A method of hetbo's engine.

    Args:
        recipe: The method.
        problem: The problem.
        start: What the replication starts from.
        seed: The seed of all random choices.
    """

    def __init__(self, recipe: Recipe, problem: Problem, start: Start, seed: int) -> None:
        self._optimizer = Optimizer(
            problem.space,
            sources=start.sources,
            goal=problem.goal,
            method=recipe,
            seed=seed,
            candidates=problem.candidates,
            fixed=problem.fixed,
        )
        self._asked: int | None = None

    def ask(self) -> Mapping[str, Value]:
        """Return the next parameters to try."""
        suggestion = self._optimizer.ask()
        self._asked = suggestion.number
        return suggestion.params

    def tell(self, params: Mapping[str, Value], value: float) -> None:
        """Take note of the value of some parameters."""
        asked = self._asked
        if asked is not None and self._optimizer.trials[asked].params == params:
            self._optimizer.tell(asked, value)
        else:
            self._optimizer.tell(params, value)
        self._asked = None


def tuner_named(name: str) -> Factory:
    """Return what makes the tuner of a method: one in `BENCHED`, or one of a user's file.

    A user's file defines a `Recipe`, or a function from a problem, a start and a seed to a tuner.

    Raises:
        DataError: There is no such method, or what it needs is not installed.
    """
    method = own_object(name) if is_own(name) else BENCHED.get(name)
    if isinstance(method, Recipe):
        return lambda problem, start, seed: HetboTuner(method, problem, start, seed)
    if isinstance(method, Peer):
        try:
            factory: Factory = import_module(method.module).tuner
        except ImportError as error:
            raise DataError(
                f"{name} needs a package that is not installed ({error.name}): "
                "in a checkout of hetbo, pip install './benchmarks[peers]'"
            ) from error
        return factory
    if callable(method):
        return method
    if method is not None:
        raise DataError(
            f"{name!r} is neither a Recipe nor a function from a problem, a start and a seed to a "
            "tuner"
        )
    raise DataError(
        f"unknown method {shown(name)}; expected one of {', '.join(BENCHED)}, or a file's, "
        "such as my_file.py:method"
    )
