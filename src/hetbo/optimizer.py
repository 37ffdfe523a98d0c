"""Ask for the next parameters, tell what came of them: the one class with a state."""

import json
import math
import numbers
import os
import secrets
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, overload

import numpy as np

from hetbo._arrays import FloatArray
from hetbo._files import checked_header, is_saved, read_json, write_text_atomically
from hetbo._sources import read_place, with_own_names
from hetbo.errors import (
    DataError,
    DataWarning,
    HetboError,
    OptimizerError,
    SourceWarning,
    shown,
)
from hetbo.experiments import Experiment, Goal, GoalName, Trial, TrialState
from hetbo.joint import JointSpace
from hetbo.joint._notes import notes_on
from hetbo.methods import (
    Engine,
    Explanation,
    Fitted,
    Recipe,
    WarmStarts,
    explain_fitted,
    explain_unfitted,
    recipe_of,
)
from hetbo.methods._options import checked_count
from hetbo.spaces import Space, Value
from hetbo.spaces._values import as_float

_Path: TypeAlias = str | os.PathLike[str]
_FORMAT = "hetbo-optimizer"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Parameters to try.

    Attributes:
        number: The trial's number, counted from 0.
        params: The value of each parameter.
    """

    number: int
    params: Mapping[str, Value]


class Optimizer:
    """Finds good parameters of an expensive function in few trials, with the help of old ones.

    Args:
        space: What is tuned.
        sources: Past experiments, each in its own space; or where they are, as for `read_sources`,
            if what is there says its own goals: `"archive.db::fraud-*"`.
        goal: 'minimize' or 'maximize'.
        method: A name in `hetbo.methods.METHODS`, or a `Recipe`. The default, 'auto', decides from
            the data how far to trust the sources.
        seed: The same seed gives the same suggestions, in any process. A random one if None.
        n_initial: How many trials cover the space before a model without sources is used.
        candidates: The only parameters that may be suggested, if not all of the space.
        fixed: Known values that the target has for parameters that only sources tune.

    Raises:
        OptimizerError: An option has no meaning.
        MergeError: The sources do not fit the space.
        SpaceError: A candidate does not fit the space.
    """

    def __init__(
        self,
        space: Space,
        *,
        sources: Iterable[Experiment | _Path] | _Path = (),
        goal: GoalName,
        method: str | Recipe = "auto",
        seed: int | None = None,
        n_initial: int | None = None,
        candidates: Iterable[Mapping[str, Value]] | None = None,
        fixed: Mapping[str, Value] | None = None,
    ) -> None:
        recipe_of(method)
        self._method = None if isinstance(method, Recipe) else method
        self._seed = checked_count("seed", secrets.randbits(32) if seed is None else seed)
        self._joint = JointSpace.merge(space, _checked_sources(sources), fixed=fixed)
        for name in fixed or {}:
            if not any(name in source.space for source in self._joint.sources):
                raise OptimizerError(f"fixed= names {shown(name)}, which no source tunes")
        self._goal = Goal.of(goal)
        for note in notes_on(space, self._goal, fixed or {}, self._joint.sources):
            warnings.warn(note, SourceWarning, stacklevel=2)
        self._candidates = None if candidates is None else [space.check(c) for c in candidates]
        if self._candidates == []:
            raise OptimizerError("candidates= is empty: there is nothing to suggest")
        self._engine = Engine.of(
            method,
            self._joint,
            self._goal,
            n_initial=n_initial,
            candidates=self._candidates,
            cover_seed=self._seed,
        )
        self._trials: list[Trial] = []
        self._asks = 0
        self._warm_starts: WarmStarts = {}

    @property
    def space(self) -> Space:
        """What is tuned."""
        return self._joint.target.space

    @property
    def method(self) -> str:
        """The name of the method; 'custom' for a recipe of one's own."""
        return "custom" if self._method is None else self._method

    @property
    def engine(self) -> Engine:
        """What chooses the next trial; it has no state."""
        return self._engine

    @property
    def seeds(self) -> tuple[int, int]:
        """What the next random generator is made from."""
        return self._seed, self._asks

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials of the target; a trial's number is its position."""
        return tuple(self._trials)

    @property
    def best(self) -> Trial | None:
        """The complete trial with the best value; None if there is none."""
        return self.as_experiment("target").best

    @overload
    def ask(self) -> Suggestion: ...
    @overload
    def ask(self, n: int) -> list[Suggestion]: ...
    def ask(self, n: int | None = None) -> Suggestion | list[Suggestion]:
        """Return the next parameters to try.

        Suggestions that have not been told yet count as pending: others keep away from them.

        Args:
            n: How many suggestions to make at once; a list of them is returned. One, by itself,
                if None.
        """
        count = 1 if n is None else checked_count("n", n)
        if count < 1:
            raise OptimizerError(f"n={n!r} must be at least 1")
        chosen = self._engine.suggest(
            self._trials,
            count,
            np.random.default_rng(self.seeds),
            order=len(self._trials),
            warm_starts=self._warm_starts,
        )
        params = self._params(np.array(chosen.points))
        # Only now does anything change: whoever was interrupted asks again and gets the same.
        self._warm_starts = chosen.warm_starts
        self._asks += 1
        suggestions = []
        for values in params:
            suggestions.append(Suggestion(len(self._trials), values))
            self._trials.append(Trial(values, state=TrialState.PENDING))
        return suggestions[0] if n is None else suggestions

    def tell(
        self,
        trial: Suggestion | int | Mapping[str, Value],
        value: float,
        *,
        noise: float | None = None,
    ) -> None:
        """Take note of a trial's value.

        A value that is not finite is taken as a failure, with a warning.

        Args:
            trial: A suggestion, its number, or parameters of your own choice.
            value: What was measured.
            noise: The standard deviation of the measurement, if it is known.

        Raises:
            OptimizerError: There is no such trial, or it was told before.
            DataError: The value or the noise is not a number.
            SpaceError: Parameters of your own do not fit the space.
        """
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise DataError(f"value={shown(value)} must be a number")
        measured = as_float(value)
        if not math.isfinite(measured):
            self.tell_failure(trial)
            message = f"value={shown(value)} is taken as a failed trial"
            warnings.warn(message, DataWarning, stacklevel=2)
            return
        self._record(trial, value=measured, noise=noise, state=TrialState.COMPLETE)

    def tell_failure(self, trial: Suggestion | int | Mapping[str, Value]) -> None:
        """Take note that a trial failed.

        Failed trials stay out of the model of the objective. A model of their own learns where
        trials fail, and places where they probably do come last.

        Args:
            trial: A suggestion, its number, or parameters of your own choice.

        Raises:
            OptimizerError: There is no such trial, or it was told before.
            SpaceError: Parameters of your own do not fit the space.
        """
        self._record(trial, value=None, noise=None, state=TrialState.FAILED)

    def explain(self) -> Explanation:
        """Return how far each model and source is trusted now, and what was learned."""
        with self._engine.one_thread(self._trials):
            fitted = self.fitted()
            if fitted is None:
                return explain_unfitted(self._engine)
            return explain_fitted(self._engine, fitted)

    def fitted(self) -> Fitted | None:
        """Return the models, fitted to all that is known; None while the space is being covered."""
        if not self._engine.uses_models(self._trials):
            return None
        rng = np.random.default_rng(self.seeds)
        return self._engine.fit(self._trials, rng, warm_starts=self._warm_starts)

    def as_experiment(self, name: str, *, fixed: Mapping[str, Value] | None = None) -> Experiment:
        """Return the trials so far as an experiment, to serve as a source later."""
        known = self._joint.target.fixed if fixed is None else fixed
        return Experiment(name, self.space, self._trials, goal=self._goal, fixed=known)

    def with_space(
        self,
        space: Space,
        *,
        name: str | None = None,
        fixed: Mapping[str, Value] | None = None,
        target_fixed: Mapping[str, Value] | None = None,
        candidates: Iterable[Mapping[str, Value]] | None = None,
    ) -> "Optimizer":
        """Return an optimizer that goes on in a changed space.

        The trials so far become a source of their own; pending ones are left behind.

        Args:
            space: What is tuned from now on.
            name: How the source of the trials so far is called. If None, 'before', with a number
                if there is a source of that name.
            fixed: The values that the trials so far had for parameters that are new now. What is
                not said is unknown, and learned.
            target_fixed: The values that parameters have from now on that are tuned no more.
            candidates: The only parameters that may be suggested from now on, if not all of the
                changed space; those of this optimizer are left behind.
        """
        taken = {source.name for source in self._joint.sources}
        names = ("before", *(f"before {i}" for i in range(2, len(taken) + 3)))
        if name is None:
            name = next(free for free in names if free not in taken)
        done = [trial for trial in self._trials if trial.state is not TrialState.PENDING]
        known = {**self._joint.target.fixed, **(fixed or {})}
        past = Experiment(name, self.space, done, goal=self._goal, fixed=known)
        kept = {n: value for n, value in self._joint.target.fixed.items() if n not in space}
        return Optimizer(
            space,
            sources=[*self._joint.sources, past],
            goal=self._goal,
            method=self._engine.recipe if self._method is None else self._method,
            seed=self._seed,
            n_initial=self._engine.n_initial,
            candidates=candidates,
            fixed={**kept, **(target_fixed or {})},
        )

    def resume(
        self,
        trials: Iterable[Trial],
        *,
        asks: int,
        warm_starts: WarmStarts | None = None,
    ) -> None:
        """Go on from trials that are kept elsewhere, in place of those so far.

        Args:
            trials: All trials of the target, pending ones included, in their order.
            asks: How often was asked: the seed of the next suggestion depends on it.
            warm_starts: The parameters of each model, from which the next fit starts.

        Raises:
            OptimizerError: `asks` is no count.
            SpaceError: A trial does not fit the space.
        """
        checked = [replace(trial, params=self.space.check(trial.params)) for trial in trials]
        self._asks = checked_count("asks", asks)
        self._trials = checked
        self._warm_starts = dict(warm_starts or {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a JSON file, at once or not at all.

        Raises:
            DataError: There is something else than a saved optimizer at that path.
            OSError: The file cannot be written.
        """
        text = json.dumps(self.to_json(), allow_nan=False) + "\n"
        write_text_atomically(path, text, only_over=is_saved(_FORMAT))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, method: Recipe | None = None) -> Self:
        """Return the optimizer that `save` wrote; it goes on as if it had never stopped.

        Args:
            path: The file.
            method: The recipe of one's own that the optimizer had, which no file can hold; None if
                it had a method by name.

        Raises:
            DataError: The file cannot be read or holds something else.
        """
        data = read_json(path)
        try:
            return cls.from_json(data, method=method)
        except HetboError as error:
            raise DataError(f"{path}: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the whole state as plain JSON data."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "space": self.space.to_json(),
            "sources": [source.to_json() for source in self._joint.sources],
            "goal": self._goal.value,
            "method": self._method,
            "seed": self._seed,
            "n_initial": self._engine.n_initial,
            "candidates": self._candidates,
            "fixed": dict(self._joint.target.fixed),
            "trials": [trial.to_json() for trial in self._trials],
            "asks": self._asks,
            "warm_starts": {k: list(v) for k, v in self._warm_starts.items()},
        }

    @classmethod
    def from_json(cls, data: Any, *, method: Recipe | None = None) -> Self:  # noqa: ANN401
        """Return the optimizer that `to_json` wrote.

        Args:
            data: What `to_json` returned.
            method: The recipe of one's own that the optimizer had, if it had one.

        Raises:
            DataError: The data does not describe an optimizer of a known version.
        """
        fields = checked_header(data, _FORMAT, _VERSION)
        try:
            return cls._restored(fields, method)
        except (AttributeError, KeyError, TypeError) as error:
            raise DataError(f"this hetbo optimizer is damaged: {error!r}") from error

    @classmethod
    def _restored(cls, data: Mapping[str, Any], method: Recipe | None) -> Self:
        if (data["method"] is None) != (method is not None):
            raise DataError(_other_method(data["method"]))
        optimizer = cls(
            Space.from_json(data["space"]),
            sources=[Experiment.from_json(source) for source in data["sources"]],
            goal=Goal.of(data["goal"]),
            method=data["method"] if method is None else method,
            seed=data["seed"],
            n_initial=data["n_initial"],
            candidates=data["candidates"],
            fixed=data["fixed"],
        )
        optimizer.resume(
            map(Trial.from_json, data["trials"]),
            asks=data["asks"],
            warm_starts={
                name: _checked_parameters(name, start)
                for name, start in _checked_starts(data["warm_starts"]).items()
            },
        )
        return optimizer

    def _params(self, X: FloatArray) -> list[dict[str, Value]]:
        """Return the parameters at points: candidates exactly as they were given."""
        if self._candidates is None or self._engine.pool is None:
            return self._engine.encoder.decode(X)
        rows = [int((self._engine.pool == x).all(axis=1).argmax()) for x in X]
        return [dict(self._candidates[row]) for row in rows]

    def _record(
        self,
        trial: Suggestion | int | Mapping[str, Value],
        *,
        value: float | None,
        noise: float | None,
        state: TrialState,
    ) -> None:
        if isinstance(trial, Mapping):
            params = self.space.check(trial)
            self._trials.append(Trial(params, value, noise=noise, state=state))
            return
        number = trial.number if isinstance(trial, Suggestion) else trial
        if isinstance(number, bool) or not isinstance(number, numbers.Integral):
            raise OptimizerError(
                f"{shown(trial)} is neither a suggestion, nor its number, nor parameters"
            )
        number = int(number)
        if not 0 <= number < len(self._trials):
            raise OptimizerError(f"there is no trial {number}; {len(self._trials)} were asked for")
        asked = self._trials[number]
        if asked.state is not TrialState.PENDING:
            raise OptimizerError(f"trial {number} was told before: it is {asked.state}")
        if isinstance(trial, Suggestion) and dict(trial.params) != dict(asked.params):
            raise OptimizerError(
                f"trial {number} had other parameters: {shown(dict(asked.params))}"
            )
        self._trials[number] = Trial(asked.params, value, noise=noise, state=state)


def _other_method(stored: object) -> str:
    if stored is None:
        return "this optimizer had a recipe of its own, which no file can hold; give it as method="
    return f"this optimizer has the method {shown(stored)}; method= is for recipes of one's own"


def _checked_sources(sources: Iterable[Experiment | _Path] | _Path) -> list[Experiment]:
    if isinstance(sources, Experiment):
        raise OptimizerError(
            f"sources= must be a list of experiments: sources=[{shown(sources.name)}]"
        )
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    if isinstance(sources, Mapping) or not isinstance(sources, Iterable):
        raise OptimizerError(f"sources={shown(sources)} must be a list of experiments")
    checked, read = list[Experiment](), list[Experiment]()
    for source in sources:
        if isinstance(source, str | os.PathLike):
            read += read_place(source)
        elif isinstance(source, Experiment):
            checked.append(source)
        else:
            raise OptimizerError(
                f"sources= holds {shown(source)}, which is not an Experiment; make one with "
                "Experiment.from_records(rows, value=…, goal=…), from_dataframe, from_csv or "
                "from_optuna"
            )
    taken = ["target", *(source.name for source in checked)]
    return [*checked, *with_own_names(read, taken=taken)]


def _checked_starts(starts: object) -> Mapping[str, object]:
    if not isinstance(starts, dict):
        raise DataError(
            "this hetbo optimizer is damaged: warm_starts must be an object of lists, not "
            f"{shown(starts)}"
        )
    return starts


def _checked_parameters(name: object, start: object) -> tuple[float, ...]:
    numeric = isinstance(start, list) and all(
        isinstance(number, float | int) and math.isfinite(number) for number in start
    )
    if not isinstance(start, list) or not numeric:
        raise DataError(
            f"this hetbo optimizer is damaged: warm_starts of {shown(name)} must be a list of "
            f"finite numbers, not {shown(start)}"
        )
    return tuple(start)
