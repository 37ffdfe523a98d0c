"""The vector that a fit searches, and the model's parameters that it stands for."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hetbo._arrays import FloatArray
from hetbo.models._settings import LogNormal

_LARGEST_LOG = math.log(1e3)
_LARGEST_FACTOR = 30.0


@dataclass(frozen=True, slots=True)
class FitParameter:
    """A parameter that a module offers to the fit.

    Attributes:
        name: What the fit calls it.
        module: The module.
        attribute: The parameter's name in the module.
        prior: Its log-normal prior, if it has one.
        log: Whether its logarithm is searched, since it is positive.
    """

    name: str
    module: Any
    attribute: str
    prior: LogNormal | None = None
    log: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one parameter of the model stands in the vector that is searched.

    Attributes:
        parameter: The model's parameter.
        where: Its place in the vector.
        log: Whether the vector holds its logarithm.
        prior: Its log-normal prior, if it has one.
        low: The lowest value in the vector.
        high: The highest value in the vector.
    """

    parameter: Tensor
    where: slice
    log: bool
    prior: LogNormal | None
    low: float
    high: float


Slots = Mapping[str, Slot]
"""Where each parameter stands in the vector, by name."""


class ParameterVector:
    """The vector that is searched: a model's parameters, positive ones as logarithms.

    Args:
        parameters: The parameters in their order.

    Attributes:
        slots: Where each parameter stands.
        bounds: Shape `2 × k`: the box that is searched.
    """

    def __init__(self, parameters: Iterable[FitParameter]) -> None:
        self.slots: dict[str, Slot] = {}
        self.size = 0
        for offered in parameters:
            self.slots[offered.name] = slot = _slot(offered, self.size)
            self.size = slot.where.stop
        low, high = np.empty(self.size), np.empty(self.size)
        for slot in self.slots.values():
            low[slot.where], high[slot.where] = slot.low, slot.high
        self.bounds: FloatArray = np.stack([low, high])

    def read(self) -> FloatArray:
        """Return the model's parameters as a vector inside the bounds."""
        z = np.empty(self.size)
        for slot in self.slots.values():
            value = slot.parameter.detach().cpu().numpy().ravel()
            z[slot.where] = np.log(np.maximum(value, 1e-300)) if slot.log else value
        return np.clip(z, *self.bounds)

    def write(self, z: FloatArray) -> None:
        """Set the model's parameters from a vector."""
        for slot in self.slots.values():
            value = np.exp(z[slot.where]) if slot.log else z[slot.where]
            with torch.no_grad():
                slot.parameter.copy_(torch.from_numpy(value).reshape(slot.parameter.shape))

    def first(self, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Return where the first search starts: the model's parameters as they are."""
        return self.read()

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random start: near the priors' modes, values anywhere in their range."""
        z = np.empty(self.size)
        for name, slot in self.slots.items():
            z[slot.where] = self.drawn(name, rng)
        return np.clip(z, *self.bounds)

    def drawn(self, name: str, rng: np.random.Generator) -> FloatArray:
        """Return a random start of one parameter."""
        slot = self.slots[name]
        count = slot.where.stop - slot.where.start
        if name == "values":
            return rng.uniform(size=count)
        if name == "factor":
            # Whether an experiment agrees with the target or contradicts it: both are tried.
            return rng.normal(scale=0.8, size=count)
        if slot.prior is not None:
            return np.log(slot.prior.mode) + rng.normal(scale=0.7, size=count)
        return rng.normal(loc=-0.5 if slot.log else 0.0, scale=0.7, size=count)


def _slot(offered: FitParameter, first: int) -> Slot:
    parameter = getattr(offered.module, offered.attribute)
    constraint = getattr(offered.module, f"{offered.attribute}_constraint", None)
    low, high = -_LARGEST_FACTOR, _LARGEST_FACTOR
    if constraint is not None:
        low, high = float(constraint.lower_bound), float(constraint.upper_bound)
    if offered.log:
        low, high = math.log(low), min(math.log(high), _LARGEST_LOG)
    where = slice(first, first + parameter.numel())
    return Slot(parameter, where, offered.log, offered.prior, low, high)
