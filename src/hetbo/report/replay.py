"""The run once more, step by step: what the models make of the first trials alone."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.acquisition.feasibility import feasibility_of
from hetbo.acquisition.log_ei import log_expected_improvement
from hetbo.acquisition.pooled import Opinion, PooledLogEI
from hetbo.acquisition.predictor import Predictor
from hetbo.acquisition.search import maximise
from hetbo.engine import Engine
from hetbo.errors import FitError
from hetbo.experiments import Trial, TrialState
from hetbo.explanation import trust_in_sources
from hetbo.report.snapshot import Snapshot

_logger = logging.getLogger(__name__)

_MOST_STEPS, _FEWEST_STEPS = 41, 4
_QUICK_ROWS = 200
"""Up to so many trials in all, a step takes about a second; beyond, fewer steps are made."""
_EARLIER = 1.5
_WITHOUT_SOURCES = "vanilla"


@dataclass(frozen=True, slots=True)
class TrustStep:
    """How far the sources are trusted after some trials.

    Attributes:
        trials: How many trials were known.
        trust: The trust in each source, in the order of the joint space.
    """

    trials: int
    trust: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a model without the sources expected of one trial, just before it.

    Attributes:
        trial: The number of the trial.
        best: The best value so far, before that trial.
        expected: The expected best value after a trial that this model would have chosen.
    """

    trial: int
    best: float
    expected: float


def chosen_steps(count: int, rows: int) -> list[int]:
    """Return after how many trials to look: after each, or after some, early ones rather.

    Args:
        count: How many trials there are.
        rows: How many trials there are with those of the sources.
    """
    affordable = int(_MOST_STEPS * min(1.0, (_QUICK_ROWS / max(rows, 1)) ** 2))
    most = min(max(affordable, _FEWEST_STEPS), count + 1)
    if most == count + 1:
        return list(range(most))
    # Trust and progress change most in the beginning, where a fit is cheap as well.
    places = count * np.linspace(0, 1, most) ** _EARLIER
    return sorted({round(place) for place in places.tolist()})


def trust_steps(
    snapshot: Snapshot, steps: Sequence[int], tick: Callable[[], None]
) -> Iterator[TrustStep]:
    """Yield the trust in the sources after the first trials, the models fitted anew.

    Args:
        snapshot: The optimizer's state.
        steps: After how many trials to look.
        tick: Called after each step.
    """
    engine = snapshot.fresh(snapshot.method)
    for step in steps:
        known = snapshot.trials[:step]
        try:
            if engine.has_a_say(known):
                fitted = engine.fit(known, np.random.default_rng([*snapshot.seeds, step]))
                trust, _ = trust_in_sources(engine, fitted)
                yield TrustStep(step, tuple(trust.values()))
        except FitError as error:
            _logger.warning("the report leaves out the step after %d trials: %s", step, error)
        tick()


def expectations(
    snapshot: Snapshot, steps: Sequence[int], tick: Callable[[], None]
) -> Iterator[Expectation]:
    """Yield what a model without the sources expected of trials, each just before it.

    The model knows the target's trials up to then and nothing else. It chooses the next point as
    the method 'vanilla' would. The value there is normal, noise included, so that the expected
    best value after the trial is the best so far plus the expected improvement upon it.

    Args:
        snapshot: The optimizer's state.
        steps: The numbers of the trials.
        tick: Called after each step.
    """
    engine = snapshot.fresh(_WITHOUT_SOURCES)
    for step in steps:
        known = snapshot.trials[:step]
        values = [trial.value for trial in known if trial.value is not None]
        # Without sources an even cover comes first: until then no model expects anything. One
        # value, or equal ones, have no spread from which to expect something.
        if step < len(snapshot.trials) and engine.has_a_say(known) and len(set(values)) > 1:
            rng = np.random.default_rng([*snapshot.seeds, step])
            best = max(values, key=lambda value: engine.goal.sign * value)
            try:
                gain = _expected_gain(engine, known, best, rng)
                yield Expectation(step, best, best + engine.goal.sign * gain)
            except FitError as error:
                _logger.warning("the report leaves out trial %d: %s", step, error)
        tick()


def _expected_gain(
    engine: Engine, trials: Sequence[Trial], best: float, rng: np.random.Generator
) -> float:
    fit_rng, search_rng = rng.spawn(2)
    ((_, model),) = engine.fit(trials, fit_rng).models.items()
    encoder, predictor = engine.encoder, Predictor(model)
    X = np.nan_to_num(encoder.encode([trial.params for trial in trials]))
    complete = np.array([trial.state is TrialState.COMPLETE for trial in trials])
    means = predictor(X[complete]).mean
    acquisition = PooledLogEI(
        [Opinion(predictor, float(means.max()), 1.0)],
        feasibility_of(trials, engine.joint, fit_rng),
    )
    good = X[complete][np.argsort(-means)[:5]]
    x, _ = maximise(acquisition, encoder, rng=search_rng, known=X, anchors=good, pool=engine.pool)
    there, scale = predictor(x[np.newaxis]), model.data.scales[0]
    sd = np.sqrt(there.sd**2 + float(model.likelihood.noise.detach()[0]))
    log_gain, _, _ = log_expected_improvement(there.mean, sd, float(scale.scale([best])[0]))
    return float(np.exp(log_gain)[0]) * scale.spread
