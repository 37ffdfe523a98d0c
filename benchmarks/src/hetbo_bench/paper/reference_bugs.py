"""The fit of learned imputation as the authors' runs had it, with the bugs of their code.

Their code differs from what the paper describes in two ways, which the published runs show:

- Each step of the fit is judged, and its slope taken, with the missing values of the step before.
  What looks like the end of that search comes early, and depends on the way there.
- Lengths are learned in units of the range that was tried, and used for predictions as if they were
  in units of the range that is allowed.
"""

from dataclasses import dataclass

import numpy as np
import torch

from hetbo.encoding import Dataset
from hetbo.models import FittedGP, GPSurrogate, MarginalLikelihood, TransferGP, fit, maximize
from hetbo_bench.analysis.estimates import FloatArray
from hetbo_bench.paper.models import PaperImputedGP

_STEPS, _FTOL, _GTOL = 600, 2.2e-9, 1e-5


@dataclass(frozen=True, slots=True)
class BuggyImputation:
    """Learned imputation in the paper's settings, fitted with the bugs of the authors' code."""

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 1,
        warm_start: tuple[float, ...] | None = None,
    ) -> FittedGP:
        """Search once, until it seems to be there, and forget the units of lengths."""
        model = fit(
            PaperImputedGP(data),
            rng=rng,
            starts=starts,
            warm_start=warm_start,
            search=lambda likelihood, z: maximize(
                LaggingLikelihood(likelihood, len(data.y)),
                z,
                steps=_STEPS,
                ftol=_FTOL,
                gtol=_GTOL,
            ),
            last_search=lambda likelihood, z: (likelihood(z)[0], z),
        )
        forget_units(model)
        return FittedGP(model)

    def seconds_to_fit(self, data: Dataset, *, starts: int = 1) -> float:
        """Return about how long a fit takes."""
        return GPSurrogate(PaperImputedGP).seconds_to_fit(data, starts=starts)


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
        slots = likelihood.vector.slots
        self._values = slots["values"].where
        self._before: FloatArray | None = None
        self.bounds = likelihood.vector.bounds.copy()
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
