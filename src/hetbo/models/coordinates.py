"""The vector that a fit searches, and the model's parameters that it stands for."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from hetbo.encoding.encoder import FloatArray
from hetbo.models.settings import LogNormal

if TYPE_CHECKING:
    from hetbo.models.base import TransferGP

_LARGEST_LOG = math.log(1e3)
_LARGEST_FACTOR = 30.0


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


class Coordinates:
    """The vector that is searched: the model's parameters, positive ones as logarithms.

    Args:
        model: The model.

    Attributes:
        slots: Where each parameter stands.
        bounds: Shape `2 × k`: the box that is searched.
    """

    def __init__(self, model: "TransferGP") -> None:
        self.slots: dict[str, Slot] = {}
        # Without trials of the target only the start says whether it goes along with the sources
        # or against them; a random one would toss a coin.
        tried = bool((model.data.experiment == 0).any())
        self._task_anywhere = model.covar_module.shared.task.starts_anywhere and tried
        self.size = 0
        shared, residual = model.covar_module.shared, model.covar_module.residual
        for index, block in enumerate(shared.blocks):
            self._add(f"length scales {index}", block, "raw_lengthscale", prior=block.prior)
        if shared.learned_weights:
            self._add("weights", shared, "raw_weight", prior=shared.prior)
        if shared.task.learned:
            self._add("factor", shared.task, "factor", log=False)
            self._add("own", shared.task, "raw_own")
        if shared.presence is not None:
            presence = shared.presence
            self._add("presence scales", presence, "raw_lengthscale", prior=presence.prior)
            if presence.learned_weight:
                self._add("presence weight", presence, "raw_weight")
        if residual is not None:
            base = residual.base
            self._add("residual scales", base, "raw_lengthscale", prior=base.prior)
            self._add("residual variances", residual, "raw_variance", prior=residual.prior)
        noise = model.likelihood.noise_covar
        self._add("noise", noise, "raw_noise", prior=noise.prior)
        if model.imputation.learned:
            self._add("values", model.imputation, "raw_values", log=False)
            self._add("logits", model.imputation, "logits", log=False)
        low, high = np.empty(self.size), np.empty(self.size)
        for slot in self.slots.values():
            low[slot.where], high[slot.where] = slot.low, slot.high
        self.bounds: FloatArray = np.stack([low, high])

    def _add(
        self,
        name: str,
        module: Any,  # noqa: ANN401  # GPyTorch is untyped
        attribute: str,
        *,
        prior: LogNormal | None = None,
        log: bool = True,
    ) -> None:
        parameter = getattr(module, attribute)
        constraint = getattr(module, f"{attribute}_constraint", None)
        low, high = -_LARGEST_FACTOR, _LARGEST_FACTOR
        if constraint is not None:
            low, high = float(constraint.lower_bound), float(constraint.upper_bound)
        if log:
            low, high = math.log(low), min(math.log(high), _LARGEST_LOG)
        where = slice(self.size, self.size + parameter.numel())
        self.slots[name] = Slot(parameter, where, log, prior, low, high)
        self.size = where.stop

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

    def first(self, rng: np.random.Generator) -> FloatArray:
        """Return the model's parameters, with what may start anywhere drawn at random."""
        z = self.read()
        if self._task_anywhere:
            for name in ("factor", "own"):
                z[self.slots[name].where] = self._drawn(name, rng)
        return np.clip(z, *self.bounds)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random start: near the priors' modes, values anywhere in their range."""
        z = np.empty(self.size)
        for name, slot in self.slots.items():
            z[slot.where] = self._drawn(name, rng)
        return np.clip(z, *self.bounds)

    def _drawn(self, name: str, rng: np.random.Generator) -> FloatArray:
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
