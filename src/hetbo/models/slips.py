"""The fit of learned imputation as the authors' runs had it, slips included.

Their code differs from what the paper describes in two ways, which the published runs show:

- Each step of the fit is judged, and its slope taken, with the missing values of the step before.
  What looks like the end of that search comes early, and depends on the way there.
- Lengths are learned in units of the range that was tried, and used for predictions as if they were
  in units of the range that is allowed.
"""

import numpy as np
import torch

from hetbo.encoding.encoder import FloatArray
from hetbo.models.base import TransferGP
from hetbo.models.marginal_likelihood import MarginalLikelihood


class LaggingLikelihood:
    """The log posterior per trial, a step behind with the missing values.

    Args:
        likelihood: The log posterior.
        trials: How many trials there are.

    Attributes:
        bounds: Shape `2 × k`: the box that is searched; missing values and what experiments share
            are free.
    """

    def __init__(self, likelihood: MarginalLikelihood, trials: int) -> None:
        self._likelihood = likelihood
        self._trials = trials
        slots = likelihood.coordinates.slots
        self._values = slots["values"].where
        self._before: FloatArray | None = None
        self.bounds = likelihood.coordinates.bounds.copy()
        for name in ("values", "factor"):
            if name in slots:
                self.bounds[:, slots[name].where] = np.array([[-np.inf], [np.inf]])

    def __call__(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the log posterior and its gradient, both per trial.

        Raises:
            NotPositiveDefinite: The covariance cannot be factored there.
        """
        lagging = z.copy()
        if self._before is not None:
            lagging[self._values] = self._before
        value, gradient = self._likelihood(lagging)
        if self._before is None:
            gradient = gradient.copy()
            gradient[self._values] = 0.0  # before the first step there are none to learn
        self._before = z[self._values].copy()
        return value / self._trials, gradient / self._trials


def forget_units(model: TransferGP) -> None:
    """Let lengths count in units of the range that is allowed, whatever they were learned in."""
    with torch.no_grad():
        for block in model.covar_module.shared.blocks:
            block.widths.fill_(1.0)
