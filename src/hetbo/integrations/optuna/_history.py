"""What a study's own trials say: which space is the current one, and which trials belong to it.

Optuna's spaces are defined by running. The set of parameters can differ from trial to trial for two
reasons: the program has branches, or somebody changed the program. Sets that come back are taken
for branches; a set that never comes back, after another one has taken over, belongs to the past.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from hetbo.errors import SpaceError
from hetbo.experiments import Trial
from hetbo.integrations.optuna._distributions import Translation, single_values
from hetbo.integrations.optuna._storage_access import published
from hetbo.integrations.optuna._studies import as_trial
from hetbo.spaces import Value


@dataclass(frozen=True, slots=True)
class History:
    """A study's trials, as seen from one target space.

    Attributes:
        own: The trials in the target's space, as hetbo holds them.
        numbers: The trials' numbers in the study.
        constraints: What each of these trials reported of constraints; empty if none did.
        fixed: The values of parameters that the latest of these trials could not vary.
        earlier: The ended trials in other spaces.
    """

    own: tuple[Trial, ...]
    numbers: tuple[int, ...]
    constraints: tuple[Mapping[str, float], ...]
    fixed: Mapping[str, Value]
    earlier: tuple[FrozenTrial, ...]

    @classmethod
    def of(
        cls, trials: Sequence[FrozenTrial], target: Mapping[str, Translation], *, given: bool
    ) -> "History":
        """Sort out a study's trials.

        Args:
            trials: The study's trials.
            target: The target's parameters.
            given: Whether the user gave the target's space, or it was learned from these trials.
        """
        start = None if given else _start(trials)

        def read(trial: FrozenTrial) -> dict[str, Value] | None:
            values = _values_in(target, trial)
            return values if values is not None and _belongs(trial, target, start) else None

        return cls.split(trials, read, target)

    @classmethod
    def split(
        cls,
        trials: Sequence[FrozenTrial],
        read: Callable[[FrozenTrial], dict[str, Value] | None],
        target: Container[str],
    ) -> "History":
        """Split a study's trials into the target's own and earlier ones.

        Args:
            trials: The study's trials.
            read: Returns the values that a trial has in the target's space, or None if it is not
                one of the target's.
            target: The names of the target's parameters.
        """
        own: list[tuple[FrozenTrial, Trial]] = []
        earlier: list[FrozenTrial] = []
        for trial in trials:
            values = read(trial)
            if values is not None:
                own.append((trial, as_trial(trial, values)))
            elif trial.state.is_finished():
                earlier.append(trial)
        latest = own[-1][0].distributions if own else {}
        reported = tuple(trial.constraints for trial, _ in own)
        return cls(
            tuple(trial for _, trial in own),
            tuple(trial.number for trial, _ in own),
            reported if any(reported) else (),
            single_values({n: d for n, d in latest.items() if n not in target}),
            tuple(earlier),
        )

    @property
    def pending(self) -> frozenset[int]:
        """The numbers of the trials that are under way."""
        states = zip(self.numbers, self.own, strict=True)
        return frozenset(number for number, trial in states if trial.state == "pending")


def shows_its_space(trial: FrozenTrial) -> bool:
    """Return whether a trial has all of its parameters: failed and running ones may not."""
    return trial.state in {TrialState.COMPLETE, TrialState.PRUNED} and bool(trial.params)


def learned_space(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Return the parameters, with their distributions, that all trials of the current space have.

    Trials that ended show their space. While there is none, the trial that got furthest does.
    """
    showing = [trial for trial in trials if shows_its_space(trial)]
    if not showing:
        furthest = max(trials, key=lambda trial: len(trial.params), default=None)
        return {} if furthest is None else dict(furthest.distributions)
    start = _start(trials)
    current = [trial for trial in showing if trial.number >= start]
    return {
        name: distribution
        for name, distribution in current[-1].distributions.items()
        if all(trial.distributions.get(name) == distribution for trial in current)
    }


def in_some_trials(trials: Sequence[FrozenTrial]) -> list[str]:
    """Return the parameters that some trials of the current space have, and others do not."""
    start = _start(trials)
    current = [trial for trial in trials if shows_its_space(trial) and trial.number >= start]
    names = dict.fromkeys(n for t in current for n, d in t.distributions.items() if not d.single())
    return [name for name in names if not all(name in t.distributions for t in current)]


def _start(trials: Iterable[FrozenTrial]) -> int:
    """Return the number of the first trial of the current space.

    That is the first trial with the latest set of parameters; or an earlier one, if a set that
    occurs since then had occurred before that.
    """
    showing = [trial for trial in trials if shows_its_space(trial)]
    sets = [frozenset((name, repr(d)) for name, d in t.distributions.items()) for t in showing]
    first: dict[frozenset[tuple[str, str]], int] = {}
    for position, parameters in enumerate(sets):
        first.setdefault(parameters, position)
    start = position = len(sets) - 1
    while position >= start and position >= 0:
        start = min(start, first[sets[position]])
        position -= 1
    return showing[start].number if showing else 0


def _values_in(target: Mapping[str, Translation], trial: FrozenTrial) -> dict[str, Value] | None:
    """Return the values of the target's parameters that a trial has; None if it does not fit."""
    proposal = {} if trial.state.is_finished() else published(trial)
    values: dict[str, Value] = {}
    for name, translation in target.items():
        try:
            if name in trial.params:
                if trial.distributions[name] != translation.distribution:
                    return None
                values[name] = translation.read(trial.params[name])
            elif name in proposal:
                values[name] = translation.parameter.check(proposal[name])
            else:
                return None
        except SpaceError:  # enqueued by a user, or proposed in another space: outside of this one
            return None
    return values


def _belongs(trial: FrozenTrial, target: Mapping[str, Translation], start: int | None) -> bool:
    """Return whether a trial that fits the target's space is one of the target's.

    In a learned space, trials from its start on are. Others must have the target's parameters only,
    or have been proposed in the target's space: in a given space all of them, and in a learned one
    those that failed or are running, which may well have begun before the first one ended.
    """
    if start is not None and trial.number >= start:
        return True
    if start is not None and shows_its_space(trial):
        return False
    more = [n for n, d in trial.distributions.items() if n not in target and not d.single()]
    return not more or published(trial).keys() == target.keys()
