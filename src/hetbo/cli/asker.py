"""Choose parameters to try, each stored as a running trial. Loads PyTorch."""

import datetime as dt
from collections.abc import Sequence

from optuna.study import Study, load_study
from optuna.trial import FrozenTrial, Trial
from optuna.trial import TrialState as State

from hetbo.cli.targets import Target
from hetbo.cli.wording import said_for_init
from hetbo.experiments import Experiment
from hetbo.experiments.optuna_distributions import distribution_of
from hetbo.optuna import TransferSampler

_LONGEST_CHOICE = dt.timedelta(minutes=10)
"""No process needs longer to choose parameters; one that seems to was killed."""


class _Sampler(TransferSampler):
    """Remembers which trial it was asked about, so that one that got nothing can be closed."""

    number: int | None = None

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        super().before_trial(study, trial)
        self.number = trial.number


class Asker:
    """Suggests trials of a target, each stored as a running trial of its study.

    Args:
        target: The study and its plan.
        sources: What `target.sources()` returned, before PyTorch was loaded.
    """

    def __init__(self, target: Target, sources: Sequence[Experiment]) -> None:
        plan = target.plan
        with said_for_init():
            self._sampler = _Sampler(
                sources, space=plan.space, fixed=plan.fixed, method=plan.method, seed=plan.seed
            )
        self._distributions = {name: distribution_of(p) for name, p in plan.space.items()}
        self._study = load_study(
            study_name=target.name, storage=target.storage, sampler=self._sampler
        )
        self._close_abandoned()

    def ask(self) -> Trial:
        """Return the next trial; if that fails, none is left running."""
        self._sampler.number = None
        try:
            return self._study.ask(self._distributions)
        except BaseException:
            if self._sampler.number is not None:
                self._study.tell(self._sampler.number, state=State.FAIL)
            raise

    def _close_abandoned(self) -> None:
        """Close trials of processes that were killed while they were choosing parameters."""
        now = dt.datetime.now()  # noqa: DTZ005  # Optuna's times have no zone
        for trial in self._study.get_trials(deepcopy=False, states=(State.RUNNING,)):
            began = trial.datetime_start
            chosen = trial.params.keys() >= self._distributions.keys()
            if not chosen and began is not None and now - began > _LONGEST_CHOICE:
                self._study.tell(trial.number, state=State.FAIL)
