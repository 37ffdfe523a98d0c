"""The fit: the most likely parameters, from several starts."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from hetbo._arrays import FloatArray
from hetbo._threads import one_thread_for
from hetbo.errors import FitError
from hetbo.models._base import TransferGP
from hetbo.models._fit_report import FitReport
from hetbo.models._marginal_likelihood import MarginalLikelihood, NotPositiveDefinite
from hetbo.models._maximize import maximize
from hetbo.models._posterior import JITTERS

_logger = logging.getLogger(__name__)

_DRAWS_PER_START = 8
_EVALUATIONS_PER_START = 75
"""So many were seen on the benchmarks, random draws and the polish included."""
_SPARE_STARTS = 4
"""So many more are tried if all others failed."""
_EXPLORATION, _EXPLORATION_FTOL = 30, 1e-4
"""Each start is followed so far: enough to see which is best."""
_POLISH, _POLISH_FTOL = 500, 1e-8
"""The best one is then followed to the maximum."""
Model = TypeVar("Model", bound=TransferGP)

Search = Callable[[MarginalLikelihood, FloatArray], tuple[float, FloatArray]]
"""From a start to a higher log posterior, and where it is reached."""


def explore(likelihood: MarginalLikelihood, start: FloatArray) -> tuple[float, FloatArray]:
    """Follow a start as far as it takes to see which of several is best."""
    return maximize(likelihood, start, steps=_EXPLORATION, ftol=_EXPLORATION_FTOL)


def polish(likelihood: MarginalLikelihood, start: FloatArray) -> tuple[float, FloatArray]:
    """Follow the best start to the maximum."""
    return maximize(likelihood, start, steps=_POLISH, ftol=_POLISH_FTOL)


def fit(
    model: Model,
    *,
    rng: np.random.Generator | None = None,
    starts: int = 4,
    warm_start: Sequence[float] | None = None,
    search: Search = explore,
    last_search: Search = polish,
) -> Model:
    """Set a model's parameters to their most likely values.

    Starts are the parameters of an earlier fit, or else the model's as they are, and the best of a
    handful of random draws. A start that fails numerically is tried again with a larger diagonal,
    then dropped; if all are dropped, some more are drawn.

    Args:
        model: The model; it is changed.
        rng: Where random starts come from; a fixed generator if None.
        starts: How many searches to make, at least one.
        warm_start: The `parameters` of an earlier fit's report, of the same kind of model to fewer
            trials of the same experiments. Parameters of another number are ignored.
        search: What is done from each start.
        last_search: What is done from the best of the results.

    Returns:
        The model, in evaluation mode, with its `fit_report`.

    Raises:
        FitError: No start succeeded, or the data is not finite.
    """
    began = time.perf_counter()
    _check_finite(model)
    rng = np.random.default_rng(0) if rng is None else rng
    likelihood = MarginalLikelihood(model)
    trials = len(model.train_targets)
    found: list[tuple[float, FloatArray, float]] = []
    failures: list[str] = []
    tried = 0
    with one_thread_for(trials):
        for start in _starts(likelihood, rng, starts, warm_start):
            if tried >= starts and (found or tried >= starts + _SPARE_STARTS):
                break
            tried += 1
            result = _searched(likelihood, start, failures, search)
            if result is not None:
                found.append((*result, likelihood.jitter))
        if not found:
            raise FitError(
                f"{type(model).__name__} of {', '.join(map(repr, model.data.names))} could not be "
                f"fitted: none of {tried} starts succeeded ({'; '.join(failures)})"
            )
        found.sort(key=lambda pair: -pair[0])
        # What is on the diagonal belongs to the search that found these parameters.
        value, best, likelihood.jitter = found[0]
        value, best = _finished(likelihood, value, best, last_search)
        likelihood.write(best)
    model.eval()
    model.fit_report = FitReport(
        parameters=tuple(best.tolist()),
        map_value=value,
        start_values=(value, *(other for other, _, _ in found[1:])),
        evaluations=likelihood.evaluations,
        starts=tried,
        failures=tuple(failures),
        seconds=time.perf_counter() - began,
    )
    return model


def seconds_to_fit(model: TransferGP, starts: int) -> float:
    """Return about how long a fit takes, from how long one evaluation does.

    Args:
        model: The model; it stays as it is.
        starts: How many searches the fit will make.
    """
    likelihood = MarginalLikelihood(model)
    parameters = likelihood.vector.read()
    with one_thread_for(len(model.train_targets)):
        try:
            likelihood(parameters)  # the first one also pays for memory
            began = time.perf_counter()
            likelihood(parameters)
        except NotPositiveDefinite:
            return 0.0
    return (time.perf_counter() - began) * _EVALUATIONS_PER_START * starts


def _starts(
    likelihood: MarginalLikelihood,
    rng: np.random.Generator,
    count: int,
    warm_start: Sequence[float] | None,
) -> Iterator[FloatArray]:
    """Yield the starts that were asked for, and then random ones without end."""
    first = likelihood.vector.first(rng)
    if warm_start is not None and len(warm_start) == likelihood.vector.size:
        first = np.clip(np.array(warm_start), *likelihood.vector.bounds)
    yield first
    drawn = []
    for _ in range(_DRAWS_PER_START * (count - 1)):
        z = likelihood.vector.draw(rng)
        try:
            drawn.append((likelihood(z)[0], z))
        except NotPositiveDefinite:
            continue
    drawn.sort(key=lambda pair: -pair[0])
    yield from (z for _, z in drawn[: count - 1])
    while True:
        yield likelihood.vector.draw(rng)


def _searched(
    likelihood: MarginalLikelihood, start: FloatArray, failures: list[str], search: Search
) -> tuple[float, FloatArray] | None:
    """Search from one start, with a larger diagonal if need be; None if nothing helps.

    Args:
        likelihood: The log posterior.
        start: Where to start.
        failures: What went wrong is added here.
        search: What is done from the start.
    """
    for jitter in JITTERS:
        likelihood.jitter = jitter
        try:
            value, z = search(likelihood, start)
        except NotPositiveDefinite:
            failures.append(f"not positive definite with {jitter:g} on the diagonal")
            _logger.info("fit: %s", failures[-1])
            continue
        if np.isfinite(value):
            return value, z
        failures.append(f"the log posterior became {value}")
    _logger.warning("fit: dropped a start: %s", failures[-1])
    return None


def _finished(
    likelihood: MarginalLikelihood, value: float, best: FloatArray, last_search: Search
) -> tuple[float, FloatArray]:
    """Search from the best result; stay there if the covariance fails on the way."""
    try:
        return last_search(likelihood, best)
    except NotPositiveDefinite:
        _logger.warning("fit: not polished: the covariance is not positive definite on the way")
        return value, best


def _check_finite(model: TransferGP) -> None:
    inputs, values = model.train_inputs[0], model.train_targets
    bad = ~(inputs.isfinite().all(-1) & values.isfinite())
    if bad.any():
        experiment = int(inputs[bad][0, -2])
        raise FitError(
            f"{model.data.names[experiment]!r} has {int(bad.sum())} trials that are not finite"
        )
