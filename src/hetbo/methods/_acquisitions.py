"""What a point is worth, once the models of a method are fitted: to each, and to all together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hetbo._arrays import BoolArray, FloatArray
from hetbo.acquisition import Acquisition, MemberAcquisition, PooledLogEI, feasibility_of
from hetbo.acquisition._candidates import spread
from hetbo.acquisition._constraints import Constraints
from hetbo.acquisition._log_softplus_lcb import log_softplus_lcb
from hetbo.encoding import Encoder
from hetbo.experiments import Trial, TrialState
from hetbo.methods._fitted import Fitted
from hetbo.methods._recipes import Recipe
from hetbo.models import FittedSurrogate, Predictor

_SMALLEST_WEIGHT = 1e-6
_POINTS = 256
"""Before the target's first value, what is to be improved upon is predicted at so many points."""


@dataclass(frozen=True, eq=False)
class Acquisitions:
    """What points are worth by what is known when the next ones are to be chosen.

    Attributes:
        recipe: Which models choose.
        encoder: The encoder of the whole space.
        fitted: The models.
        trials: The `n` trials of the target.
        known: Shape `n × d`: their points.
        kept: Shape `n`: which of them broke no constraint.
        feasibility: The log probability that a trial succeeds and keeps all constraints; None if
            all did.
    """

    recipe: Recipe
    encoder: Encoder
    fitted: Fitted
    trials: Sequence[Trial]
    known: FloatArray
    kept: BoolArray
    feasibility: Acquisition | None

    @classmethod
    def of(
        cls,
        recipe: Recipe,
        encoder: Encoder,
        fitted: Fitted,
        trials: Sequence[Trial],
        rng: np.random.Generator,
        *,
        known: FloatArray,
        reported: Sequence[Mapping[str, float]],
    ) -> "Acquisitions":
        """Learn where trials succeed.

        Args:
            recipe: Which models choose.
            encoder: The encoder of the whole space.
            fitted: The models.
            trials: The `n` trials of the target.
            rng: Where random starts of fits come from.
            known: Shape `n × d`: their points.
            reported: What each trial reported of constraints, if there are any.
        """
        limits = Constraints.fit(reported, encoder, trials, rng)
        feasibility = limits.combined_with(feasibility_of(trials, encoder, rng))
        return cls(recipe, encoder, fitted, trials, known, limits.kept, feasibility)

    @property
    def pending(self) -> list[FloatArray]:
        """The points of trials that are still running, each of shape `d`."""
        states = (trial.state for trial in self.trials)
        pairs = zip(self.known, states, strict=True)
        return [point for point, state in pairs if state is TrialState.PENDING]

    @cached_property
    def _complete(self) -> BoolArray:
        """Shape `n`: which of the target's trials have a value."""
        return np.array([t.state is TrialState.COMPLETE for t in self.trials], dtype=np.bool_)

    def best_first(self, sign: int) -> FloatArray:
        """Return the points of complete trials that broke no constraint, the best one first.

        Args:
            sign: 1 if larger values are better, else -1.
        """
        own = np.flatnonzero(self._complete & self.kept).tolist()
        return self.known[sorted(own, key=lambda i: -sign * (self.trials[i].value or 0.0))]

    def pooled(
        self, waiting: Sequence[FloatArray], rng: np.random.Generator, *, beyond: float
    ) -> PooledLogEI:
        """Return what all models together expect of points.

        Args:
            waiting: Points of the target, each of shape `d`, that count as measured.
            rng: Where all randomness comes from.
            beyond: By how many standard deviations of noise a point should improve.
        """
        members = [
            self._of_member(model, self.fitted.weights[name], waiting, rng, beyond)
            for name, model in self.fitted.models.items()
            if self.fitted.weights[name] >= _SMALLEST_WEIGHT
        ]
        return PooledLogEI(members, self.feasibility)

    def _of_member(
        self,
        model: FittedSurrogate,
        weight: float,
        waiting: Sequence[FloatArray],
        rng: np.random.Generator,
        beyond: float,
    ) -> MemberAcquisition:
        some = bool(self._complete.any())
        kept = self.kept[self._complete]
        predictor: Predictor = model
        means, _ = model.values(
            self.known[self._complete] if some else spread(self.encoder, _POINTS, rng)
        )
        # If all broke a constraint, whatever keeps them is better than the worst of these.
        reached = means[kept] if some else means
        best = float(reached.max() if len(reached) else means.min())
        own = model.observed[kept]
        if self.recipe.improve_on == "observed" and len(own):
            best = float(own.max())
        if waiting:
            X = np.array(waiting)
            believed, _ = model.values(X)
            # It counts as measured, so it is something to improve upon.
            best = max(best, float(believed.max()))
            predictor = model.condition(X, believed)
        first = not some and not waiting
        improvement = log_softplus_lcb if first else self.recipe.improvement(rng, model.scale)
        # Where nothing can be refined, what is tried next had better stand out of the noise.
        # Elsewhere trials would leave the best place for corners as soon as they are near it.
        if beyond and not first:
            best += beyond * model.noise_shown
        # Improvements count in units of the outcome, which models may scale differently.
        return MemberAcquisition(predictor, best, weight, model.scale.spread, improvement)
