"""A study that `hetbo init` made: what it tunes, where it learns from, what was tried."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as State

from hetbo.cli._names import listed
from hetbo.cli._option_messages import said_for_init
from hetbo.cli._sources import read_stored
from hetbo.cli._storages import storage_at, study_in
from hetbo.errors import DataError, HetboError, shown
from hetbo.experiments import Experiment, Goal
from hetbo.integrations.optuna import (
    as_trial,
    distribution_of,
    is_finished,
    write_study,
)
from hetbo.spaces import Space, Value

if TYPE_CHECKING:
    from hetbo.optimizer import Optimizer

_TARGET = "hetbo:target"
"""The user attribute of a study that holds its plan."""
TUNER = "hetbo:tuner"
"""The user attribute of a trial that says which `hetbo tune` runs it; see `_tune_owners`."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What `hetbo init` was told.

    Attributes:
        space: What is tuned.
        goal: Which way is better.
        value: What the measured value is called.
        fixed: Known values of parameters that only sources tune, or have fixed as well.
        sources: The studies to learn from: the storage (None if it is the target's own) and name.
        method: A name in `hetbo.methods.METHODS`.
        seed: Where all random choices come from.
    """

    space: Space
    goal: Goal
    value: str
    fixed: Mapping[str, Value]
    sources: tuple[tuple[str | None, str], ...]
    method: str
    seed: int

    def optimizer(self, sources: Sequence[Experiment]) -> "Optimizer":
        """Return an optimizer that knows of no trials yet.

        Raises:
            HetboError: The plan and the sources do not go together.
        """
        from hetbo.optimizer import Optimizer  # loads PyTorch

        with said_for_init():
            return Optimizer(
                self.space,
                sources=sources,
                goal=self.goal,
                method=self.method,
                seed=self.seed,
                fixed={
                    name: value
                    for name, value in self.fixed.items()
                    if any(name in source.space for source in sources)
                },
            )

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON data."""
        return {
            "version": _VERSION,
            "space": self.space.to_json(),
            "goal": self.goal.value,
            "value": self.value,
            "fixed": dict(self.fixed),
            "sources": [{"storage": place, "study": study} for place, study in self.sources],
            "method": self.method,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, study: str, data: Any) -> Self:  # noqa: ANN401
        """Return the plan that `to_json` wrote.

        Raises:
            DataError: The data describes none, or one of another version.
        """
        if not isinstance(data, dict) or data.get("version") != _VERSION:
            raise DataError(f"{shown(study)}: this hetbo cannot read what {_TARGET!r} holds")
        try:
            return cls(
                Space.from_json(data["space"]),
                Goal.of(data["goal"]),
                str(data["value"]),
                dict(data["fixed"]),
                tuple((source["storage"], source["study"]) for source in data["sources"]),
                data["method"],
                data["seed"],
            )
        except (KeyError, TypeError, HetboError) as error:
            raise DataError(f"{shown(study)}: its attribute {_TARGET!r} is damaged") from error


@dataclass(frozen=True, slots=True)
class Target:
    """A study and its plan."""

    study: Study
    plan: Plan
    storage: BaseStorage

    @property
    def name(self) -> str:
        """The study's name."""
        return self.study.study_name

    def sources(self) -> list[Experiment]:
        """Return the experiments to learn from.

        Raises:
            DataError: One is not there any more, or has no complete trial.
        """
        try:
            return read_stored(self.storage, self.plan.sources)
        except DataError as error:
            raise DataError(f"a source of {shown(self.name)} cannot be used: {error}") from error

    def trials(self) -> list[FrozenTrial]:
        """Return the study's trials that have all of the plan's parameters, with fitting values.

        A trial lacks some if a process was killed while it was choosing them.
        """
        distributions = {name: distribution_of(p) for name, p in self.plan.space.items()}
        return [
            trial
            for trial in self.study.get_trials(deepcopy=False)
            if trial.state is not State.WAITING and trial.distributions == distributions
        ]

    def best(self) -> FrozenTrial | None:
        """Return the complete trial with the best value; None if there is none."""
        done = [t for t in self.trials() if t.state is State.COMPLETE]
        return max(done, key=lambda t: self.plan.goal.sign * (t.value or 0.0), default=None)

    def trial(self, number: int) -> FrozenTrial:
        """Return a trial as it is stored now.

        Raises:
            KeyError: There is none of that number.
        """
        return self.storage.get_trial(self._trial_id(number))

    def set_trial_attr(self, number: int, name: str, value: str) -> None:
        """Set a user attribute of a running trial, whichever process began it.

        Raises:
            UpdateFinishedTrialError: The trial has ended.
        """
        self.storage.set_trial_user_attr(self._trial_id(number), name, value)

    def tell(self, number: int, value: float | None) -> bool:
        """Store what came of a trial; return False if it has ended before, which stays as it is.

        Args:
            number: The trial's number.
            value: What was measured; None if the trial failed.
        """
        state = State.FAIL if value is None else State.COMPLETE
        try:
            self.study.tell(number, value, state=state)
        except (ValueError, UpdateFinishedTrialError):
            if not self.trial(number).state.is_finished():
                raise
            return False
        return True

    def _trial_id(self, number: int) -> int:
        study_id = self.storage.get_study_id_from_name(self.name)
        return self.storage.get_trial_id_from_study_id_trial_number(study_id, number)

    def optimizer(self) -> "Optimizer":
        """Return an optimizer that was told what the study's trials say."""
        optimizer = self.plan.optimizer(self.sources())
        trials = [as_trial(trial, trial.params) for trial in self.trials()]
        optimizer.resume(trials, asks=len(trials))
        return optimizer


def make_target(storage: BaseStorage, name: str, plan: Plan) -> None:
    """Make a study with a plan, or nothing."""
    experiment = Experiment(name, plan.space, goal=plan.goal, fixed=plan.fixed)
    write_study(experiment, storage, name, attributes={_TARGET: plan.to_json()})


@contextmanager
def target_at(place: str, name: str | None, *, wait: float | None = None) -> Iterator[Target]:
    """Open a study that `hetbo init` made, for as long as the block takes.

    Args:
        place: The storage.
        name: The study's name; may be None if the storage holds one such study.
        wait: How long each call waits for an SQLite file; see `storage_at`.

    Raises:
        DataError: There is no such study, or there are several.
    """
    with storage_at(place, wait=wait) as storage:
        study = study_in(storage, _only_target(storage) if name is None else name)
        data = study.user_attrs.get(_TARGET)
        if data is None:
            raise DataError(
                f"the study {shown(study.study_name)} is nothing to tune yet; "
                "'hetbo init space.toml --study NAME' sets up one that is"
            )
        yield Target(study, Plan.from_json(study.study_name, data), storage)


def _only_target(storage: BaseStorage) -> str:
    # Unlike Optuna's summaries, these come without the studies' trials.
    targets = [study for study in storage.get_all_studies() if _TARGET in study.user_attrs]
    whole = [study for study in targets if is_finished(study.user_attrs)]
    names = [study.study_name for study in whole or targets]
    if not names:
        raise DataError(
            "the storage holds no study to tune; 'hetbo init space.toml --study NAME' sets up one"
        )
    if len(names) > 1:
        raise DataError(f"say which study with --study; there are: {listed(names)}")
    return names[0]
