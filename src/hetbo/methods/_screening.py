"""Which sources have nothing to teach: those whose own values look like noise."""

import math
import warnings
from functools import lru_cache

import numpy as np
from scipy.stats import spearmanr

from hetbo._arrays import FloatArray
from hetbo._threads import one_thread_for
from hetbo.encoding import Dataset, EncodedSources, Encoder
from hetbo.errors import FitError, HetboWarning, shown
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.joint import JointSpace
from hetbo.models import GPSurrogate, TargetGP
from hetbo.spaces import Space

_FEWEST = 30
"""With fewer trials than this, a real shape often predicts no better than chance."""
_MOST = 100
"""So many trials are enough to tell, and more would take long."""
_FOLDS = 5
_REMEMBERED = 4096
"""More sources than anybody has: each engine asks of all, in order, and would find none of them."""
_CHANCE = 1.645
"""One in twenty sources of noise alone scores better than this."""


def is_noise(source: Experiment) -> bool:
    """Return whether a source's values look as if they had nothing to do with its parameters.

    A model of the source alone predicts a fifth of its trials from the others, fifth by fifth. If
    these predictions rank the trials no better than chance would, there is no shape that could
    carry over, and any likeness with the target is an accident that would mislead. With fewer than
    30 trials nothing is held against a source, since a real shape would often go unnoticed.

    The answer depends on the source alone and is remembered. The first time that it is yes, a
    warning says so.
    """
    if len(source.complete) < _FEWEST:
        return False
    return _is_noise(source.name, source.space, source.complete, source.goal)


def noise_sentence(name: str) -> str:
    """Return what is said of a source whose values look like noise."""
    return f"{shown(name)} is not used: its values look like noise, unrelated to its parameters."


@lru_cache(maxsize=_REMEMBERED)
def _is_noise(name: str, space: Space, complete: tuple[Trial, ...], goal: Goal) -> bool:
    with one_thread_for(_MOST):
        found = _ranks_like_chance(space, complete, goal)
    if found:
        warnings.warn(noise_sentence(name), HetboWarning, stacklevel=2)
    return found


def _ranks_like_chance(space: Space, complete: tuple[Trial, ...], goal: Goal) -> bool:
    """Return whether predictions of a source's trials from the others rank them by chance."""
    rng = np.random.default_rng(0)
    trials = [complete[i] for i in rng.permutation(len(complete))[:_MOST]]
    alone = EncodedSources(Encoder(JointSpace.merge(space)))
    X = alone.encoder.encode([trial.params for trial in trials])
    predicted = np.empty(len(trials))
    fold = np.arange(len(trials)) % _FOLDS
    for out in range(_FOLDS):
        known = [trial for trial, f in zip(trials, fold, strict=True) if f != out]
        data = Dataset.build(alone, known, goal=goal)
        try:
            fitted = GPSurrogate(TargetGP).fit(data, rng=rng)
        except FitError:
            return False
        predicted[fold == out] = fitted.scale.unscale(fitted(X[fold == out]).mean)
    likeness = _rank_correlation(predicted, np.array([trial.value for trial in trials]))
    # Of n values without any relation, it is about normal with variance 1 / (n - 1).
    return likeness * math.sqrt(len(trials) - 1) < _CHANCE


def _rank_correlation(predicted: FloatArray, values: FloatArray) -> float:
    """Return Spearman's rank correlation; 1 if the values, or the predictions, are all equal.

    A source with one value throughout is no noise: it says that nothing matters.
    """
    if values.min() == values.max() or predicted.min() == predicted.max():
        return 1.0
    return float(spearmanr(predicted, values).statistic)
