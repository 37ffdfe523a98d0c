"""Which parameters a program asks for, depending on the values that others have.

A program with branches (a classifier is chosen, then its parameters) shows itself by trials with
different sets of parameters. Where the values of a category, or of an integer with few values, tell
these sets apart (`classifier`, `n_layers`), that parameter is a gate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import assert_never

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from hetbo.errors import SpaceError
from hetbo.experiments import Experiment
from hetbo.integrations.optuna._distributions import (
    Translatable,
    Translation,
    distribution_of,
    translatable,
    translations,
)
from hetbo.integrations.optuna._history import shows_its_space
from hetbo.integrations.optuna._studies import values_of
from hetbo.spaces import Categorical, Float, Int, Parameter, Value
from hetbo.spaces._values import choice_key

_MOST_VALUES = 10
"""An integer with more values is no gate: a few trials with two sets of parameters would often have
values of it that do not overlap, by chance."""


@dataclass(frozen=True, slots=True)
class Group:
    """Trials with one set of parameters.

    Attributes:
        space: The parameters.
        tried: The values of each trial, those of fixed parameters included.
    """

    space: Mapping[str, Translation]
    tried: tuple[Mapping[str, Value], ...]

    @classmethod
    def of(cls, experiment: Experiment) -> "Group":
        """Return the trials of a past experiment."""
        return cls(
            {name: _translated(parameter) for name, parameter in experiment.space.items()},
            tuple({**experiment.fixed, **trial.params} for trial in experiment.trials),
        )

    def seen(self, name: str) -> dict[tuple[bool, Value], Value]:
        """Return the values of a parameter that were tried, by their keys."""
        return {choice_key(tried[name]): tried[name] for tried in self.tried if name in tried}


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a program.

    Attributes:
        space: The parameters that are asked for.
        gates: The values that lead here, by the parameters that tell this branch from others. A
            value that no trial has had yet may lead anywhere, and is one of them in each branch.
        seen: The values that have led here.
        own: Whether trials of the study itself went this way, and not only old ones.
    """

    space: Mapping[str, Translation]
    gates: Mapping[str, tuple[Value, ...]]
    seen: Mapping[str, tuple[Value, ...]]
    own: bool

    def admits(self, values: Mapping[str, Value]) -> bool:
        """Return whether some values, of all parameters or of a few, lead here."""
        return all(
            choice_key(values[name]) in map(choice_key, allowed)
            for name, allowed in self.gates.items()
            if name in values
        )


def is_conditional(program: Sequence[Experiment]) -> bool:
    """Return whether the experiments that one study holds are branches of one program."""
    pairs = list(combinations(map(Group.of, program), 2))
    return bool(pairs) and all(_gates(one, other) for one, other in pairs)


def find_branches(
    trials: Sequence[FrozenTrial], programs: Iterable[Sequence[Experiment]]
) -> list[Branch]:
    """Return the branches of a study's program; nothing if it has none that can be told apart.

    The study's own trials say more than old ones: a branch that is known from an old program counts
    as long as the values that led there have not led elsewhere. An earlier set of parameters that
    is not told apart from a later one belongs to the past, unless the two take turns.

    Args:
        trials: The study's trials.
        programs: The experiments that each past study holds.
    """
    own = _own_groups(trials)
    if own is None or not own:
        return []
    groups, evidence = list(own), list(combinations(own, 2))
    current = {name: t for group in own[::-1] for name, t in group.space.items()}
    for program in programs:
        if not is_conditional(program):
            continue
        old = [Group.of(experiment) for experiment in program]
        evidence += combinations(old, 2)
        # What the current program has as well is as it is there.
        old = [
            replace(group, space={name: current.get(name, t) for name, t in group.space.items()})
            for group in old
        ]
        groups += [
            group
            for group in old
            if all(_reachable(group, known) and _gates(group, known) for known in groups)
        ]
    if len(groups) == 1:
        return []
    told = [
        name for one, other in [*evidence, *combinations(groups, 2)] for name in _gates(one, other)
    ]
    return [
        _branch(
            group, [other for other in groups if other is not group], told, own=index < len(own)
        )
        for index, group in enumerate(groups)
    ]


def tuned(trial: FrozenTrial) -> dict[str, BaseDistribution]:
    """Return the parameters of a trial that could have had other values."""
    return {name: d for name, d in trial.distributions.items() if not d.single()}


def _own_groups(trials: Iterable[FrozenTrial]) -> list[Group] | None:
    """Return a study's trials by their current sets of parameters, the latest first.

    Returns:
        None if two sets take turns without a parameter that tells them apart.
    """
    sets: dict[frozenset[tuple[str, str]], list[FrozenTrial]] = {}
    for trial in filter(shows_its_space, trials):
        key = frozenset((name, repr(d)) for name, d in tuned(trial).items())
        sets.setdefault(key, []).append(trial)
    current: list[tuple[Group, int]] = []
    for several in sorted(sets.values(), key=lambda several: -several[-1].number):
        space = translations(tuned(several[-1]))
        group = Group(space, tuple(values_of(trial, space) for trial in several))
        same = [first for other, first in current if not _gates(group, other)]
        if any(first < several[-1].number for first in same):
            return None
        if not same:
            current.append((group, several[0].number))
    return [group for group, _ in current]


def _translated(parameter: Parameter) -> Translation:
    labels = () if parameter.ordered else tuple(parameter.values or ())
    return Translation(distribution_of(parameter), translatable(parameter), labels)


def _gates(one: Group, other: Group) -> list[str]:
    """Return the parameters whose values tell two groups apart: categories, or else integers."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for name in {**one.space, **other.space}:
        parameters = [g.space[name].parameter for g in (one, other) if name in g.space]
        a, b = one.seen(name), other.seen(name)
        if not a or not b:
            continue
        if not any(p.ordered for p in parameters):
            found[True] += [name] if a.keys().isdisjoint(b) else []
        elif all(p.ordered and 0 < len(p.values or ()) <= _MOST_VALUES for p in parameters):
            found[False] += [name] if max(a) < min(b) or max(b) < min(a) else []
    return found[True] or found[False]


def _reachable(group: Group, known: Group) -> bool:
    """Return whether values that led to a group of old trials are among those to choose from."""
    for name in _gates(group, known):
        if name in known.space:
            choices = known.space[name].parameter
            if not any(fits(choices, value) for value in group.seen(name).values()):
                return False
    return True


def fits(parameter: Parameter, value: Value) -> bool:
    """Return whether a value is one of a parameter's."""
    try:
        parameter.check(value)
    except SpaceError:
        return False
    return True


def _branch(group: Group, others: Sequence[Group], told: Sequence[str], *, own: bool) -> Branch:
    """Return the branch of a group.

    Args:
        group: The trials that went there.
        others: Those that went elsewhere.
        told: What has told two groups apart, each time: where several parameters could be the
            gate, the one that has been most often is taken for it.
        own: Whether they are the study's own.
    """
    elsewhere: dict[str, list[Value]] = {}
    for other in others:
        gate = max(_gates(group, other), key=told.count)
        elsewhere.setdefault(gate, []).extend(other.seen(gate).values())
    gates = {}
    for name, values in elsewhere.items():
        known = [g.space[name].parameter for g in (group, *others) if name in g.space]
        gates[name] = _allowed(known[0], list(group.seen(name).values()), values)
    seen = {name: tuple(group.seen(name).values()) for name in gates}
    return Branch(group.space, gates, seen, own)


def _allowed(
    parameter: Translatable, here: Sequence[Value], elsewhere: Sequence[Value]
) -> tuple[Value, ...]:
    """Return a gate's values that have not led elsewhere.

    Of an integer, these are the ones around those that have led here. Real numbers, which are no
    gates, have none.
    """
    match parameter:
        case Int():
            numbers = [value for value in elsewhere if isinstance(value, int | float)]
            own = [value for value in here if isinstance(value, int | float)]
            low = max([parameter.low, *(int(n) + 1 for n in numbers if n < min(own))])
            high = min([parameter.high, *(int(n) - 1 for n in numbers if n > max(own))])
            return tuple(range(low, high + 1))
        case Categorical():
            taken = set(map(choice_key, elsewhere))
            return tuple(c for c in parameter.choices if choice_key(c) not in taken)
        case Float():
            return ()
        case _:
            assert_never(parameter)
