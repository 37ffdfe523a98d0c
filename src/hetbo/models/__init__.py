"""The surrogates: BoTorch models over the joint cube, and a fast fit for them.

data = Dataset.build(joint, trials, goal="maximize")
model = fit(ImputedGP(data, residual=True))
model.posterior(X)
"""

from hetbo.models.base import TransferGP
from hetbo.models.baselines import CommonGP, TargetGP
from hetbo.models.conditional import ConditionalGP
from hetbo.models.fitting import fit
from hetbo.models.imputed import ImputedGP
from hetbo.models.report import FitReport
from hetbo.models.settings import DEFAULT, PAPER, SETTINGS, LogNormal, Settings
from hetbo.models.uncertainty import LearnedChoice, LearnedNumber, LearnedValue, learned_values

__all__ = [
    "DEFAULT",
    "PAPER",
    "SETTINGS",
    "CommonGP",
    "ConditionalGP",
    "FitReport",
    "ImputedGP",
    "LearnedChoice",
    "LearnedNumber",
    "LearnedValue",
    "LogNormal",
    "Settings",
    "TargetGP",
    "TransferGP",
    "fit",
    "learned_values",
]
