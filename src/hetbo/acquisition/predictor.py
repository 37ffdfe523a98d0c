"""A fitted model's predictions for the target, with gradients, in plain NumPy.

`Prediction` serves BoTorch; this serves the search for the next point, which asks some hundred
times for the predictions of a handful of points and would spend its time in overhead otherwise.
"""

from dataclasses import dataclass

import numpy as np

from hetbo.encoding.encoder import FloatArray
from hetbo.models import TransferGP

_SMALLEST_VARIANCE = 1e-9
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Moments:
    """Predictions at `k` points.

    Attributes:
        mean: Shape `k`.
        sd: Shape `k`: the standard deviations.
        mean_gradient: Shape `k × d`.
        sd_gradient: Shape `k × d`.
    """

    mean: FloatArray
    sd: FloatArray
    mean_gradient: FloatArray
    sd_gradient: FloatArray


class Predictor:
    """Predicts the target from a fitted model.

    Args:
        model: The model, whose trials have no batch dimension.
    """

    def __init__(self, model: TransferGP) -> None:
        prediction = model.current_prediction()
        terms, trials, experiment = prediction.terms, prediction.trials, prediction.experiment
        self._columns = [term.columns.numpy() for term in terms]
        self._inverse = [term.inverse.numpy() for term in terms]
        self._points = [scaled.points.numpy() for scaled in trials]
        self._halves = [scaled.half_norms.numpy() for scaled in trials]
        self._factors = [term.factor[0, experiment].numpy() for term in terms]
        constant = prediction.constant
        self._constant = None if constant is None else constant[0, experiment].numpy()
        self._variance = float(prediction.variances[0])
        self._mean = float(prediction.means[0])
        self._root = prediction.root.numpy()
        self._weights = prediction.weights.numpy()
        self._fixed = ~model.imputation.missing[0].numpy()
        self._fill = model.imputation.table()[0].detach().numpy()

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at points of the target, with gradients.

        Args:
            X: Shape `k × d`.
        """
        X = np.where(self._fixed, X, self._fill)
        scaled, parts, cross = self._covariances(X)
        explained = cross @ self._root.T
        variance = self._variance - np.einsum("ij,ij->i", explained, explained)
        sd = np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))
        pull = explained @ self._root
        mean_gradient, sd_gradient = np.zeros_like(X), np.zeros_like(X)
        for c, inverse, S, P, part in zip(
            self._columns, self._inverse, scaled, self._points, parts, strict=True
        ):
            by_mean, by_variance = part * self._weights, part * pull
            down = by_mean.sum(axis=1)[:, np.newaxis] * S - by_mean @ P
            mean_gradient[:, c] -= inverse * down
            down = by_variance.sum(axis=1)[:, np.newaxis] * S - by_variance @ P
            sd_gradient[:, c] += inverse * down / sd[:, np.newaxis]
        sd_gradient[variance <= _SMALLEST_VARIANCE] = 0.0
        return Moments(
            self._mean + cross @ self._weights,
            sd,
            mean_gradient * self._fixed,
            sd_gradient * self._fixed,
        )

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone, in a fraction of the time.

        Args:
            X: Shape `k × d`.
        """
        mean, sd = np.empty(len(X)), np.empty(len(X))
        # Blocks that fit into the processor's cache are quicker than one large matrix.
        for first in range(0, len(X), _BLOCK):
            block = slice(first, first + _BLOCK)
            _, _, cross = self._covariances(np.where(self._fixed, X[block], self._fill))
            explained = cross @ self._root.T
            variance = self._variance - np.einsum("ij,ij->i", explained, explained)
            sd[block] = np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))
            mean[block] = self._mean + cross @ self._weights
        return mean, sd

    def _covariances(self, X: FloatArray) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
        """Return the points scaled for each term, each term's covariances, and their sum."""
        scaled = [X[:, c] * i for c, i in zip(self._columns, self._inverse, strict=True)]
        parts: list[FloatArray] = []
        cross = np.zeros((len(X), len(self._weights)))
        if self._constant is not None:
            cross += self._constant
        for S, P, half, factor in zip(
            scaled, self._points, self._halves, self._factors, strict=True
        ):
            part = S @ P.T
            part -= half
            part -= 0.5 * np.einsum("ij,ij->i", S, S)[:, np.newaxis]
            np.minimum(part, 0.0, out=part)
            np.exp(part, out=part)
            part *= factor
            cross += part
            parts.append(part)
        return scaled, parts, cross
