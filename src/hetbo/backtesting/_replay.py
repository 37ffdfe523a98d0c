"""One replay: an old experiment searched again, with sources or without."""

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from hetbo import __version__
from hetbo.backtesting._pool import Pool, key_of
from hetbo.errors import DataError, FitError, HetboWarning, shown
from hetbo.experiments import Experiment
from hetbo.optimizer import Optimizer
from hetbo.spaces import Value


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay.

    Attributes:
        needed: After how many trials a good setting was found; one more than the budget if none
            was.
        dropped: The sources that the method did not use, and why.
    """

    needed: int
    dropped: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the replay as plain JSON data."""
        return {"needed": self.needed, "dropped": dict(self.dropped)}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the replay that `to_json` wrote.

        Raises:
            DataError: The data describes none.
        """
        match data:
            case {"needed": int(needed), "dropped": dict(dropped)} if needed > 0 and all(
                isinstance(reason, str) for reason in dropped.values()
            ):
                return cls(needed, dropped)
            case _:
                raise DataError(f"{shown(data)} is no replay")


@dataclass(frozen=True, slots=True)
class Job:
    """A replay to make.

    Attributes:
        target: The experiment whose settings are searched.
        sources: What the search learns from; none for a search without transfer.
        method: The method's name.
        repeat: Tells repeats with other random choices from each other.
        top: Which share of the settings is good.
        budget: After how many trials to give up.
        key: What the result depends on, in short: the data, the options, hetbo's version.
    """

    target: Experiment
    sources: tuple[Experiment, ...]
    method: str
    repeat: int
    top: float
    budget: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        experiments = [experiment.to_json() for experiment in (self.target, *self.sources)]
        options = [self.method, self.repeat, self.top, self.budget, __version__]
        object.__setattr__(self, "key", _digest([experiments, options]))

    @property
    def seed(self) -> int:
        """Where random choices come from: other ones for each target and repeat."""
        return int(_digest([self.target.to_json(), self.repeat])[:8], 16)

    def run(self) -> Replay:
        """Search the target's settings for a good one.

        Raises:
            FitError: A model could not be fitted.
        """
        target, pool = self.target, Pool.of(self.target, self.top)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HetboWarning)  # the plan's notes say it once
            optimizer = Optimizer(
                target.space,
                sources=self.sources,
                goal=target.goal,
                method=self.method,
                seed=self.seed,
                candidates=[trial.params for trial in pool.settings],
                fixed=fixed_for(target, self.sources),
            )
            try:
                needed = _trials_needed(optimizer, pool, self.budget)
            except FitError as error:
                raise FitError(f"{shown(target.name)} cannot be replayed: {error}") from error
            return Replay(needed, dict(optimizer.engine.dropped_sources))


def _trials_needed(optimizer: Optimizer, pool: Pool, budget: int) -> int:
    """Return the number of the first good trial; one more than the budget if none is."""
    trials = {key_of(trial.params): trial for trial in pool.settings}
    for number in range(1, budget + 1):
        suggestion = optimizer.ask()
        trial = trials[key_of(suggestion.params)]
        if pool.is_good(trial):
            return number
        if trial.value is None:
            optimizer.tell_failure(suggestion)
        else:
            optimizer.tell(suggestion, trial.value, noise=trial.noise)
    return budget + 1


def fixed_for(target: Experiment, sources: tuple[Experiment, ...]) -> dict[str, Value]:
    """Return the known values of a target for parameters that a source tunes."""
    tuned = {name for source in sources for name in source.space}
    return {name: value for name, value in target.fixed.items() if name in tuned}


def _digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
