"""Choose parameters to try, each stored as a running trial. Loads PyTorch."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from optuna.study import Study, load_study
from optuna.trial import FrozenTrial, Trial

from hetbo.cli._backoff import UnavailableError
from hetbo.cli._option_messages import said_for_init
from hetbo.cli._target import TUNER, Target
from hetbo.experiments import Experiment
from hetbo.integrations.optuna import TransferSampler, distribution_of


class _Sampler(TransferSampler):
    """Says which trial it is asked about, before anything is chosen, and chooses for no others.

    Who asks by hand should not wait for that, and `hetbo tune` has a thread for it.
    """

    chooses_for_others = False
    begin: Callable[[int], None]

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  # as they are
        progress: Callable[[int, int], None] | None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **options)
        self._suggester.progress = progress

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        super().before_trial(study, trial)
        self.begin(trial.number)


class Suggester:
    """Suggests trials of a target, each stored as a running trial of its study.

    Args:
        target: The study and its plan.
        sources: What `target.sources()` returned, before PyTorch was loaded.
        progress: Called with the numbers of sources that are digested and to be digested, if
            there are enough to be digested.
        owner: The process that runs the trials, see `_tune_owners`; None if people do.
    """

    def __init__(
        self,
        target: Target,
        sources: Sequence[Experiment],
        *,
        progress: Callable[[int, int], None] | None = None,
        owner: str | None = None,
    ) -> None:
        self._target, self._owner = target, owner
        self._unfinished: int | None = None
        plan = target.plan
        with said_for_init():
            self._sampler = _Sampler(
                sources,
                space=plan.space,
                fixed=plan.fixed,
                method=plan.method,
                seed=plan.seed,
                progress=progress,
            )
        self._sampler.begin = self._begin
        self._distributions = {name: distribution_of(p) for name, p in plan.space.items()}
        self._study = load_study(
            study_name=target.name, storage=target.storage, sampler=self._sampler
        )

    def ask(self) -> Trial:
        """Return the next trial; if that fails, none is left running."""
        self._close_unfinished()
        try:
            with said_for_init():
                trial = self._study.ask(self._distributions)
        except BaseException:
            with suppress(UnavailableError):  # then the next call closes it, or another process
                self._close_unfinished()
            raise
        self._unfinished = None
        return trial

    def choose_ahead(self, *, workers: int, idle: int) -> None:
        """Choose for trials that have not begun; see `TransferSampler.choose_ahead`."""
        self._sampler.choose_ahead(self._study, workers=workers, idle=idle)

    @property
    def chosen_ahead(self) -> int:
        """For how many of the trials that begin next something has been chosen."""
        return self._sampler.chosen_ahead(self._study)

    def _begin(self, number: int) -> None:
        self._unfinished = number
        # Before the parameters, so that what a killed process leaves is known to be its own.
        if self._owner is not None:
            self._target.set_trial_attr(number, TUNER, self._owner)

    def _close_unfinished(self) -> None:
        if self._unfinished is not None:
            self._target.tell(self._unfinished, None)
            self._unfinished = None
