"""Trials crash in regions, not at random: where some failed, others will."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.acquisition.constraints import constraint_kept
from hetbo.acquisition.weighted import Acquisition
from hetbo.encoding.encoder import FloatArray
from hetbo.experiments import Trial, TrialState
from hetbo.joint import JointSpace

_DETERRENT = 1000.0
"""How steeply a place loses, on the log scale, once a failure is likelier than a success."""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What the prospect of a crash takes from a place, on the log scale.

    It takes the log probability of success, and far more where that probability is below a half.
    The probability alone would not do: once the best place on the safe side is known, a model that
    is sure of itself sees next to nothing to gain there, and a small chance of a gain beyond the
    edge outweighs that by far, so trial after trial would crash. Places where a crash is likelier
    than not come last, however much they promise.

    Attributes:
        success: The log probability that a trial succeeds.
    """

    success: Acquisition

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of the factor and its gradient at `k × d` points."""
        value, gradient = self.success(X)
        probability = np.exp(value)
        short = np.maximum(0.5 - probability, 0.0)
        # dp = p d(log p)
        steeper = np.where(short > 0, 1 + _DETERRENT * probability, 1.0)
        return value - _DETERRENT * short, gradient * steeper[:, np.newaxis]


def feasibility_of(
    trials: Sequence[Trial], joint: JointSpace, rng: np.random.Generator
) -> Feasibility | None:
    """Learn where trials succeed from those that did and did not.

    Failing is a constraint that was kept or broken by 1. Its model is apart from the objective's,
    so a crash is never mistaken for a bad value. It has length-scales of its own: half a dozen
    trials can show that one parameter decides about crashes and the others do not matter.

    Args:
        trials: The trials of the target. Those that are pending say nothing.
        joint: The joint space. Failures of sources have no say.
        rng: Where starts of the fit come from.

    Returns:
        None if nothing failed.
    """
    ended = [trial for trial in trials if trial.state is not TrialState.PENDING]
    broken = [1.0 if trial.state is TrialState.FAILED else -1.0 for trial in ended]
    if 1.0 not in broken:
        return None
    return Feasibility(constraint_kept(ended, broken, joint, rng))
