"""What a replication drives: hetbo's methods, and other tools' on the same terms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from hetbo.bench.problems.problem import Problem, Start
from hetbo.errors import DataError, shown
from hetbo.methods import METHODS
from hetbo.optimizer import Optimizer
from hetbo.spaces import Value


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


PEERS: Mapping[str, Peer] = {
    "optuna-tpe": Peer(
        "hetbo.bench.peers.optuna_tpe", "Optuna's group TPE, with the old trials added"
    ),
    "optuna-gp": Peer("hetbo.bench.peers.optuna_gp", "Optuna's GP sampler, without the old trials"),
    "ax": Peer("hetbo.bench.peers.ax_transfer", "Ax's transfer learning, with learned imputation"),
    "baybe": Peer(
        "hetbo.bench.peers.baybe_transfer",
        "BayBE's transfer learning, missing values at the centre",
    ),
}
"""Other tools by the names under which they take part."""


class HetboTuner:
    """One of hetbo's own methods.

    Args:
        method: A name in `hetbo.methods.METHODS`.
        problem: The problem.
        start: What the replication starts from.
        seed: The seed of all random choices.
    """

    def __init__(self, method: str, problem: Problem, start: Start, seed: int) -> None:
        self._optimizer = Optimizer(
            problem.space,
            sources=start.sources,
            goal=problem.goal,
            method=method,
            seed=seed,
            candidates=problem.candidates,
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
    """Return what makes the tuner called `name`.

    Raises:
        DataError: There is none of that name, or what it needs is not installed.
    """
    if name in METHODS:
        return lambda problem, start, seed: HetboTuner(name, problem, start, seed)
    if name not in PEERS:
        known = ", ".join([*METHODS, *PEERS])
        raise DataError(f"method {shown(name)} is none of {known}")
    try:
        factory: Factory = import_module(PEERS[name].module).tuner
    except ImportError as error:
        raise DataError(
            f"{name} needs a package that is not installed ({error.name}): "
            "pip install 'hetbo[bench-peers]'"
        ) from error
    return factory
