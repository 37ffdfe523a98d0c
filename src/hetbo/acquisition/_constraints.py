"""How likely a point is to keep the constraints that trials have reported values of.

A constraint's value says how far off a trial was, and in which direction that changes; so it is
worth a model of its own. Without one, a search whose objective keeps rising beyond the edge of what
is allowed would have to be stopped there at every single place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from hetbo._arrays import BoolArray, FloatArray
from hetbo.acquisition._ensemble import Acquisition
from hetbo.encoding import Dataset, EncodedSources, Encoder
from hetbo.experiments import Goal, Trial
from hetbo.models import GPSurrogate, Predictor, TargetGP

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, slots=True)
class ProbabilityAbove:
    """The log probability that a model's function is at or above a threshold.

    Attributes:
        predictor: The model's predictions.
        threshold: The threshold, on the model's scale.
    """

    predictor: Predictor
    threshold: float

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log probability and its gradient at `k × d` points."""
        moments = self.predictor(X)
        z = (moments.mean - self.threshold) / moments.sd
        value = log_ndtr(z)
        # d log Φ(z) / dz = φ(z) / Φ(z)
        slope = np.exp(-0.5 * z * z - _LOG_SQRT_2PI - value) / moments.sd
        change = moments.mean_gradient - z[:, np.newaxis] * moments.sd_gradient
        return value, slope[:, np.newaxis] * change


@dataclass(frozen=True, slots=True)
class AllOf:
    """The sum of several terms: of log probabilities, that of independent events together.

    Attributes:
        parts: The terms.
    """

    parts: Sequence[Acquisition]

    def __call__(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum and its gradient at `k × d` points."""
        values, gradients = zip(*(part(X) for part in self.parts), strict=True)
        return np.sum(values, axis=0), np.sum(gradients, axis=0)


@dataclass(frozen=True, slots=True)
class Constraints:
    """The constraints that trials of the target reported.

    Attributes:
        kept: Shape `n`: which of the target's trials broke none.
        log_probabilities: For each constraint that was ever broken, the log probability that a
            point keeps it.
    """

    kept: BoolArray
    log_probabilities: Sequence[Acquisition] = ()

    @classmethod
    def fit(
        cls,
        reported: Sequence[Mapping[str, float]],
        encoder: Encoder,
        trials: Sequence[Trial],
        rng: np.random.Generator | None,
    ) -> "Constraints":
        """Learn from what trials reported.

        Args:
            reported: What each trial reported: values by the constraints' names, above 0 where
                one is broken. Empty if there are no constraints.
            encoder: The encoder of the joint space. Sources count for nothing in constraints.
            trials: The `n` trials of the target.
            rng: Where starts of fits come from; None to fit no models.
        """
        if not reported:
            return cls(np.ones(len(trials), dtype=np.bool_))
        kept = np.array([all(v <= 0 for v in one.values()) for one in reported], dtype=np.bool_)
        broken = sorted({name for one in reported for name, v in one.items() if v > 0})
        if rng is None:
            return cls(kept)
        fitted = []
        for name in broken:
            known = [(t, r[name]) for t, r in zip(trials, reported, strict=True) if name in r]
            tried, values = [t for t, _ in known], [v for _, v in known]
            fitted.append(constraint_kept(tried, values, encoder, rng))
        return cls(kept, fitted)

    def combined_with(self, other: Acquisition | None) -> Acquisition | None:
        """Return the sum of the log probabilities and another term; None if there is neither."""
        if not self.log_probabilities:
            return other
        return AllOf([*self.log_probabilities, *([] if other is None else [other])])


def constraint_kept(
    trials: Sequence[Trial], values: Sequence[float], encoder: Encoder, rng: np.random.Generator
) -> ProbabilityAbove:
    """Return the log probability that one constraint is kept, from a model of its values.

    Args:
        trials: Trials of the target.
        values: The constraint's value in each of them, above 0 where it is broken.
        encoder: The encoder of the joint space.
        rng: Where starts of the fit come from.
    """
    told = [
        Trial(trial.params, value)
        for trial, value in zip(trials, _finite(np.array(values)).tolist(), strict=True)
    ]
    data = Dataset.build(EncodedSources(encoder), told, goal=Goal.MINIMIZE)
    (own,) = rng.spawn(1)
    fitted = GPSurrogate(TargetGP).fit(data, rng=own)
    return ProbabilityAbove(fitted, float(fitted.scale.scale(np.zeros(1))[0]))


def _finite(values: FloatArray) -> FloatArray:
    """Return the values with infinite ones as far off as the farthest that is not."""
    finite = values[np.isfinite(values)]
    return np.clip(values, min([-1.0, *finite]), max([1.0, *finite]))
