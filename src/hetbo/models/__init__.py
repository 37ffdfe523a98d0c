"""The surrogates: BoTorch models over the joint cube, and a fast fit for them.

data = Dataset.build(joint, trials, goal="maximize")
model = fit(ImputedGP(data, residual=True))
model.posterior(X)
"""

import warnings

with warnings.catch_warnings():
    # Its first import compiles with torch.jit.script, which newer versions of PyTorch deprecate.
    warnings.simplefilter("ignore", DeprecationWarning)
    import linear_operator as linear_operator

from hetbo.models._base import TransferGP
from hetbo.models._baselines import CommonGP, TargetGP
from hetbo.models._conditional import ConditionalGP
from hetbo.models._findings import (
    CORRELATIONS,
    Correlation,
    CorrelationDensity,
    LearnedChoice,
    LearnedNumber,
    LearnedValue,
    LeaveOneOut,
    SourceUse,
    pooled_correlation,
)
from hetbo.models._fit import Search, fit
from hetbo.models._fit_report import FitReport
from hetbo.models._gp_surrogate import FittedGP, GPSurrogate
from hetbo.models._imputation import Imputation
from hetbo.models._imputed import ImputedGP
from hetbo.models._learned_values import learned_values
from hetbo.models._marginal_likelihood import (
    MarginalLikelihood,
    NotPositiveDefinite,
    inverse_of,
)
from hetbo.models._maximize import LogPosterior, maximize
from hetbo.models._parameter_vector import FitParameter, ParameterVector, Slots
from hetbo.models._posterior import Posterior
from hetbo.models._settings import DEFAULT, ONE_SCALE, SETTINGS, LogNormal, Settings
from hetbo.models._squared_exponential import (
    SquaredExponential,
    squared_exponential,
    squared_exponential_slope,
)
from hetbo.models._stationary import StationaryKernel
from hetbo.models._surrogate import (
    FittedDefaults,
    FittedSurrogate,
    Moments,
    Predictor,
    Preparing,
    Surrogate,
)
from hetbo.models._transfer_kernel import (
    BlockKernel,
    BlocksOnTrials,
    ResidualKernel,
    TransferKernel,
)

__all__ = [
    "CORRELATIONS",
    "DEFAULT",
    "ONE_SCALE",
    "SETTINGS",
    "BlockKernel",
    "BlocksOnTrials",
    "CommonGP",
    "ConditionalGP",
    "Correlation",
    "CorrelationDensity",
    "FitParameter",
    "FitReport",
    "FittedDefaults",
    "FittedGP",
    "FittedSurrogate",
    "GPSurrogate",
    "Imputation",
    "ImputedGP",
    "LearnedChoice",
    "LearnedNumber",
    "LearnedValue",
    "LeaveOneOut",
    "LogNormal",
    "LogPosterior",
    "MarginalLikelihood",
    "Moments",
    "NotPositiveDefinite",
    "ParameterVector",
    "Posterior",
    "Predictor",
    "Preparing",
    "ResidualKernel",
    "Search",
    "Settings",
    "Slots",
    "SourceUse",
    "SquaredExponential",
    "StationaryKernel",
    "Surrogate",
    "TargetGP",
    "TransferGP",
    "TransferKernel",
    "fit",
    "inverse_of",
    "learned_values",
    "maximize",
    "pooled_correlation",
    "squared_exponential",
    "squared_exponential_slope",
]
