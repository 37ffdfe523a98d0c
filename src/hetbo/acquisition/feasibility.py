"""Trials crash in regions, not at random: where some failed, others will."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.acquisition.constraints import constraint_kept
from hetbo.acquisition.weighted import Acquisition
from hetbo.encoding import Encoder
from hetbo.encoding.encoder import FloatArray
from hetbo.experiments import Trial, TrialState
from hetbo.joint import JointSpace

_DETERRENT = 1000.0
"""How steeply a place loses, on the log scale, where success is too unlikely."""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What the prospect of a crash takes from a place, on the log scale.

    It takes the log probability of success, and far more where that is less than half of what it
    is, on average, at the trials that succeeded. The probability alone would not do: once the best
    place on the safe side is known, a model that is sure of itself sees next to nothing to gain
    there, and a small chance of a gain beyond the edge outweighs that by far, so trial after trial
    would crash. Where trials fail everywhere, as under a pruner, less is asked for.

    Attributes:
        success: The log probability that a trial succeeds.
        least: Places where the probability is smaller come last.
    """

    success: Acquisition
    least: float = 0.5

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of the factor and its gradient at `k × d` points."""
        value, gradient = self.success(X)
        probability = np.exp(value)
        short = np.maximum(self.least - probability, 0.0)
        # dp = p d(log p)
        steeper = np.where(short > 0, 1 + _DETERRENT * probability, 1.0)
        return value - _DETERRENT * short, gradient * steeper[:, np.newaxis]


def feasibility_of(
    trials: Sequence[Trial], joint: JointSpace, rng: np.random.Generator
) -> Feasibility | None:
    """Learn where trials succeed from those that did and did not.

    Failing is a constraint that was kept or broken by 1. Its model is apart from the objective's,
    so a crash is never mistaken for a bad value. It has length-scales of its own: a dozen trials
    can show that one parameter decides about crashes and the others do not matter.

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
    success = constraint_kept(ended, broken, joint, rng)
    succeeded = [trial.params for trial in ended if trial.state is TrialState.COMPLETE]
    if not succeeded:
        return Feasibility(success, 0.0)
    there, _ = success(np.nan_to_num(Encoder(joint).encode(succeeded)))
    return Feasibility(success, 0.5 * float(np.exp(there).mean()))
