"""Optuna's side of hetbo: a sampler that learns from studies whose parameters were different."""

from hetbo.experiments.optuna_package import MissingOptunaError, require_optuna

require_optuna()

from hetbo.optuna.sampler import TransferSampler  # noqa: E402  # needs Optuna
from hetbo.optuna.sources import Source  # noqa: E402

__all__ = ["MissingOptunaError", "Source", "TransferSampler"]
