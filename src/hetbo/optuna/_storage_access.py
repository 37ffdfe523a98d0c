"""What a sampler needs of Optuna that is not public, in one place."""

from collections.abc import Mapping

from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo.spaces import Value

_PROPOSAL = "hetbo:proposal"


def publish(study: Study, trial: FrozenTrial, proposal: Mapping[str, Value]) -> None:
    """Let all workers see what a trial is about to try, before its objective asks for it."""
    study._storage.set_trial_system_attr(trial._trial_id, _PROPOSAL, dict(proposal))  # noqa: SLF001


def published(trial: FrozenTrial) -> dict[str, Value]:
    """Return what was published about a trial; nothing if it was not suggested jointly."""
    proposal = trial.system_attrs.get(_PROPOSAL)
    return dict(proposal) if isinstance(proposal, Mapping) else {}
