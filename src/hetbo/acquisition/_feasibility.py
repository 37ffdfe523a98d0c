"""Trials crash in regions, not at random: where some failed, others will."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from hetbo._arrays import FloatArray
from hetbo.acquisition._constraints import constraint_kept
from hetbo.acquisition._ensemble import Acquisition
from hetbo.encoding import Encoder
from hetbo.experiments import Trial, TrialState

_DETERRENT = 1000.0
"""How steeply the penalty grows where success is too unlikely."""
_REACH = 0.15
"""How far, in parts of each parameter's range, a lone failure speaks for its neighbours."""
_SAME = 0.01
"""Closer than this, in parts of each parameter's range, trials are as good as in one place."""
_DOUBT = 0.25
"""How many successes a point is given before any trial has been made there."""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """The log-feasibility penalty of a point.

    It is the log probability of success, and far less where that is less than half of what it
    is, on average, at the trials that succeeded. The probability alone would not do: once the best
    place on the safe side is known, a model that is sure of itself sees next to nothing to gain
    there, and a small chance of a gain beyond the edge outweighs that by far, so trial after trial
    would crash. Where trials fail everywhere, as under a pruner, less is asked for.

    Attributes:
        success: The log probability that a trial succeeds.
        least: Points where the probability is smaller come last.
    """

    success: Acquisition
    least: float = 0.5

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the penalty and its gradient at `k × d` points."""
        value, gradient = self.success(X)
        probability = np.exp(value)
        short = np.maximum(self.least - probability, 0.0)
        # dp = p d(log p)
        steeper = np.where(short > 0, 1 + _DETERRENT * probability, 1.0)
        return value - _DETERRENT * short, gradient * steeper[:, np.newaxis]


@dataclass(frozen=True, slots=True)
class FarFromFailures:
    """The log probability of success from the distance to failures in some columns.

    `doubt / (doubt + Σ (reach / distance)⁴)`: next to nothing where a trial failed, and nearly 1
    away from it.

    Attributes:
        failed: Shape `f × d`: the points of the trials that failed.
        columns: The columns that matter.
    """

    failed: FloatArray
    columns: Sequence[int]

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log probability and its gradient at `k × d` points."""
        # Distances grow with the number of columns; the reach grows along.
        reach = _REACH * np.sqrt(max(len(self.columns), 1))
        apart = (X[:, np.newaxis, self.columns] - self.failed[:, self.columns]) / reach
        squared = (apart**2).sum(-1) + (_SAME / _REACH) ** 2
        total = _DOUBT + (squared**-2).sum(axis=1)
        gradient = np.zeros_like(X)
        # d(squared⁻²) = -4 squared⁻³ apart
        slope = (4 * squared[:, :, np.newaxis] ** -3 * apart).sum(axis=1) / reach
        gradient[:, self.columns] = slope / total[:, np.newaxis]
        return np.log(_DOUBT / total), gradient


@dataclass(frozen=True, slots=True)
class Suspicions:
    """The log probability of success while nothing has succeeded, under several suspicions.

    Any one parameter may be to blame, or all of them together. What each suspicion says is weighed
    by how well it foresaw the failures so far: if trials failed whatever one parameter was, while
    another one hardly moved, the other one is to blame, and the next trial moves it. A model would
    say more than it can know: trials that all ended alike fit length-scales of any size, and with
    large ones nothing is worth trying.

    Attributes:
        parts: What each suspicion says.
        weights: How far each is believed; they add up to 1.
    """

    parts: Sequence[FarFromFailures]
    weights: FloatArray

    @classmethod
    def of(cls, failed: FloatArray, groups: Sequence[Sequence[int]]) -> "Suspicions":
        """Weigh suspicions.

        Args:
            failed: Shape `f × d`: the points of the trials that failed, in their order.
            groups: The columns of each parameter that the target tunes.
        """
        every = [column for group in groups for column in group]
        suspects = [every, *groups] if len(groups) > 1 else [every]
        logs = np.zeros(len(suspects))
        for position in range(1, len(failed)):
            for index, columns in enumerate(suspects):
                before = FarFromFailures(failed[:position], columns)
                success, _ = before(failed[position : position + 1])
                logs[index] += np.log1p(-np.exp(success[0]))
        weights = np.exp(logs - logs.max())
        return cls([FarFromFailures(failed, c) for c in suspects], weights / weights.sum())

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log probability and its gradient at `k × d` points."""
        logs, gradients = zip(*(part(X) for part in self.parts), strict=True)
        joint = np.stack(logs) + np.log(self.weights)[:, np.newaxis]
        total = logsumexp(joint, axis=0)
        return total, np.einsum("pk,pkd->kd", np.exp(joint - total), np.stack(gradients))


def feasibility_of(
    trials: Sequence[Trial], encoder: Encoder, rng: np.random.Generator
) -> Feasibility | None:
    """Learn where trials succeed from those that did and did not.

    Failing is a constraint that was kept or broken by 1. Its model is apart from the objective's,
    so a crash is never mistaken for a bad value. It has length-scales of its own: a dozen trials
    can show that one parameter decides about crashes and the others do not matter. Until a trial
    has succeeded, the distance to the failures takes its place.

    Args:
        trials: The trials of the target. Those that are pending say nothing.
        encoder: The encoder of the joint space. Failures of sources count for nothing.
        rng: Where starts of the fit come from.

    Returns:
        None if nothing failed.
    """
    ended = [trial for trial in trials if trial.state is not TrialState.PENDING]
    broken = [1.0 if trial.state is TrialState.FAILED else -1.0 for trial in ended]
    if 1.0 not in broken:
        return None
    X = np.nan_to_num(encoder.encode([trial.params for trial in ended]))
    succeeded = X[np.array(broken) < 0]
    if not len(succeeded):
        groups = [encoder.columns.of(name) for name in encoder.joint.target.space]
        return Feasibility(Suspicions.of(X, groups), 0.0)
    success = constraint_kept(ended, broken, encoder, rng)
    there, _ = success(succeeded)
    return Feasibility(success, 0.5 * float(np.exp(there).mean()))
