"""Priors as GPyTorch's."""

import torch
from gpytorch.priors import LogNormalPrior

from hetbo.models._settings import LogNormal


def log_normal_prior(prior: LogNormal) -> LogNormalPrior:
    """Return the prior as GPyTorch's, in double precision."""
    return LogNormalPrior(
        torch.tensor(prior.location, dtype=torch.float64),
        torch.tensor(prior.scale, dtype=torch.float64),
    )
