"""From everything that is known to the next point: fit, weigh, search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from hetbo.acquisition.candidates import every_point, from_unit, is_among, spread
from hetbo.acquisition.constraints import Allowed
from hetbo.acquisition.feasibility import feasibility_of
from hetbo.acquisition.log_ei import log_expected_improvement
from hetbo.acquisition.pooled import Improvement, Opinion, PooledLogEI
from hetbo.acquisition.predictor import Predictor
from hetbo.acquisition.sampled_log_ei import SampledLogEI
from hetbo.acquisition.search import maximise
from hetbo.acquisition.sure_gain import log_sure_gain
from hetbo.encoding import Dataset, Encoder
from hetbo.encoding.encoder import BoolArray, FloatArray
from hetbo.encoding.softening import has_long_bad_tail
from hetbo.experiments import Experiment, Goal, Trial, TrialState
from hetbo.joint import JointSpace
from hetbo.methods import Recipe, Voice
from hetbo.models import TransferGP, fit
from hetbo.penalties import without_penalties
from hetbo.screening import is_noise
from hetbo.threads import one_thread_for
from hetbo.weighing import shares_of

_SMALLEST_WEIGHT = 1e-6
_ANCHORS = 5
_SPARE = 64


@dataclass(frozen=True, slots=True)
class Fitted:
    """The models of a method, fitted to what is known.

    Attributes:
        models: The models by the names of their voices.
        weights: How far each is trusted; they add up to 1.
    """

    models: Mapping[str, TransferGP]
    weights: Mapping[str, float]


@dataclass(slots=True)
class Engine:
    """Chooses the next point of a target.

    Attributes:
        recipe: Which models have a say.
        joint: The joint space.
        goal: The target's goal.
        n_initial: How many points cover the space before a model without sources has a say.
        pool: The only allowed points, `… × d`; None if all of the space is allowed.
        cover_seed: Scrambles the even cover of the space.
        warm_starts: The parameters of each voice's last fit.
    """

    recipe: Recipe
    joint: JointSpace
    goal: Goal
    n_initial: int
    pool: FloatArray | None = None
    cover_seed: int = 0
    warm_starts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    encoder: Encoder = field(init=False)
    _heard: JointSpace | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.encoder = Encoder(self.joint)

    @property
    def heard(self) -> JointSpace:
        """The joint space as models see it: penalties tamed, and no trials of pure noise."""
        if self._heard is None:
            sources = self.joint.sources
            if self.recipe.tames:
                sources = tuple(map(without_penalties, sources))
            if self.recipe.screens:
                sources = tuple(_without_trials(s) if is_noise(s) else s for s in sources)
            self._heard = replace(self.joint, sources=sources)
        return self._heard

    @property
    def softens(self) -> bool:
        """Whether models see bad values brought nearer: the sources have a long tail of them."""
        return self.recipe.softens and has_long_bad_tail(
            source.goal.sign * np.array([trial.value for trial in source.complete], dtype=float)
            for source in self.heard.sources
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the sources that have no say because their values look like noise."""
        pairs = zip(self.joint.sources, self.heard.sources, strict=True)
        return tuple(given.name for given, heard in pairs if given.complete and not heard.complete)

    def suggest(
        self,
        trials: Sequence[Trial],
        count: int,
        rng: np.random.Generator,
        *,
        order: int,
        constraints: Sequence[Mapping[str, float]] = (),
    ) -> list[FloatArray]:
        """Return the next points to try.

        Args:
            trials: All trials of the target so far; those that are pending count as taken.
            count: How many points to return.
            rng: Where all randomness comes from.
            order: The position of the first of these points in the sequence that covers the space
                evenly.
            constraints: What each trial reported of constraints, if there are any: values by their
                names, above 0 where one is broken. The value of a trial that broke one stays in
                the model of the objective, but is nothing to improve upon.

        Returns:
            Points of the cube, each of shape `d`.
        """
        fit_rng, search_rng, rest_rng = rng.spawn(3)
        known = np.nan_to_num(self.encoder.encode([trial.params for trial in trials]))
        pending = [
            k for k, trial in zip(known, trials, strict=True) if trial.state is TrialState.PENDING
        ]
        chosen: list[FloatArray] = []
        with one_thread_for(sum(len(source.trials) for source in self.joint.sources) + len(trials)):
            fitted = self.fit(trials, fit_rng) if self.has_a_say(trials) else None
            allowed = Allowed.by(constraints, self.joint, trials, fit_rng if fitted else None)
            chance = allowed.and_also(
                feasibility_of(trials, self.joint, fit_rng) if fitted else None
            )
            for index in range(count):
                taken = np.concatenate([known, np.array(chosen).reshape(-1, known.shape[1])])
                if fitted is None:
                    chosen.append(self._covering(taken, order + index, rest_rng))
                    continue
                opinions = self._opinions(
                    fitted, trials, known, [*pending, *chosen], search_rng, allowed=allowed
                )
                x, _ = maximise(
                    PooledLogEI(opinions, chance),
                    self.encoder,
                    rng=search_rng,
                    known=taken,
                    anchors=self._anchors(trials, known, search_rng, allowed=allowed),
                    pool=self.pool,
                )
                chosen.append(self._with_rest(x, fitted, taken, rest_rng))
        return chosen

    def fit(self, trials: Sequence[Trial], rng: np.random.Generator) -> Fitted:
        """Fit the voices that have a say, and weigh them.

        Args:
            trials: All trials of the target so far.
            rng: Where starts of fits come from.
        """
        voices = self._voices(trials)
        heard, softened = self.heard, self.softens
        data = {
            scaling: Dataset.build(
                heard, trials, goal=self.goal, scaling=scaling, softened=softened
            )
            for scaling in {voice.scaling: None for voice in voices.values()}
        }
        models: dict[str, TransferGP] = {}
        for name, voice in voices.items():
            (own,) = rng.spawn(1)
            warm = self.warm_starts.get(name) if self.recipe.later_starts else None
            model = voice.build(data[voice.scaling])
            starts = self.recipe.first_starts if warm is None else self.recipe.later_starts
            models[name] = fit(model, rng=own, starts=starts, warm_start=warm)
            report = models[name].fit_report
            if report is not None:
                self.warm_starts[name] = report.parameters
        return Fitted(models, shares_of(models, self.recipe))

    def _voices(self, trials: Sequence[Trial]) -> Mapping[str, Voice]:
        complete = any(trial.state is TrialState.COMPLETE for trial in trials)
        useful = any(source.complete for source in self.heard.sources)
        voices = self.recipe.voices
        guided = useful and any(voice.transfers for voice in voices.values())
        # A model that knows a handful of trials and no source likes corners that sources know to
        # be bad. Without sources it would have to wait as well.
        alone = complete and (len(trials) >= self.n_initial or not guided)
        return {
            name: voice
            for name, voice in voices.items()
            if (alone if not voice.transfers else useful or len(voices) == 1)
        }

    def has_a_say(self, trials: Sequence[Trial]) -> bool:
        """Tell whether models choose, and not yet, or never, an even cover of the space."""
        if not self.recipe.voices:
            return False
        complete = sum(trial.state is TrialState.COMPLETE for trial in trials)
        if any(voice.transfers for voice in self.recipe.voices.values()) and any(
            source.complete for source in self.heard.sources
        ):
            return True
        return complete > 0 and len(trials) >= self.n_initial

    def _opinions(
        self,
        fitted: Fitted,
        trials: Sequence[Trial],
        known: FloatArray,
        pending: Sequence[FloatArray],
        rng: np.random.Generator,
        *,
        allowed: Allowed,
    ) -> list[Opinion]:
        complete = np.array([trial.state is TrialState.COMPLETE for trial in trials], dtype=bool)
        feasible = complete & allowed.trials
        opinions = []
        for name, model in fitted.models.items():
            if fitted.weights[name] < _SMALLEST_WEIGHT:
                continue
            predictor = Predictor(model)
            places = known[complete] if complete.any() else spread(self.encoder, 256, rng)
            means = predictor(places).mean
            # If all broke a constraint, whatever keeps them is better than the worst of these.
            reached = means[feasible[complete]] if complete.any() else means
            best = float(reached.max() if len(reached) else means.min())
            own = model.train_targets[: int(complete.sum())][torch.from_numpy(feasible[complete])]
            if self.recipe.improve_on == "observed" and len(own):
                best = float(own.max())
            if len(pending):
                X = np.array(pending)
                believed = predictor(X).mean
                # It counts as measured, so it is something to improve upon.
                best = max(best, float(believed.max()))
                predictor = Predictor(
                    model.condition_on_observations(
                        torch.from_numpy(X), torch.from_numpy(believed).unsqueeze(-1)
                    )
                )
            first = not complete.any() and not len(pending)
            improvement = log_sure_gain if first else self._improvement(model, rng)
            # Where nothing can be refined, what is tried next had better stand out of the noise.
            # Elsewhere trials would leave the best place for corners as soon as they are near it.
            if self.pool is not None and not first:
                best += self.recipe.beyond_noise * _noise_shown(model)
            # Improvements count in units of the outcome, which models may scale differently.
            unit = model.data.scales[0].spread
            opinions.append(Opinion(predictor, best, fitted.weights[name], unit, improvement))
        return opinions

    def _improvement(self, model: TransferGP, rng: np.random.Generator) -> Improvement:
        if self.recipe.improvement == "exact":
            return log_expected_improvement
        return SampledLogEI(rng, spread=model.data.scales[0].spread)

    def _anchors(
        self,
        trials: Sequence[Trial],
        known: FloatArray,
        rng: np.random.Generator,
        *,
        allowed: Allowed,
    ) -> FloatArray:
        """Return the best points of the target and of each source, new parameters anywhere."""
        complete = [i for i, trial in enumerate(trials) if trial.state is TrialState.COMPLETE]
        own = [i for i in complete if allowed.trials[i]]
        own.sort(key=lambda i: -self.goal.sign * (trials[i].value or 0.0))
        anchors = [known[own[:_ANCHORS]]]
        if not any(voice.transfers for voice in self.recipe.voices.values()):
            return anchors[0]
        for index, source in enumerate(self.heard.sources, start=1):
            ranked = sorted(source.complete, key=lambda t: -source.goal.sign * (t.value or 0.0))
            X = self.encoder.encode([trial.params for trial in ranked[:_ANCHORS]], index)
            fresh = from_unit(self.encoder, rng.random((len(X), len(self.joint.target.space))))
            # What the source alone tunes is at the target's value, not at the source's.
            X = np.where(np.isnan(X) | ~self._tuned, fresh, X)
            anchors.append(self.encoder.snap(X))
        return np.concatenate(anchors)

    def _covering(self, taken: FloatArray, order: int, rng: np.random.Generator) -> FloatArray:
        """Return a point that is not taken: of an even cover of the space, or a random one."""
        columns = self.encoder.columns.of(*self.joint.target.space)
        if self.pool is not None:
            points = self.pool[rng.permutation(len(self.pool))]
        elif self.recipe.voices:
            cover_rng = np.random.default_rng(self.cover_seed)
            points = spread(self.encoder, order + _SPARE, cover_rng)[order:]
        else:
            points = self._random(rng)
        free = points[~is_among(points, taken, columns)]
        if len(free) == 0 and self.pool is None:
            # Few points are left, if any: go through all of them, where they can be counted.
            every = every_point(self.encoder)
            if every is not None:
                every = rng.permutation(every)
                free = every[~is_among(every, taken, columns)]
        first: FloatArray = free[0] if len(free) else points[0]
        return first

    def _with_rest(
        self, x: FloatArray, fitted: Fitted, taken: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the point with parameters that the model does not see drawn at random."""
        unseen = set.intersection(*(set(model.unseen) for model in fitted.models.values()))
        if not unseen:
            return x
        columns = self.encoder.columns.of(*self.joint.target.space)
        if self.pool is None:
            drawn = self.encoder.columns.of(*unseen)
            points = np.tile(x, (_SPARE, 1))
            points[:, drawn] = self._random(rng)[:, drawn]
        else:
            seen = self.encoder.columns.of(*(n for n in self.joint.target.space if n not in unseen))
            points = self.pool[is_among(self.pool, x[np.newaxis], seen)] if seen else self.pool
            points = rng.permutation(points)
        free = points[~is_among(points, taken, columns)]
        completed: FloatArray = free[0] if len(free) else x
        return completed

    @property
    def _tuned(self) -> BoolArray:
        """Shape `d`: which columns the target tunes."""
        space = self.joint.target.space
        return np.array([column.parameter in space for column in self.encoder.columns])

    def _random(self, rng: np.random.Generator) -> FloatArray:
        """Return some random points, so that there is another one if the first is taken."""
        return from_unit(self.encoder, rng.random((_SPARE, len(self.joint.target.space))))


def _noise_shown(model: TransferGP) -> float:
    """Return the standard deviation of the noise that the target's trials show.

    Until they show any, a model has what was assumed beforehand, and nothing has to exceed that:
    without noise the smallest improvement is one.
    """
    return math.sqrt(max(model.target_noise - model.settings.noise.mode, 0.0))


def _without_trials(source: Experiment) -> Experiment:
    return Experiment(source.name, source.space, goal=source.goal, fixed=source.fixed)
