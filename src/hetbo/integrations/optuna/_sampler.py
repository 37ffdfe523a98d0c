"""An Optuna sampler that learns from studies whose parameters were different."""

import os
import secrets
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hetbo.errors import HetboWarning, OptimizerError, shown
from hetbo.integrations.optuna._branches import fits, tuned
from hetbo.integrations.optuna._choosing import Chooser, begun
from hetbo.integrations.optuna._distributions import (
    Translation,
    distribution_of,
    single_values,
    translations,
)
from hetbo.integrations.optuna._history import (
    shows_its_space,
)
from hetbo.integrations.optuna._independent import by_tpe, from_sources
from hetbo.integrations.optuna._notes import Notes
from hetbo.integrations.optuna._programs import Program
from hetbo.integrations.optuna._sources import Source, read_sources
from hetbo.integrations.optuna._storage_access import publish, published
from hetbo.integrations.optuna._studies import values_of
from hetbo.integrations.optuna._suggester import Suggester
from hetbo.integrations.optuna._targets import Whole
from hetbo.joint import JointSpace
from hetbo.methods import Recipe, recipe_of
from hetbo.methods._options import DEFAULT_INITIAL, checked_count
from hetbo.spaces import Space, Value


class TransferSampler(BaseSampler):
    """Suggests all parameters of an Optuna study together, with the help of past studies.

        study = optuna.create_study(sampler=TransferSampler([("sqlite:///old.db", "fraud-v1")]))

    **State.** All of it is in the study's storage. A suggestion depends on the sources, the
    study's trials, the seed and the trial's number, and on nothing else; so threads, processes and
    machines can work on one study, each with a sampler of its own, and any of them may be killed.
    What a worker is about to try is written to the storage at once, and counts as pending for the
    others. A trial of a worker that was killed stays pending until somebody fails it, as Optuna's
    heartbeat does.

    **Several workers.** Where trials end faster than they are chosen, a worker that chooses does so
    for those that begin meanwhile as well, and leaves that in the storage, by the trials' numbers.
    What is suggested then depends on when trials end. A worker by itself chooses one trial at a
    time, however many are open.

    **The space.** Optuna's programs say what they tune while they run. With `space=`, all of it is
    suggested together from the first trial on. Without it, the joint space is what all ended
    trials of the current program have in common. If a set of parameters (with their ranges) takes
    over for good, the trials before it become a source of their own. Who goes back to an earlier
    program says so with `space=`.

    **Branches.** A program may choose a classifier, and then tune the parameters of that classifier
    only. Where the values of a category, or of an integer with at most ten values, tell the sets of
    parameters apart, in this study or in an old one, the branch and all of its parameters are
    suggested together, by one model that learns from the trials of all branches, old and new. The
    next trial goes to the branch in which there is most to gain. Until the objective asks
    differently, a branch that only old runs know is taken to be as it was there. What a trial needs
    that was not suggested with the rest (a user enqueued another branch, a range has moved) is
    suggested when the objective asks for it, with what the trial already has held. Without
    sources, `n_initial` trials per branch come first. Optuna's log says once what is suggested in
    this way.

    **What the joint space does not have** is suggested by itself:

    - Until a trial of a study without `space=` has ended, nothing is known of the program for
      sure. In trial 0 each parameter is set to what the best trial of the first source that knows
      it had, in whichever branch, if the range still allows it; in trial 1, if it starts that
      early, to what the second best had, and so on. Of equally good trials those of the branch that
      the source tried first lead, and in it the earlier ones.
    - Everything else (parameters that are new since the last trial in this branch, sets of
      parameters that come and go and that nothing tells apart) comes from Optuna's TPE sampler, one
      parameter at a time, unless `independent_sampler` says otherwise.

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
        sources: Past experiments, studies, storages with all of their studies, pairs of a storage
            and a study's name or a pattern of names, or places as for `hetbo.read_sources` that say
            their own goals (`"archive.db::fraud-*"`). They are read once, when the sampler is made.
            A study whose trials have different sets of parameters that are no branches counts as
            several sources.
        space: What is tuned: a hetbo space, or Optuna's distributions by name. Learned from the
            study if None.
        fixed: Known values that the target has for parameters that only sources tune.
        method: A name in `hetbo.methods.METHODS`, or a `Recipe`.
        seed: The same seed gives the same suggestions in a study whose trials are made one after
            another. A random one if None. Workers may share a seed: randomness comes from the seed
            and the trial's number.
        n_initial: How many trials cover the space, or each branch, before a model without sources
            is used.
        independent_sampler: Suggests what the joint space does not have.

    Attributes:
        chooses_for_others: Whether to choose for the trials of other workers too, while theirs run.
            A subclass says False whose trials should not wait for that.

    Raises:
        OptimizerError: An option has no meaning.
        DataError: A source cannot be read.
        MergeError: The sources do not fit the space.
    """

    chooses_for_others: ClassVar[bool] = True

    def __init__(
        self,
        sources: Iterable[Source] | str | os.PathLike[str] = (),
        *,
        space: Space | Mapping[str, BaseDistribution] | None = None,
        fixed: Mapping[str, Value] | None = None,
        method: str | Recipe = "auto",
        seed: int | None = None,
        n_initial: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        recipe_of(method)  # there is such a method
        programs = read_sources(sources)
        past = [source for program in programs for source in program]
        self._space = None if space is None else _distributions(space)
        self._suggester = Suggester(
            programs,
            self._space,
            dict(fixed or {}),
            method,
            checked_count("seed", secrets.randbits(32) if seed is None else seed),
            checked_count("n_initial", DEFAULT_INITIAL if n_initial is None else n_initial),
            Notes(past),
        )
        self._chooser = Chooser(self._suggester, helps=self.chooses_for_others)
        self._independent = independent_sampler
        self._lock = Lock()
        if self._space is not None:
            # What does not fit is told now, and not in the first trial.
            whole = Whole(translations(self._space), given=True)
            fixed = {**single_values(self._space), **self._suggester.fixed}
            JointSpace.merge(whole.space, past, fixed=fixed)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that are suggested together: given, or learned from the study."""
        _check_one_objective(study)
        trials = [] if self._space is not None else begun(study, without=trial)
        return self._suggester.space(trials)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return values for all parameters of the joint space, or of one branch."""
        _check_one_objective(study)
        space = translations(search_space)
        if not space:
            return {}
        proposal = self._chooser.prepared(study, trial, space)
        # Threads of one process would gain nothing from fitting side by side, and each should see
        # what the one before it proposed.
        if proposal is None:
            with self._lock:
                proposal = self._chooser.choose(study, trial, space)
                publish(study, trial, proposal)
        else:
            publish(study, trial, proposal)
        if self._chooser.helps:
            with self._lock:
                self._chooser.choose_for_others(study, space)
        return {name: space[name].write(value) for name, value in proposal.items() if name in space}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401  # whatever the user chose as a choice
        """Return a value for one parameter that was not suggested with others."""
        _check_one_objective(study)
        others = begun(study, without=trial)
        program = self._suggester.program(others)
        if program is not None:
            with self._lock:
                found = self._in_branch(study, trial, program, param_name, param_distribution)
            if found:
                return found[0]
        if self._independent is not None:
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution
            )
        if self._space is None and not any(map(shows_its_space, others)):
            known = from_sources(
                self._suggester.programs,
                trial.number,
                param_name,
                param_distribution,
                _choices_of(trial),
            )
            if known:
                return known[0]
        if program is not None or self._suggester.conditional:
            self._suggester.notes.by_itself(param_name)
        return by_tpe(study, trial, param_name, param_distribution, seed=self._suggester.seed)

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

    def choose_ahead(self, study: Study, *, workers: int, idle: int = 0) -> None:
        """Choose for trials that have not begun, so that their workers need not wait.

        Workers that share a study do so for each other. This is for a program that begins the
        trials of all its workers itself.

        Args:
            study: The study.
            workers: How many trials run at once.
            idle: How many trials could begin now.
        """
        space = translations(self._suggester.space(begun(study)))
        if space:
            with self._lock:
                self._chooser.choose_next(study, space, workers=workers, idle=idle)

    def chosen_ahead(self, study: Study) -> int:
        """Return for how many of the trials that begin next something has been chosen."""
        return self._chooser.prepared_next(study)

    def reseed_rng(self) -> None:
        """Do nothing of its own: randomness comes from the seed and the trial's number."""
        if self._independent is not None:
            self._independent.reseed_rng()

    def _in_branch(
        self,
        study: Study,
        trial: FrozenTrial,
        program: Program,
        name: str,
        distribution: BaseDistribution,
    ) -> list[Any]:
        """Return what was, or is now, suggested for the branch that a trial is in.

        It is suggested now if the trial has gone another way than was proposed, as one that a user
        enqueued may, or if a range has moved since the old runs.
        """
        known = values_of(trial, tuned(trial))
        translation, proposal = Translation.of(name, distribution), published(trial)
        proposed = name in proposal and fits(translation.parameter, proposal[name])
        if proposed and program.agree(known, proposal):
            return [translation.write(proposal[name])]
        there = program.asked_for(name, distribution, known)
        if there is None:
            return []
        rng = np.random.default_rng([self._suggester.seed, trial.number, zlib.crc32(name.encode())])
        history = there.history(begun(study, without=trial))
        numbers = range(trial.number, trial.number + 1)
        (values,), _ = self._suggester.suggest(study, numbers, rng, target=there, history=history)
        publish(study, trial, values)
        return [translation.write(values[name])]


def _choices_of(trial: FrozenTrial) -> dict[str, Value]:
    choices = {n: d for n, d in tuned(trial).items() if isinstance(d, CategoricalDistribution)}
    return values_of(trial, choices)


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


def _check_one_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise OptimizerError(
            f"{shown(study.study_name)} has {len(study.directions)} objectives and TransferSampler "
            "takes one; use Optuna's NSGAIISampler or TPESampler, or make all but one of them a "
            "constraint (trial.set_constraint)"
        )
