"""How well a model predicts each of the target's trials from all the others."""

import math
from dataclasses import dataclass

import numpy as np

from hetbo.encoding.encoder import FloatArray
from hetbo.models.base import TransferGP


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Predictions of the target's `n` trials, each made without its own value.

    Attributes:
        observed: Shape `n`: the values, scaled.
        mean: Shape `n`: the predictions' means.
        sd: Shape `n`: the predictions' standard deviations, noise included.
        log_density: Shape `n`: the log densities of the values under the predictions.
    """

    observed: FloatArray
    mean: FloatArray
    sd: FloatArray
    log_density: FloatArray


def leave_one_out(model: TransferGP) -> LeaveOneOut:
    """Return the leave-one-out predictions of a fitted model for the target's trials.

    The parameters stay those of the fit to all trials; only the values are left out in turn.
    """
    prediction = model.current_prediction()
    own = prediction.experiment.cpu().numpy() == 0
    precision = prediction.root.square().sum(-2).cpu().numpy()[own]
    error = prediction.weights.cpu().numpy()[own] / precision
    observed = model.train_targets.cpu().numpy()[own]
    log_density = 0.5 * (np.log(precision) - precision * error**2 - math.log(2 * math.pi))
    return LeaveOneOut(observed, observed - error, precision**-0.5, log_density)
