"""An Optuna sampler that learns from studies whose parameters were different."""

import numbers
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hetbo.engine import Engine
from hetbo.errors import HetboWarning, OptimizerError, shown
from hetbo.experiments import Experiment
from hetbo.experiments.optuna_distributions import (
    Translation,
    distribution_of,
    single_values,
    translations,
)
from hetbo.experiments.optuna_studies import goal_of, past_experiments
from hetbo.joint import JointSpace
from hetbo.methods import METHODS
from hetbo.optuna._storage_access import publish
from hetbo.optuna.grids import every_point, on_grid
from hetbo.optuna.history import History, learned_space, shows_its_space
from hetbo.optuna.independent import by_tpe, from_sources
from hetbo.optuna.sources import Source, read_sources, with_own_names
from hetbo.spaces import Space, Value

_STATES = tuple(state for state in TrialState if state is not TrialState.WAITING)
_DEFAULT_INITIAL = 5
_MOST_ROUNDS = 3


class TransferSampler(BaseSampler):
    """Suggests all parameters of an Optuna study together, with the help of past studies.

        study = optuna.create_study(sampler=TransferSampler([("sqlite:///old.db", "fraud-v1")]))

    **State.** All of it is in the study's storage. A suggestion depends on the sources, the
    study's trials, the seed and the trial's number, and on nothing else; so threads, processes and
    machines can work on one study, each with a sampler of its own, and any of them may be killed.
    What a worker is about to try is written to the storage at once, and counts as pending for the
    others. A trial of a worker that was killed stays pending until somebody fails it, as Optuna's
    heartbeat does.

    **The space.** Optuna's programs say what they tune while they run. With `space=`, all of it is
    suggested together from the first trial on. Without it, the joint space is what all ended
    trials of the current program have in common. If a set of parameters (with their ranges) takes
    over for good, the trials before it become a source of their own; sets that come and go are
    branches, and what they have in common is suggested together. Who goes back to an earlier
    program says so with `space=`.

    **What the joint space does not have** is suggested by itself:

    - Until a trial of a study without `space=` has ended, nothing is known of the program for
      sure. In trial 0 each parameter is set to what the best trial of the first source that knows
      it had, if the range still allows it; in trial 1, if it starts that early, to what the second
      best had, and so on.
    - Everything else (branches, parameters that are new since the last trial) comes from Optuna's
      TPE sampler, one parameter at a time, unless `independent_sampler` says otherwise.

    **Trials without a value.** Failed trials stay out of the model of the objective; a model of
    their own learns where trials fail, and such places come last. Pruned trials are treated alike:
    they have no final value, and their last intermediate one is the value of another function, that
    of fewer steps, which the model would mistake for the final one. So are complete trials whose
    value is not finite.

    **Constraints** (`trial.set_constraint`): the value of a trial that breaks one stays in the
    model of the objective, but is nothing to improve upon. Each constraint that was ever broken has
    a model of its values, from the study's own trials, and the expected improvement is weighed
    with the probability that it is kept. While no trial keeps all, that probability leads.

    **Steps** keep their natural units: the model sees a range, and suggestions lie on its grid.

    Args:
        sources: Past experiments, studies, or pairs of a storage and a study's name. They are read
            once, when the sampler is made. A study whose trials have different sets of parameters
            counts as several sources.
        space: What is tuned: a hetbo space, or Optuna's distributions by name. Learned from the
            study if None.
        fixed: Known values that the target has for parameters that only sources tune.
        method: A name in `hetbo.methods.METHODS`.
        seed: The same seed gives the same suggestions in a study whose trials are made one after
            another. A random one if None. Workers may share a seed: randomness comes from the seed
            and the trial's number.
        n_initial: How many trials cover the space before a model without sources has a say.
        independent_sampler: Suggests what the joint space does not have.

    Raises:
        OptimizerError: An option has no meaning.
        DataError: A source cannot be read.
        MergeError: The sources do not fit the space.
    """

    def __init__(
        self,
        sources: Iterable[Source] = (),
        *,
        space: Space | Mapping[str, BaseDistribution] | None = None,
        fixed: Mapping[str, Value] | None = None,
        method: str = "auto",
        seed: int | None = None,
        n_initial: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        if method not in METHODS:
            raise OptimizerError(
                f"method={shown(method)} must be one of {', '.join(map(repr, METHODS))}"
            )
        self._method = method
        self._sources = read_sources(sources)
        self._space = None if space is None else _distributions(space)
        self._fixed = dict(fixed or {})
        self._seed = _count("seed", secrets.randbits(32) if seed is None else seed)
        self._n_initial = _count("n_initial", _DEFAULT_INITIAL if n_initial is None else n_initial)
        self._independent = independent_sampler
        self._lock = Lock()
        if self._space is not None:
            target = translations(self._space)
            _joint(target, self._sources, {**single_values(self._space), **self._fixed})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that are suggested together: given, or learned from the study."""
        _check_one_objective(study)
        space = learned_space(_others(study, trial)) if self._space is None else self._space
        return {
            name: distribution for name, distribution in space.items() if not distribution.single()
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return values for all parameters of the joint space."""
        _check_one_objective(study)
        target = translations(search_space)
        if not target:
            return {}
        # Threads of one process would gain nothing from fitting side by side, and each should see
        # what the one before it proposed.
        with self._lock:
            proposal = self._propose(study, trial, target)
            publish(study, trial, proposal)
        return {name: target[name].write(value) for name, value in proposal.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401  # whatever the user chose as a choice
        """Return a value for one parameter that the joint space does not have."""
        _check_one_objective(study)
        if self._independent is not None:
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution
            )
        if self._space is None and not any(map(shows_its_space, _others(study, trial))):
            known = from_sources(self._sources, trial.number, param_name, param_distribution)
            if known:
                return known[0]
        return by_tpe(study, trial, param_name, param_distribution, seed=self._seed)

    def after_trial(
        self,
        study: Study,  # noqa: ARG002  # Optuna's signature
        trial: FrozenTrial,
        state: TrialState,  # noqa: ARG002
        values: Sequence[float] | None,  # noqa: ARG002
    ) -> None:
        """Warn if the objective does not tune what `space=` says."""
        for name, distribution in (self._space or {}).items():
            asked = trial.distributions.get(name, distribution)
            if asked != distribution:
                message = (
                    f"{name!r} is {distribution} in space=, but the objective asks for {asked}"
                )
                warnings.warn(
                    f"{message}; its trials count as a source", HetboWarning, stacklevel=2
                )

    def reseed_rng(self) -> None:
        """Do nothing of its own: randomness comes from the seed and the trial's number."""
        if self._independent is not None:
            self._independent.reseed_rng()

    def _propose(
        self, study: Study, trial: FrozenTrial, target: Mapping[str, Translation]
    ) -> dict[str, Value]:
        """Return a proposal that takes into account what others have proposed meanwhile."""
        proposal, seen = dict[str, Value](), None
        for _ in range(_MOST_ROUNDS):
            trials = _others(study, trial)
            history = History.of(trials, target, given=self._space is not None)
            if seen is not None and history.pending <= seen:
                break
            seen = history.pending
            proposal = self._suggest(study, trial.number, target, history)
        return proposal

    def _suggest(
        self, study: Study, number: int, target: Mapping[str, Translation], history: History
    ) -> dict[str, Value]:
        earlier = past_experiments(
            history.earlier, name=f"earlier in {study.study_name}", goal=goal_of(study)
        )
        fixed = {**history.fixed, **single_values(self._space or {}), **self._fixed}
        joint = _joint(
            target,
            with_own_names([*self._sources, *earlier]),
            {name: value for name, value in fixed.items() if name not in target},
        )
        engine = Engine(
            METHODS[self._method],
            joint,
            goal_of(study),
            n_initial=self._n_initial,
            cover_seed=self._seed,
        )
        pool = every_point(target)
        if pool is not None:
            engine.pool = np.nan_to_num(engine.encoder.encode(pool))
        rng = np.random.default_rng([self._seed, number])
        (x,) = engine.suggest(history.own, 1, rng, order=number, constraints=history.constraints)
        (params,) = engine.encoder.decode(x[np.newaxis])
        return on_grid(params, target, [trial.params for trial in history.own], rng)


def _distributions(space: Space | Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    if isinstance(space, Space):
        return {name: distribution_of(parameter) for name, parameter in space.items()}
    for name, distribution in space.items():
        if not isinstance(distribution, BaseDistribution):
            raise OptimizerError(
                f"space= gives {shown(name)} as {shown(distribution)}; "
                "use a hetbo Space, or Optuna's distributions by name"
            )
    return dict(space)


def _joint(
    target: Mapping[str, Translation], sources: Sequence[Experiment], fixed: Mapping[str, Value]
) -> JointSpace:
    space = Space.from_mapping({name: t.parameter for name, t in target.items()})
    return JointSpace.merge(space, sources, fixed=fixed)


def _others(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    trials = study.get_trials(deepcopy=False, states=_STATES)
    return [other for other in trials if other.number != trial.number]


def _check_one_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise OptimizerError(
            f"{shown(study.study_name)} has {len(study.directions)} objectives and TransferSampler "
            "takes one; use Optuna's NSGAIISampler or TPESampler, or make all but one of them a "
            "constraint (trial.set_constraint)"
        )


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise OptimizerError(f"{name}={shown(value)} must be a whole number of at least 0")
    return int(value)
