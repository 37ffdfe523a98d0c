"""One evaluated, failed or pending set of parameters."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias

from hetbo.errors import DataError, shown
from hetbo.spaces import Value
from hetbo.spaces._values import as_float


class Goal(StrEnum):
    """Which way is better."""

    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"

    @classmethod
    def of(cls, goal: str) -> Self:
        """Return the goal called `goal`.

        Raises:
            DataError: There is no such goal.
        """
        try:
            return cls(goal)
        except ValueError:
            raise DataError(f"goal={shown(goal)} must be 'minimize' or 'maximize'") from None

    @property
    def sign(self) -> int:
        """The factor that turns values into ones where larger is better."""
        return 1 if self is Goal.MAXIMIZE else -1


GoalName: TypeAlias = Goal | Literal["minimize", "maximize"]
"""A goal, or how it is written."""


class TrialState(StrEnum):
    """What became of a trial."""

    COMPLETE = "complete"
    FAILED = "failed"
    PENDING = "pending"

    @classmethod
    def of(cls, state: str) -> Self:
        """Return the state called `state`.

        Raises:
            DataError: There is no such state.
        """
        try:
            return cls(state)
        except ValueError:
            known = ", ".join(repr(member.value) for member in cls)
            raise DataError(f"unknown state {shown(state)}; expected one of {known}") from None


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Trial:
    """One set of parameters and what came of it.

    Args:
        params: The value of each parameter.
        value: What was measured; None unless the trial is complete.
        noise: The standard deviation of the measurement, if it is known.
        state: What became of the trial. If not given: complete with a value, else pending.

    Raises:
        DataError: State, value and noise do not fit together, or are not finite.
    """

    params: Mapping[str, Value]
    value: float | None
    noise: float | None
    state: TrialState

    def __init__(
        self,
        params: Mapping[str, Value],
        value: float | None = None,
        *,
        noise: float | None = None,
        state: TrialState | str | None = None,
    ) -> None:
        if state is None:
            state = TrialState.PENDING if value is None else TrialState.COMPLETE
        object.__setattr__(self, "params", MappingProxyType(dict(params)))
        object.__setattr__(self, "value", _finite_or_none("value", value))
        object.__setattr__(self, "noise", _finite_or_none("noise", noise))
        object.__setattr__(self, "state", TrialState.of(state))
        if (self.value is None) == (self.state is TrialState.COMPLETE):
            raise DataError(f"a {self.state} trial cannot have value={self.value!r}")
        if self.noise is not None and (self.noise < 0 or self.value is None):
            raise DataError(
                f"noise={self.noise!r} must be a standard deviation of at least 0, "
                "on a trial that has a value"
            )

    @classmethod
    def trusted(
        cls,
        params: dict[str, Value],
        value: float | None,
        noise: float | None,
        state: TrialState,
    ) -> Self:
        """Return a trial of what was checked before: state, value and noise fit together."""
        trial = cls.__new__(cls)
        object.__setattr__(trial, "params", MappingProxyType(params))
        object.__setattr__(trial, "value", value)
        object.__setattr__(trial, "noise", noise)
        object.__setattr__(trial, "state", state)
        return trial

    def __repr__(self) -> str:
        parts = [repr(dict(self.params))]
        parts += [] if self.value is None else [repr(self.value)]
        parts += [] if self.noise is None else [f"noise={self.noise!r}"]
        parts += [f"state={self.state.value!r}"] if self.state is TrialState.FAILED else []
        return f"Trial({', '.join(parts)})"

    def __hash__(self) -> int:
        return hash((frozenset(self.params.items()), self.value, self.noise, self.state))

    def to_json(self) -> dict[str, Any]:
        """Return the trial as plain JSON data."""
        data: dict[str, Any] = {"params": dict(self.params), "state": self.state.value}
        if self.value is not None:
            data["value"] = self.value
        if self.noise is not None:
            data["noise"] = self.noise
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the trial that `to_json` wrote.

        Raises:
            DataError: The data does not describe a trial.
        """
        match data:
            case {"params": dict(params), "state": str(state), **rest}:
                value = _finite_or_none("value", rest.pop("value", None))
                noise = _finite_or_none("noise", rest.pop("noise", None))
                if rest:
                    raise DataError(f"unknown key {shown(next(iter(rest)))} in a trial")
                return cls(params, value, noise=noise, state=state)
            case _:
                raise DataError(f"{shown(data)} does not describe a trial with params and state")

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes receive trials; a mapping proxy cannot travel by itself.
        return type(self).from_json, (self.to_json(),)


def _finite_or_none(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise DataError(f"{name}={shown(value)} must be a number")
    if not math.isfinite(as_float(value)):
        raise DataError(f"{name}={shown(value)} must be finite; a trial without a value has failed")
    return float(value)
