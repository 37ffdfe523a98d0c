"""Everything that knows Optuna: a sampler that learns from past studies, and studies as data.

The sampler loads PyTorch, and is loaded when it is first used; the rest only loads Optuna.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hetbo.integrations.optuna._errors import MissingOptunaError

if find_spec("optuna") is None:
    raise MissingOptunaError(
        "this needs Optuna, which is not installed; get it with: pip install optuna"
    )

from hetbo.integrations.optuna._distributions import distribution_of, written_value
from hetbo.integrations.optuna._sources import Source
from hetbo.integrations.optuna._storages import (
    check_holds_studies,
    closing_database,
    without_password,
)
from hetbo.integrations.optuna._studies import as_trial, experiments_in, read_study, write_study
from hetbo.integrations.optuna._unfinished_studies import (
    EXPERIMENT,
    check_finished,
    is_bare,
    is_finished,
    is_left,
)
from hetbo.integrations.optuna._whole_storages import experiments_to_learn_from, studies_at

if TYPE_CHECKING:
    from hetbo.integrations.optuna._sampler import TransferSampler
else:

    def __getattr__(name: str) -> object:
        if name != "TransferSampler":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from hetbo.integrations.optuna._sampler import TransferSampler  # noqa: PLC0415

        return TransferSampler


__all__ = [
    "EXPERIMENT",
    "MissingOptunaError",
    "Source",
    "TransferSampler",
    "as_trial",
    "check_finished",
    "check_holds_studies",
    "closing_database",
    "distribution_of",
    "experiments_in",
    "experiments_to_learn_from",
    "is_bare",
    "is_finished",
    "is_left",
    "read_study",
    "studies_at",
    "without_password",
    "write_study",
    "written_value",
]
