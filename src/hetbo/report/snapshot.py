"""An optimizer's state as the report reads it: what `save` would write, and nothing private."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hetbo.engine import Engine, Fitted
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.joint import JointSpace
from hetbo.methods import METHODS
from hetbo.optimizer import Optimizer


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of an optimizer's state, so that a report changes nothing.

    Attributes:
        engine: An engine of its own, equal to the optimizer's.
        trials: The trials of the target.
        method: The name of the method.
        seeds: What the optimizer's next random generator is made from.
    """

    engine: Engine
    trials: tuple[Trial, ...]
    method: str
    seeds: tuple[int, int]

    @classmethod
    def of(cls, optimizer: Optimizer) -> Self:
        """Return the state of an optimizer."""
        state = optimizer.to_json()
        sources = [Experiment.from_json(source) for source in state["sources"]]
        engine = Engine(
            METHODS[state["method"]],
            JointSpace.merge(optimizer.space, sources, fixed=state["fixed"]),
            Goal.of(state["goal"]),
            n_initial=state["n_initial"],
            cover_seed=state["seed"],
            warm_starts={name: tuple(start) for name, start in state["warm_starts"].items()},
        )
        if state["candidates"] is not None:
            engine.pool = np.nan_to_num(engine.encoder.encode(state["candidates"]))
        return cls(engine, optimizer.trials, state["method"], (state["seed"], state["asks"]))

    def rng(self) -> np.random.Generator:
        """Return the generator that `Optimizer.explain` would use."""
        return np.random.default_rng(self.seeds)

    def fitted(self) -> Fitted | None:
        """Return the models that `Optimizer.explain` talks about; None if none has a say yet."""
        engine = self.fresh(self.method, warm=True)
        return engine.fit(self.trials, self.rng()) if engine.has_a_say(self.trials) else None

    def fresh(self, method: str, *, warm: bool = False) -> Engine:
        """Return an engine for the same experiments that has fitted nothing yet.

        Args:
            method: The name of its method.
            warm: Whether it starts from the optimizer's last fits.
        """
        starts = dict(self.engine.warm_starts) if warm else {}
        return replace(self.engine, recipe=METHODS[method], warm_starts=starts)
