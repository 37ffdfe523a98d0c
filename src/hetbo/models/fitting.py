"""The fit: the most likely parameters, from several starts."""

import logging
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from hetbo.encoding.encoder import FloatArray
from hetbo.errors import FitError
from hetbo.models.base import TransferGP
from hetbo.models.climbing import climb
from hetbo.models.marginal_likelihood import MarginalLikelihood, NotPositiveDefinite
from hetbo.models.prediction import JITTERS
from hetbo.models.report import FitReport
from hetbo.models.slips import LaggingLikelihood, forget_units
from hetbo.threads import one_thread_for

_logger = logging.getLogger(__name__)

_DRAWS_PER_START = 8
_SPARE_STARTS = 4
"""So many more are tried if all others failed."""
_EXPLORATION, _EXPLORATION_GAIN = 30, 1e-4
"""Each start climbs so far: enough to see which is best."""
_POLISH, _POLISH_GAIN = 500, 1e-8
"""The best one then climbs to the top."""
_PAPER_STEPS, _PAPER_GAIN, _PAPER_SLOPE = 600, 2.2e-9, 1e-5
"""A fit with the slips of the authors' code climbs once, until it seems to be there."""

Model = TypeVar("Model", bound=TransferGP)


def fit(
    model: Model,
    *,
    rng: np.random.Generator | None = None,
    starts: int = 4,
    warm_start: Sequence[float] | None = None,
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

    Returns:
        The model, in evaluation mode, with its `fit_report`.

    Raises:
        FitError: No start succeeded, or the data is not finite.
    """
    began = time.perf_counter()
    _check_finite(model)
    rng = np.random.default_rng(0) if rng is None else rng
    likelihood = MarginalLikelihood(model)
    slips = model.settings.with_slips and model.imputation.learned
    trials = len(model.train_targets)
    found: list[tuple[float, FloatArray]] = []
    failures: list[str] = []
    tried = 0
    with one_thread_for(trials):
        for start in _starts(likelihood, rng, starts, warm_start):
            if tried >= starts and (found or tried >= starts + _SPARE_STARTS):
                break
            tried += 1
            result = _search(likelihood, start, failures, lagging_over=trials if slips else None)
            if result is not None:
                found.append(result)
        if not found:
            raise FitError(
                f"{type(model).__name__} of {', '.join(map(repr, model.data.names))} could not be "
                f"fitted: none of {tried} starts succeeded ({'; '.join(failures)})"
            )
        found.sort(key=lambda pair: -pair[0])
        best = found[0][1]
        if slips:
            found[0] = likelihood(best)[0], best
        else:
            found[0] = climb(likelihood, best, iterations=_POLISH, smallest_gain=_POLISH_GAIN)
        likelihood.write(found[0][1])
    if slips:
        forget_units(model)
    model.eval()
    model.fit_report = FitReport(
        parameters=tuple(found[0][1].tolist()),
        map_value=found[0][0],
        start_values=tuple(value for value, _ in found),
        evaluations=likelihood.evaluations,
        starts=tried,
        failures=tuple(failures),
        seconds=time.perf_counter() - began,
    )
    return model


def _starts(
    likelihood: MarginalLikelihood,
    rng: np.random.Generator,
    count: int,
    warm_start: Sequence[float] | None,
) -> Iterator[FloatArray]:
    """Yield the starts that were asked for, and then random ones without end."""
    first = likelihood.coordinates.first(rng)
    if warm_start is not None and len(warm_start) == likelihood.coordinates.size:
        first = np.clip(np.array(warm_start), *likelihood.coordinates.bounds)
    yield first
    drawn = []
    for _ in range(_DRAWS_PER_START * (count - 1)):
        z = likelihood.coordinates.draw(rng)
        try:
            drawn.append((likelihood(z)[0], z))
        except NotPositiveDefinite:
            continue
    drawn.sort(key=lambda pair: -pair[0])
    yield from (z for _, z in drawn[: count - 1])
    while True:
        yield likelihood.coordinates.draw(rng)


def _search(
    likelihood: MarginalLikelihood,
    start: FloatArray,
    failures: list[str],
    *,
    lagging_over: int | None = None,
) -> tuple[float, FloatArray] | None:
    """Climb from one start, with a larger diagonal if need be; None if nothing helps.

    Args:
        likelihood: The log posterior.
        start: Where to start.
        failures: What went wrong is added here.
        lagging_over: The number of trials if missing values are to lag a step behind.
    """
    for jitter in JITTERS:
        likelihood.jitter = jitter
        try:
            if lagging_over is None:
                value, z = climb(
                    likelihood, start, iterations=_EXPLORATION, smallest_gain=_EXPLORATION_GAIN
                )
            else:
                value, z = climb(
                    LaggingLikelihood(likelihood, lagging_over),
                    start,
                    iterations=_PAPER_STEPS,
                    smallest_gain=_PAPER_GAIN,
                    flattest=_PAPER_SLOPE,
                )
        except NotPositiveDefinite:
            failures.append(f"not positive definite with {jitter:g} on the diagonal")
            _logger.info("fit: %s", failures[-1])
            continue
        if np.isfinite(value):
            return value, z
        failures.append(f"the log posterior became {value}")
    _logger.warning("fit: dropped a start: %s", failures[-1])
    return None


def _check_finite(model: TransferGP) -> None:
    inputs, values = model.train_inputs[0], model.train_targets
    bad = ~(inputs.isfinite().all(-1) & values.isfinite())
    if bad.any():
        experiment = int(inputs[bad][0, -2])
        raise FitError(
            f"{model.data.names[experiment]!r} has {int(bad.sum())} trials that are not finite"
        )
