"""What the search maximizes: the expected improvement, pooled over several members."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from hetbo._arrays import FloatArray
from hetbo.acquisition._log_ei import log_expected_improvement
from hetbo.models import Predictor


class Acquisition(Protocol):
    """A function of points, with its gradient."""

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients at `k × d` points: shapes `k` and `k × d`."""


class Searchable(Acquisition, Protocol):
    """What the search maximizes."""

    def values(self, X: FloatArray) -> FloatArray:
        """Return values alone, in less time: shape `k`."""


Improvement = Callable[[FloatArray, FloatArray, float], tuple[FloatArray, FloatArray, FloatArray]]
"""From means, standard deviations and the best value so far to the log expected improvement and its
derivatives by the first two."""

_POWER = 0.25
"""Between a sum (1), in which each member can carry a point alone, and a product (0), in which
each can veto it."""


@dataclass(frozen=True, slots=True)
class MemberAcquisition:
    """One member's acquisition.

    Attributes:
        predictor: The model's predictions.
        best: What is to be improved upon, on the model's scale.
        weight: How far the model is trusted; all weights add up to 1.
        unit: How much 1 on the model's scale is in units of the outcome.
        improvement: The log expected improvement.
    """

    predictor: Predictor
    best: float
    weight: float = 1.0
    unit: float = 1.0
    improvement: Improvement = log_expected_improvement


@dataclass(frozen=True, slots=True)
class PooledLogEI:
    """The log of `(Σ_v w_v EI_v(x)^¼)⁴` of several members, plus a log-feasibility penalty.

    Where models agree this is about their expected improvement, and of a single model exactly that.
    A point that only models with a share `w` find promising counts as much less, `w⁴`: in a plain
    weighted sum whichever model is least sure decides where to search.

    Attributes:
        members: The models, with weights that are positive.
        feasibility: The log-feasibility penalty: the log probability that a trial neither fails
            nor breaks a constraint, or less. None if none has yet.
    """

    members: Sequence[MemberAcquisition]
    feasibility: Acquisition | None = None

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values and gradients at `k × d` points."""
        values, gradients = [], []
        for member in self.members:
            moments = member.predictor(X)
            value, by_mean, by_sd = member.improvement(moments.mean, moments.sd, member.best)
            values.append(_term(value, member))
            gradients.append(
                by_mean[:, np.newaxis] * moments.mean_gradient
                + by_sd[:, np.newaxis] * moments.sd_gradient
            )
        stacked = np.stack(values)
        largest = stacked.max(axis=0)
        shares = np.exp(stacked - largest)
        total = shares.sum(axis=0)
        shares /= total
        result = (largest + np.log(total)) / _POWER
        gradient = np.einsum("vk,vkd->kd", shares, np.stack(gradients))
        if self.feasibility is not None:
            penalty, slope = self.feasibility(X)
            result, gradient = result + penalty, gradient + slope
        return result, gradient

    def values(self, X: FloatArray) -> FloatArray:
        """Return values alone at `k × d` points."""
        logs = []
        for member in self.members:
            value, _, _ = member.improvement(*member.predictor.values(X), member.best)
            logs.append(_term(value, member))
        result: FloatArray = logsumexp(np.stack(logs), axis=0) / _POWER
        return result if self.feasibility is None else result + self.feasibility(X)[0]


def _term(log_improvement: FloatArray, member: MemberAcquisition) -> FloatArray:
    """Return the logs of what a member adds to the sum under the power."""
    term: FloatArray = np.log(member.weight) + _POWER * (log_improvement + np.log(member.unit))
    return term
