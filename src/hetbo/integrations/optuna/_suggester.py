"""From a study's trials to what is tried next: which space, which sources, which points."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo._sources import with_own_names
from hetbo.experiments import Experiment, Goal
from hetbo.integrations.optuna._branches import is_conditional
from hetbo.integrations.optuna._distributions import Translation, single_values
from hetbo.integrations.optuna._history import (
    History,
    in_some_trials,
    learned_space,
    shows_its_space,
)
from hetbo.integrations.optuna._notes import Notes
from hetbo.integrations.optuna._programs import Program
from hetbo.integrations.optuna._storage_access import planned_trial
from hetbo.integrations.optuna._studies import goal_of, past_experiments
from hetbo.integrations.optuna._targets import Target, Whole
from hetbo.joint import JointSpace
from hetbo.methods import Engine, Recipe, WarmStarts
from hetbo.spaces import Value

COLD: WarmStarts = MappingProxyType({})
"""Where fits start that are to depend on nothing but the trials."""


@dataclass
class Suggester:
    """Suggests parameters, together for a whole trial.

    Attributes:
        programs: What each source holds.
        given: What is tuned; learned from the study if None.
        fixed: Known values that the target has for parameters that only sources tune.
        method: A name in `hetbo.methods.METHODS`, or a `Recipe`.
        seed: Where randomness comes from.
        n_initial: How many trials cover the space, or each branch, before a model without sources
            is used.
        notes: What is said once.
        progress: Called with the numbers of sources that are digested and to be digested; if None,
            Optuna's log says it if that takes long.
        last: The last engine, and what it was made for.
    """

    programs: Sequence[Sequence[Experiment]]
    given: Mapping[str, BaseDistribution] | None
    fixed: Mapping[str, Value]
    method: str | Recipe
    seed: int
    n_initial: int
    notes: Notes
    progress: Callable[[int, int], None] | None = None
    last: tuple[tuple[Any, ...], Engine] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}

    @property
    def conditional(self) -> bool:
        """Whether a source is a program with branches."""
        return any(map(is_conditional, self.programs))

    def space(self, trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
        """Return the parameters to suggest together: given, or what a study's trials show."""
        space = self._learned(trials) if self.given is None else self.given
        return {name: d for name, d in space.items() if not d.single()}

    def program(self, trials: Sequence[FrozenTrial]) -> Program | None:
        """Return a study's branches; None if there are none, or a space was given."""
        return None if self.given is not None else Program.of(trials, self.programs)

    def target(self, trials: Sequence[FrozenTrial], space: Mapping[str, Translation]) -> Target:
        """Return what is suggested in: the branches of a program, or the whole of a space."""
        program = self.program(trials)
        return Whole(space, given=self.given is not None) if program is None else program

    def suggest(
        self,
        study: Study,
        numbers: range,
        rng: np.random.Generator,
        *,
        target: Target,
        history: History,
        warm_starts: WarmStarts = COLD,
    ) -> tuple[list[dict[str, Value]], WarmStarts]:
        """Return what some trials should try, and where the next fit can start.

        Args:
            study: The study.
            numbers: The trials' numbers.
            rng: Where randomness comes from.
            target: What is suggested in.
            history: What is known by now.
            warm_starts: Where fits start.
        """
        earlier = past_experiments(
            history.earlier, name=f"earlier in {study.study_name}", goal=goal_of(study)
        )
        fixed = {**history.fixed, **single_values(self.given or {}), **self.fixed}
        self.notes.sources(target.space, goal_of(study), self.fixed)
        parts = target.parts(history.own)
        joint = JointSpace.merge(
            target.space,
            with_own_names(target.sources([*self.programs, earlier])),
            fixed={name: value for name, value in fixed.items() if name not in target.space},
            warn=self.notes.warn,
        )
        n_initial = self.n_initial * max(len(parts), 1)
        engine = self._engine_for(joint, goal_of(study), n_initial, target.pool)
        chosen = engine.suggest(
            history.own,
            len(numbers),
            rng,
            order=numbers.start,
            constraints=history.constraints,
            parts=parts,
            warm_starts=warm_starts,
            announce=self.notes.long_fit,
        )
        own, proposals = list(history.own), list[dict[str, Value]]()
        for number, point in zip(numbers, chosen.points, strict=True):
            proposal = target.proposal(engine.encoder, point, own, rng)
            own += target.history([planned_trial(number, proposal)]).own
            proposals.append(proposal)
        return proposals, chosen.warm_starts

    def _learned(self, trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
        """Return what a study's trials show of the parameters to suggest together."""
        program = self.program(trials)
        if program is not None:
            self.notes.branches(program)
            return program.relative
        apart = in_some_trials(trials)
        if apart:
            self.notes.not_told_apart(apart)
        if self.conditional and not any(map(shows_its_space, trials)):
            return {}  # what a trial has so far is one branch, and need not be the best one
        return learned_space(trials)

    def _engine_for(
        self,
        joint: JointSpace,
        goal: Goal,
        n_initial: int,
        candidates: Sequence[Mapping[str, Value]] | None,
    ) -> Engine:
        """Return the last engine, which has the sources encoded, as long as nothing changes."""
        wanted = (joint, goal, n_initial, candidates)
        last = self.last
        if last is None or last[0] != wanted:
            engine = Engine.of(
                self.method,
                joint,
                goal,
                n_initial=n_initial,
                candidates=candidates,
                cover_seed=self.seed,
            )
            engine.prepare(progress=self.progress or self.notes.digesting)
            last = self.last = (wanted, engine)
        return last[1]
