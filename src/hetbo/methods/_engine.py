"""From everything that is known to the next point: fit, weigh, search."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from hetbo._arrays import FloatArray
from hetbo._threads import one_thread_for
from hetbo.acquisition import maximize
from hetbo.encoding import Dataset, EncodedSources, Encoder, Rows, Scaling
from hetbo.encoding._compression import has_long_bad_tail
from hetbo.experiments import Experiment, Goal, Trial, TrialState
from hetbo.experiments._penalties import without_penalties
from hetbo.joint import JointSpace, Member
from hetbo.joint._notes import shares_nothing, unshared_sentence
from hetbo.methods._acquisitions import Acquisitions
from hetbo.methods._fitted import Fitted, WarmStarts
from hetbo.methods._long_fits import announce_long, warn
from hetbo.methods._options import DEFAULT_INITIAL, checked_count
from hetbo.methods._points import Points
from hetbo.methods._recipes import EnsembleMember, Recipe, Sizes, recipe_of
from hetbo.methods._screening import is_noise, noise_sentence
from hetbo.methods._weighing import shares_of
from hetbo.models import FittedSurrogate, Preparing
from hetbo.spaces import Value

_COLD: WarmStarts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The next points to try.

    Attributes:
        points: Points of the cube, each of shape `d`.
        warm_starts: The parameters of each model, from which the next fit can start.
    """

    points: Sequence[FloatArray]
    warm_starts: WarmStarts


@dataclass(frozen=True, eq=False)
class Engine:
    """Chooses the next point of a target.

    Attributes:
        recipe: Which models choose.
        joint: The joint space.
        goal: The target's goal.
        n_initial: How many points cover the space before a model without sources chooses.
        candidates: The only parameters to choose from; None if all of the space is allowed.
        cover_seed: Scrambles the even cover of the space.
    """

    recipe: Recipe
    joint: JointSpace
    goal: Goal
    n_initial: int
    candidates: Sequence[Mapping[str, Value]] | None = None
    cover_seed: int = 0

    @classmethod
    def of(
        cls,
        method: str | Recipe,
        joint: JointSpace,
        goal: Goal,
        *,
        n_initial: int | None = None,
        candidates: Sequence[Mapping[str, Value]] | None = None,
        cover_seed: int = 0,
    ) -> "Engine":
        """Return the engine of a method.

        Args:
            method: The name of a method, or a recipe.
            joint: The joint space.
            goal: The target's goal.
            n_initial: How many points cover the space before a model without sources chooses;
                5 if None.
            candidates: The only parameters to choose from; None if all of the space is allowed.
            cover_seed: Scrambles the even cover of the space.

        Raises:
            OptimizerError: There is no such method, or `n_initial` is no count.
            SpaceError: There are more columns than can be modelled, or a candidate does not fit.
        """
        initial = DEFAULT_INITIAL if n_initial is None else checked_count("n_initial", n_initial)
        engine = cls(recipe_of(method), joint, goal, initial, candidates, cover_seed)
        _ = engine.encoder, engine.pool  # what they cannot hold is refused now
        return engine

    @cached_property
    def encoder(self) -> Encoder:
        """Between named trials and points of the cube."""
        return Encoder(self.joint)

    @cached_property
    def pool(self) -> FloatArray | None:
        """Shape `… × d`: the only allowed points; None if all of the space is allowed."""
        if self.candidates is None:
            return None
        pool: FloatArray = np.nan_to_num(self.encoder.encode(self.candidates))
        return pool

    @cached_property
    def points(self) -> Points:
        """The points that may be tried."""
        return Points(self.encoder, self.pool)

    @cached_property
    def dropped_sources(self) -> Mapping[str, str]:
        """The names of the sources that no model uses, and why, in a sentence."""
        return {
            source.name: reason
            for source in self._clipped_sources
            if source.complete and (reason := self._reason_to_drop(source)) is not None
        }

    @cached_property
    def screened(self) -> JointSpace:
        """The joint space as models see it: penalties clipped, no trials of dropped sources."""
        sources = (
            _without_trials(source) if source.name in self.dropped_sources else source
            for source in self._clipped_sources
        )
        return replace(self.joint, sources=tuple(sources))

    @cached_property
    def _clipped_sources(self) -> tuple[Experiment, ...]:
        if not self.recipe.clip_penalties:
            return self.joint.sources
        return tuple(map(without_penalties, self.joint.sources))

    def _reason_to_drop(self, source: Experiment) -> str | None:
        target = self.joint.target.space
        if shares_nothing(source, target):
            return unshared_sentence(source, target)
        judged = self.recipe.drop_noise_sources and not self._old_sizes.is_archive
        if judged and is_noise(source):
            return noise_sentence(source.name)
        return None

    def _sizes(self, trials: Sequence[Trial]) -> Sizes:
        """Return how much there is to learn from, before any source is dropped."""
        own = sum(trial.state is TrialState.COMPLETE for trial in trials)
        return replace(self._old_sizes, own=own)

    @cached_property
    def _old_sizes(self) -> Sizes:
        counts = [len(source.complete) for source in self.joint.sources]
        return Sizes(sum(count > 0 for count in counts), sum(counts), 0)

    @cached_property
    def sources(self) -> EncodedSources:
        """The sources as models see them, encoded."""
        return EncodedSources(self.encoder, self.screened.sources)

    @cached_property
    def compresses_tail(self) -> bool:
        """Whether models see bad values compressed: the sources have a long tail of them."""
        return self.recipe.compress_tail and has_long_bad_tail(
            source.goal.sign * np.array([trial.value for trial in source.complete], dtype=float)
            for source in self.screened.sources
        )

    def suggest(
        self,
        trials: Sequence[Trial],
        count: int,
        rng: np.random.Generator,
        *,
        order: int,
        constraints: Sequence[Mapping[str, float]] = (),
        parts: Sequence[Member] = (),
        warm_starts: WarmStarts = _COLD,
        announce: Callable[[str], None] | None = warn,
    ) -> Chosen:
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
            parts: The only parts of the target's space to choose from, each with some parameters
                held; all of the space if there are none.
            warm_starts: Where fits start: what an earlier one has returned.
            announce: Says that the first fit takes long; None to say nothing.
        """
        encoders = [self.encoder.within(part) for part in parts] or [self.encoder]
        fit_rng, search_rng, rest_rng = rng.spawn(3)
        known = np.nan_to_num(self.encoder.encode([trial.params for trial in trials]))
        if not self.uses_models(trials):
            return Chosen(self._covering(encoders, known, order, count, rest_rng), warm_starts)
        with self.one_thread(trials):
            fitted = self.fit(trials, fit_rng, warm_starts=warm_starts, announce=announce)
            acquisitions = Acquisitions.of(
                self.recipe,
                self.encoder,
                fitted,
                trials,
                fit_rng,
                known=known,
                reported=constraints,
            )
            chosen: list[FloatArray] = []
            for _ in range(count):
                encoder, x = self._best(encoders, acquisitions, chosen, search_rng)
                taken = _together(known, chosen)
                chosen.append(self._with_rest(encoder, x, fitted, taken, rest_rng))
        return Chosen(chosen, fitted.warm_starts)

    def _best(
        self,
        encoders: Sequence[Encoder],
        acquisitions: Acquisitions,
        chosen: Sequence[FloatArray],
        rng: np.random.Generator,
    ) -> tuple[Encoder, FloatArray]:
        """Return the best point of all parts of the space, and the encoder of its part.

        Args:
            encoders: An encoder for each part.
            acquisitions: What points are worth.
            chosen: The points that were chosen just before.
            rng: Where all randomness comes from.
        """
        taken = _together(acquisitions.known, chosen)
        waiting = [*acquisitions.pending, *chosen]
        beyond = 0.0 if self.pool is None else self.recipe.beyond_noise
        acquisition = acquisitions.pooled(waiting, rng, beyond=beyond)
        own = acquisitions.best_first(self.goal.sign)
        found = [
            maximize(
                acquisition,
                encoder,
                rng=rng,
                known=taken[self.points.inside(encoder, taken)],
                anchors=self.points.anchors(encoder, own, self._rows_to_follow, rng),
                pool=self.pool,
            )[0]
            for encoder in encoders
        ]
        if len(found) == 1:
            return encoders[0], found[0]
        # Where nothing but noise is left to gain, another part should have its turn.
        acquisition = acquisitions.pooled(waiting, rng, beyond=self.recipe.beyond_noise)
        best = self.points.best_new(acquisition, np.array(found), taken)
        return encoders[best], found[best]

    def fit(
        self,
        trials: Sequence[Trial],
        rng: np.random.Generator,
        *,
        warm_starts: WarmStarts = _COLD,
        announce: Callable[[str], None] | None = warn,
    ) -> Fitted:
        """Fit the active members, and weigh them.

        Args:
            trials: All trials of the target so far.
            rng: Where random starts of fits come from.
            warm_starts: Where fits start: what an earlier one has returned.
            announce: Says that the first fit takes long; None to say nothing.
        """
        with self.one_thread(trials):
            return self._fit(trials, rng, warm_starts, announce)

    def _fit(
        self,
        trials: Sequence[Trial],
        rng: np.random.Generator,
        warm_starts: WarmStarts,
        announce: Callable[[str], None] | None,
    ) -> Fitted:
        members = self._active(trials)
        scalings = {member.scaling: None for member in members.values()}
        data = {scaling: self._data(trials, scaling) for scaling in scalings}
        if announce is not None and not warm_starts:
            fits = [(one.surrogate, _seen(one, data)) for one in members.values()]
            announce_long(fits, self.recipe.first_starts, announce)
        models: dict[str, FittedSurrogate] = {}
        for name, member in members.items():
            (own,) = rng.spawn(1)
            # A surrogate that has nothing to start from says so by an empty one.
            warm = (warm_starts.get(name) or None) if self.recipe.later_starts else None
            starts = self.recipe.first_starts if warm is None else self.recipe.later_starts
            models[name] = member.surrogate.fit(
                data[member.scaling], rng=own, starts=starts, warm_start=warm
            )
        found = {name: model.warm_start for name, model in models.items()}
        return Fitted(models, shares_of(models, self.recipe), {**warm_starts, **found})

    def _data(self, trials: Sequence[Trial], scaling: Scaling) -> Dataset:
        compressed = self.compresses_tail
        return Dataset.build(
            self.sources, trials, goal=self.goal, scaling=scaling, compressed=compressed
        )

    def prepare(self, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Do ahead of the first `ask` what depends on the sources alone: digest an archive.

        Args:
            progress: Called with the numbers of sources that are done and to be done.
        """
        with self.one_thread(()):
            for member in self._active(()).values():
                if isinstance(member.surrogate, Preparing):
                    member.surrogate.prepare(self._data((), member.scaling), progress=progress)

    def one_thread(self, trials: Sequence[Trial]) -> AbstractContextManager[None]:
        """Compute with one thread within the block, unless models are exact and have many trials.

        Args:
            trials: All trials of the target so far.
        """
        sizes = self._sizes(trials)
        small = sizes.is_archive and self.recipe.suits_archives
        return one_thread_for(0 if small else sizes.old + len(trials))

    def _active(self, trials: Sequence[Trial]) -> Mapping[str, EnsembleMember]:
        complete = any(trial.state is TrialState.COMPLETE for trial in trials)
        useful = any(source.complete for source in self.screened.sources)
        sizes = self._sizes(trials)
        members = {n: member for n, member in self.recipe.members.items() if member.serves(sizes)}
        guided = useful and any(member.transfers for member in members.values())
        # A model that knows a handful of trials and no source likes corners that sources know to
        # be bad. Without sources it would have to wait as well.
        alone = complete and (len(trials) >= self.n_initial or not guided)
        return {
            name: member
            for name, member in members.items()
            if (alone if not member.transfers else useful or len(members) == 1)
        }

    def uses_models(self, trials: Sequence[Trial]) -> bool:
        """Return whether models choose, and not yet, or never, an even cover of the space."""
        if not self.recipe.members:
            return False
        complete = sum(trial.state is TrialState.COMPLETE for trial in trials)
        if any(member.transfers for member in self.recipe.members.values()) and any(
            source.complete for source in self.screened.sources
        ):
            return True
        return complete > 0 and len(trials) >= self.n_initial

    @property
    def _rows_to_follow(self) -> Sequence[Rows]:
        """The sources' trials, if any model transfers."""
        transfers = any(member.transfers for member in self.recipe.members.values())
        return self.sources.rows if transfers else ()

    def _covering(
        self,
        encoders: Sequence[Encoder],
        known: FloatArray,
        order: int,
        count: int,
        rng: np.random.Generator,
    ) -> list[FloatArray]:
        """Return points that are not taken: of an even cover of each part, or random ones."""
        seed = self.cover_seed if self.recipe.members else None
        chosen: list[FloatArray] = []
        for at in range(order, order + count):
            encoder, taken = encoders[at % len(encoders)], _together(known, chosen)
            chosen.append(self.points.covering(encoder, taken, at, rng, cover_seed=seed))
        return chosen

    def _with_rest(
        self,
        encoder: Encoder,
        x: FloatArray,
        fitted: Fitted,
        taken: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the point with parameters that the model does not see drawn at random."""
        unseen = set.intersection(*(set(model.unseen) for model in fitted.models.values()))
        return self.points.with_rest(encoder, x, unseen, taken, rng)


def _together(known: FloatArray, chosen: Sequence[FloatArray]) -> FloatArray:
    """Return the points of both, shape `… × d`."""
    return np.concatenate([known, np.array(chosen).reshape(-1, known.shape[1])])


def _seen(member: EnsembleMember, data: Mapping[Scaling, Dataset]) -> Dataset:
    """Return the trials that a member is fitted to."""
    own = data[member.scaling]
    return own if member.transfers else own.only_target()


def _without_trials(source: Experiment) -> Experiment:
    return Experiment(source.name, source.space, goal=source.goal, fixed=source.fixed)
