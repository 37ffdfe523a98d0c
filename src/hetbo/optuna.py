"""`hetbo.integrations.optuna` under the name that Optuna's users know: the sampler."""

from hetbo.integrations.optuna import MissingOptunaError, Source, TransferSampler

__all__ = ["MissingOptunaError", "Source", "TransferSampler"]
