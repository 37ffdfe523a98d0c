"""The exact Gaussian processes as surrogates."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from hetbo._arrays import FloatArray
from hetbo.encoding import Dataset, OutcomeScale
from hetbo.models._base import TransferGP
from hetbo.models._correlation import correlation_density, task_correlations
from hetbo.models._findings import CorrelationDensity, LearnedValue, LeaveOneOut, SourceUse
from hetbo.models._fit import fit, seconds_to_fit
from hetbo.models._learned_values import learned_values
from hetbo.models._posterior import Posterior
from hetbo.models._surrogate import Moments


@dataclass(frozen=True, slots=True)
class GPSurrogate:
    """An exact Gaussian process over the trials of all experiments.

    Attributes:
        build: Makes the model from the trials.
    """

    build: Callable[[Dataset], TransferGP]

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,
        warm_start: tuple[float, ...] | None = None,
    ) -> "FittedGP":
        """Return the model with its most likely parameters; see `hetbo.models.fit`."""
        return FittedGP(fit(self.build(data), rng=rng, starts=starts, warm_start=warm_start))

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:
        """Return about how long a fit takes, from how long one evaluation does."""
        return seconds_to_fit(self.build(data), starts)


@dataclass(frozen=True, eq=False)
class FittedGP:
    """A fitted Gaussian process.

    Attributes:
        model: The model. Its parameters stay as they are from now on.
    """

    model: TransferGP

    @cached_property
    def _posterior(self) -> Posterior:
        return self.model.current_posterior()

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at `k × d` points, with gradients."""
        return self._posterior.moments(X)

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone."""
        return self._posterior.values(X)

    @property
    def scale(self) -> OutcomeScale:
        """How the target's values are scaled."""
        return self.model.data.scales[0]

    @property
    def observed(self) -> FloatArray:
        """The scaled values of the target's trials."""
        y: FloatArray = self.model.train_targets.numpy()
        return y[self.model.train_inputs[0][:, -2].numpy() == 0]

    @property
    def warm_start(self) -> tuple[float, ...]:
        """The parameters that were found."""
        report = self.model.fit_report
        return () if report is None else report.parameters

    @property
    def noise_shown(self) -> float:
        """The standard deviation of the noise beyond what was assumed beforehand."""
        assumed = self.model.settings.noise.mode
        return math.sqrt(max(self.model.target_noise - assumed, 0.0))

    @property
    def unseen(self) -> tuple[str, ...]:
        """The target's parameters of which the model knows nothing."""
        return self.model.unseen

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value."""
        return self._posterior.leave_one_out()

    def condition(self, X: FloatArray, y: FloatArray) -> "FittedGP":
        """Return the model with more trials of the target; its parameters stay as they are."""
        values = torch.from_numpy(y).unsqueeze(-1)
        return FittedGP(self.model.condition_on_observations(torch.from_numpy(X), values))

    def sources(self) -> SourceUse:
        """Return the correlation of each source with the target, and how much is signal."""
        correlations, variances = task_correlations(self.model)
        noise = np.broadcast_to(self.model.likelihood.noise.detach().numpy(), variances.shape)
        return SourceUse(correlations[0, 1:], variances[1:] / (variances[1:] + noise[1:]))

    def correlation(self, first: int, second: int) -> CorrelationDensity:
        """Return how two experiments are correlated, by their positions."""
        return correlation_density(self.model, first, second)

    @property
    def learns_values(self) -> bool:
        """Whether the values of missing parameters are learned."""
        return self.model.imputation.learned

    def learned_values(self) -> tuple[LearnedValue, ...]:
        """Return what was learned about each missing value."""
        return learned_values(self.model)
