"""A program with branches as one space, in which a model can compare them.

All parameters of all branches make up one space. A trial has the values of its own branch; what it
was not asked for is idle, and stands at the centre of its range, the same for every trial. So one
model learns from all trials, old ones included, and what can be gained in one branch is on the same
scale as what can be gained in another.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from hetbo._arrays import FloatArray
from hetbo.encoding import Encoder
from hetbo.experiments import Experiment, Trial
from hetbo.integrations.optuna._branches import Branch, find_branches, fits, is_conditional, tuned
from hetbo.integrations.optuna._distributions import Translatable, Translation, hull, translatable
from hetbo.integrations.optuna._grids import on_grid, point_key
from hetbo.integrations.optuna._history import History, shows_its_space
from hetbo.integrations.optuna._storage_access import published
from hetbo.integrations.optuna._studies import values_of
from hetbo.joint import JointSpace, Member
from hetbo.spaces import Categorical, Float, Int, Parameter, Space, Value
from hetbo.spaces._values import choice_key


@dataclass(frozen=True, slots=True)
class Program:
    """The branches of a study's program.

    Attributes:
        branches: All branches.
        open: Those that are to be chosen from.
        space: All parameters of all branches.
        idle: What stands for each parameter where it is not asked for.
        held: Values that a trial has already; what else it needs is suggested.
    """

    branches: tuple[Branch, ...]
    open: tuple[Branch, ...]
    space: Space
    idle: Mapping[str, Value]
    held: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(
        cls, trials: Sequence[FrozenTrial], programs: Iterable[Sequence[Experiment]]
    ) -> "Program | None":
        """Return a study's program; None if it has no branches that can be told apart.

        Args:
            trials: The study's trials.
            programs: The experiments that each past study holds.
        """
        branches = find_branches(trials, programs)
        return cls._with(branches, branches) if branches else None

    @classmethod
    def _with(cls, branches: Sequence[Branch], choice: Sequence[Branch]) -> "Program":
        spaces = [branch.space for branch in branches]
        names = dict.fromkeys(name for space in spaces for name in space)
        space = Space.from_mapping(
            {
                name: _whole(name, [space[name] for space in spaces if name in space])
                for name in names
            }
        )
        return cls(tuple(branches), tuple(choice), space, _centre(space))

    @property
    def relative(self) -> dict[str, BaseDistribution]:
        """The parameters that the study's own trials show, where all branches agree on them."""
        found: dict[str, list[BaseDistribution]] = {}
        for branch in self.branches:
            for name, translation in branch.space.items() if branch.own else ():
                found.setdefault(name, []).append(translation.distribution)
        return {name: ds[0] for name, ds in found.items() if all(d == ds[0] for d in ds)}

    @property
    def pool(self) -> None:
        """None: branches have points of their own."""
        return None

    def parts(self, own: Sequence[Trial]) -> list[Member]:
        """Return what is to be chosen from, as parts of the whole space.

        Args:
            own: The study's trials. A branch whose points have all been tried is left out, unless
                there is no other.
        """
        return [part for _, part in self._parts(own)]

    def _parts(self, own: Sequence[Trial]) -> list[tuple[Branch, Member]]:
        left = [branch for branch in self.open if not _is_exhausted(branch, own)]
        parts = []
        for branch in self.open if self.held or not left else left:
            space, fixed = self._part(branch)
            if not space:  # a part has a parameter: one that makes no difference there
                name, *_ = sorted(self.space, key=lambda name: name in branch.space)
                space = {name: self.space[name]}
            fixed = {name: value for name, value in fixed.items() if name not in space}
            parts.append((branch, Member("target", Space.from_mapping(space), fixed)))
        return parts

    def _part(self, branch: Branch) -> tuple[dict[str, Parameter], dict[str, Value]]:
        space: dict[str, Parameter] = {}
        fixed: dict[str, Value] = {}
        for name in self.space:
            if name in self.held:
                fixed[name] = self.held[name]
            elif name in branch.gates:
                allowed = branch.gates[name]
                if len(allowed) > 1:
                    space[name] = _narrowed(translatable(self.space[name]), allowed)
                else:
                    fixed[name] = allowed[0]
            elif name in branch.space:
                space[name] = branch.space[name].parameter
            else:
                fixed[name] = self.idle[name]
        return space, fixed

    def history(self, trials: Sequence[FrozenTrial]) -> History:
        """Sort out a study's trials."""
        return History.split(trials, self._values_of, self.space)

    def agree(self, known: Mapping[str, Value], proposal: Mapping[str, Value]) -> bool:
        """Return whether what a trial has so far leads where its proposal does."""
        gates = {name for branch in self.branches for name in branch.gates}
        shared = gates & known.keys() & proposal.keys()
        return all(choice_key(known[name]) == choice_key(proposal[name]) for name in shared)

    def asked_for(
        self, name: str, distribution: BaseDistribution, known: Mapping[str, Value]
    ) -> "Program | None":
        """Return what is to be chosen from when an objective asks for a parameter.

        Args:
            name: The parameter.
            distribution: Its distribution.
            known: The values that the trial has so far.

        Returns:
            None if no branch has such a parameter.
        """
        asked = Translation.of(name, distribution)
        branches, choice = list[Branch](), list[Branch]()
        for branch in self.branches:
            there = branch
            if name in branch.space and branch.admits(known):
                if not branch.own:  # an old range may have moved
                    there = replace(branch, space={**branch.space, name: asked})
                if there.space[name].distribution == distribution:
                    choice.append(there)
            branches.append(there)
        if not choice:
            return None
        program = self._with(branches, choice)
        held = {n: v for n, v in known.items() if n in program.space and fits(program.space[n], v)}
        return replace(program, held=held)

    def proposal(
        self, encoder: Encoder, x: FloatArray, own: Sequence[Trial], rng: np.random.Generator
    ) -> dict[str, Value]:
        """Return the parameters of the branch that a point lies in.

        Args:
            encoder: The encoder of the whole space.
            x: The point, of shape `d`.
            own: The study's trials, whose values are not to be repeated.
            rng: Where randomness comes from.
        """
        (values,) = encoder.decode(x[np.newaxis])
        parts = self._parts(own)
        branch, part = next((pair for pair in parts if pair[0].admits(values)), parts[0])
        (free,) = encoder.within(part).decode(x[np.newaxis])
        params = {name: v for name, v in {**part.fixed, **free}.items() if name in branch.space}
        grid = {n: t for n, t in branch.space.items() if n in free and n not in branch.gates}
        rest = {name: value for name, value in params.items() if name not in grid}
        taken = [t.params for t in own if all(t.params[name] == v for name, v in rest.items())]
        return {**params, **on_grid(params, grid, taken, rng)}

    def sources(self, programs: Iterable[Sequence[Experiment]]) -> list[Experiment]:
        """Return what each past study holds: as one experiment, if it is one program."""
        found = []
        for program in programs:
            if is_conditional(program):
                found.append(self._as_one(program))
            else:
                found += [self._as_one([experiment]) for experiment in program]
        return found

    def _as_one(self, experiments: Sequence[Experiment]) -> Experiment:
        """Return the branches of an old program as one experiment, with what was idle filled in."""
        first, *others = experiments
        space = JointSpace.merge(first.space, others, fixed=first.fixed).space
        idle = {
            name: self.idle[name]
            if name in self.idle and fits(parameter, self.idle[name])
            else centre
            for (name, parameter), centre in zip(
                space.items(), _centre(space).values(), strict=True
            )
        }
        trials, asked = list[Trial](), set[str]()
        for experiment in experiments:
            for trial in experiment.trials:
                known = {**experiment.fixed, **trial.params}
                params = {name: known.get(name, idle[name]) for name in space}
                trials.append(Trial(params, trial.value, noise=trial.noise, state=trial.state))
                asked.update(*(branch.space for branch in self.branches if branch.admits(known)))
        fixed = {name: value for name, value in self.idle.items() if name not in asked}
        fixed |= _agreed([experiment.fixed for experiment in experiments])
        fixed = {name: value for name, value in fixed.items() if name not in space}
        return Experiment(first.name, space, trials, goal=first.goal, fixed=fixed)

    def _values_of(self, trial: FrozenTrial) -> dict[str, Value] | None:
        """Return a trial's values in the whole space; None if it went through no branch."""
        distributions = tuned(trial)
        known = {} if trial.state.is_finished() else published(trial)
        known.update(values_of(trial, distributions))
        for branch in self.branches:
            shown = {name: t.distribution for name, t in branch.space.items()}
            if shows_its_space(trial) and distributions != shown:
                continue
            if branch.space.keys() <= known.keys() and branch.admits(known):
                values = {**self.idle, **{name: known[name] for name in branch.space}}
                if all(fits(parameter, values[name]) for name, parameter in self.space.items()):
                    return self.space.check(values)
        return None

    def __str__(self) -> str:
        common = set.intersection(*(set(branch.space) for branch in self.branches))
        described = []
        for branch in self.branches:
            way = [name for name in self.space if name in branch.seen]
            gates = (f"{name}={'|'.join(map(str, branch.seen[name]))}" for name in way)
            own = [name for name in branch.space if name not in common and name not in way]
            described.append(f"{', '.join(gates)}: {', '.join(own) or 'nothing of its own'}")
        return f"{len(self.branches)} branches ({'; '.join(described)})"


def _is_exhausted(branch: Branch, own: Sequence[Trial]) -> bool:
    """Return whether all points of a branch have been tried."""
    counts = [
        len(branch.gates[name]) if name in branch.gates else translation.count
        for name, translation in branch.space.items()
    ]
    tried = {point_key(trial.params, branch.space) for trial in own if branch.admits(trial.params)}
    return None not in counts and len(tried) >= math.prod(count or 1 for count in counts)


def _agreed(several: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Return the values on which all mappings that have a name agree; the others are unknown."""
    found: dict[str, dict[tuple[bool, Value], Value]] = {}
    for fixed in several:
        for name, value in fixed.items():
            found.setdefault(name, {})[choice_key(value)] = value
    return {
        name: value
        for name, values in found.items()
        for value in values.values()
        if len(values) == 1
    }


def _whole(name: str, several: Sequence[Translation]) -> Parameter:
    """Return one parameter for what may have different ranges in different branches."""
    first = several[0].parameter
    if all(translation.parameter == first for translation in several):
        return first
    return hull(name, [translation.distribution for translation in several], []) or first


def _centre(space: Space) -> dict[str, Value]:
    """Return the parameters in the middle of a space; of a category, the first choice."""
    encoder = Encoder(JointSpace.merge(space))
    (params,) = encoder.decode(np.full((1, len(encoder.columns)), 0.5))
    return params


def _narrowed(parameter: Translatable, allowed: Sequence[Value]) -> Parameter:
    match parameter:
        case Int(log=log):
            numbers = [value for value in allowed if isinstance(value, int)]
            return Int(min(numbers), max(numbers), log=log)
        case Categorical() | Float():  # a number that is real in another branch has few values here
            return Categorical(*allowed)
        case _:
            assert_never(parameter)
