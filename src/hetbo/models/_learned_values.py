"""What is known of a learned value, and how well.

A missing value's likelihood can be flat, one-sided or have several peaks, none of which the
curvature at its best point would show. So the value is moved through its range, everything else
is fitted anew at each step. The profile of log posteriors that results gives the interval of
values that the trials do not rule out, which can reach the ends of the range, and, as the value's
prior is uniform, its density. A missing category is put at each of its choices in turn.

Interval and density follow one rule, that of Student's t with as many degrees of freedom as there
are trials to spare: the trials that judge the value are those that everything else was fitted to.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.stats import f

from hetbo._arrays import FloatArray
from hetbo._threads import one_thread_for
from hetbo.errors import SpaceError
from hetbo.models._base import TransferGP
from hetbo.models._findings import LearnedChoice, LearnedNumber, LearnedValue
from hetbo.models._imputation import Gap
from hetbo.models._marginal_likelihood import MarginalLikelihood, NotPositiveDefinite
from hetbo.models._maximize import maximize
from hetbo.spaces import Parameter

_STEPS = 13
_FINE_STEPS = 1001
_LEVEL = 0.95
_VERTEX_LOGIT = 4.0
_STEPS_PER_VALUE = 15


def learned_values(model: TransferGP) -> tuple[LearnedValue, ...]:
    """Return what a fitted model learned about each missing value, with its uncertainty.

    Args:
        model: A fitted model. It stays as it is.

    Returns:
        One entry per missing parameter of each experiment that has trials; none if the model does
        not learn missing values.
    """
    if not model.imputation.learned:
        return ()
    with one_thread_for(len(model.train_targets)):
        return tuple(_learned(model))


def _learned(model: TransferGP) -> Iterator[LearnedValue]:
    likelihood = MarginalLikelihood(model)
    start = likelihood.vector.read()
    experiments = set(model.data.experiment.tolist())
    slots = likelihood.vector.slots
    at = slots["values"].where.start
    for gap in model.imputation.numeric:
        if gap.experiment in experiments:
            yield _number(model, gap, likelihood, start, at)
        at += 1
    at = slots["logits"].where.start
    for gap in model.imputation.categorical:
        where = slice(at, at + len(gap.columns))
        if gap.experiment in experiments:
            yield _choice(model, gap, likelihood, start, where)
        at = where.stop


def _number(
    model: TransferGP, gap: Gap, likelihood: MarginalLikelihood, start: FloatArray, at: int
) -> LearnedValue:
    # In the paper's settings a fit may leave the range; what is told of the value stays inside.
    best = float(np.clip(start[at], 0.0, 1.0))
    grid = np.unique(np.append(np.linspace(0.0, 1.0, _STEPS), best))
    profile = np.full(len(grid), -np.inf)
    middle = int(np.searchsorted(grid, best))
    # Outwards from the best value, then through the whole range both ways: a neighbour's fit is a
    # good start, and a second way to each place finds what the first one missed.
    last = len(grid) - 1
    for way in (
        range(middle, last + 1),
        range(middle, -1, -1),
        range(last + 1),
        range(last, -1, -1),
    ):
        z = start.copy()
        for index in way:
            z[at] = grid[index]
            value, z = _refit(likelihood, z, slice(at, at + 1))
            profile[index] = max(profile[index], value)
    fine = np.linspace(0.0, 1.0, _FINE_STEPS)
    loss = profile.max() - PchipInterpolator(grid, profile)(fine)
    trials, spare = len(model.data.y), spare_trials(model)
    kept = fine[loss <= _largest_loss(trials, spare)]
    density = student_likelihood(loss, trials, spare)
    density /= np.trapezoid(density, fine)
    parameter = model.data.encoder.joint.space[gap.parameter]
    if parameter.scale is None:
        return _ordered_choice(model, gap, parameter, fine, density)
    estimate, lowest, highest = model.data.encoder.values_at(
        gap.parameter, np.array([best, kept.min(), kept.max()])
    ).tolist()
    return LearnedNumber(
        experiment=model.data.names[gap.experiment],
        parameter=gap.parameter,
        estimate=estimate,
        low=lowest,
        high=highest,
        positions=model.data.encoder.values_at(gap.parameter, fine),
        density=density,
    )


def spare_trials(model: TransferGP) -> int:
    """Return how many trials there are beyond one for each fitted parameter, at least 1."""
    return max(len(model.data.y) - model.parameter_vector().size, 1)


def _largest_loss(trials: int, spare: int) -> float:
    """Return by how much the profile may fall below its maximum inside a 95 % interval.

    `spare · (exp(2 loss / trials) - 1)` has the F distribution with 1 and `spare` degrees of
    freedom, which is that of a squared Student's t.
    """
    return 0.5 * trials * math.log1p(float(f.ppf(_LEVEL, 1, spare)) / spare)


def student_likelihood(loss: FloatArray, trials: int, spare: int) -> FloatArray:
    """Return Student's density, up to a factor, where the profile is so far below its maximum."""
    likelihood: FloatArray = np.exp(-loss * (spare + 1) / trials)
    return likelihood


def _choice(
    model: TransferGP, gap: Gap, likelihood: MarginalLikelihood, start: FloatArray, where: slice
) -> LearnedChoice:
    count = len(gap.columns)
    profile = np.empty(count)
    for choice in range(count):
        z = start.copy()
        z[where] = _VERTEX_LOGIT * (2.0 * np.eye(count)[choice] - 1.0)
        profile[choice], _ = _refit(likelihood, z, where)
    trials, spare = len(model.data.y), spare_trials(model)
    weights = student_likelihood(profile.max() - profile, trials, spare)
    return _learned_choice(model, gap, model.data.encoder.joint.space[gap.parameter], weights)


def _ordered_choice(
    model: TransferGP, gap: Gap, parameter: Parameter, positions: FloatArray, density: FloatArray
) -> LearnedChoice:
    """Return how likely each value with a cell of its own is: the density's share in the cell."""
    cells = model.data.encoder.cells(gap.parameter, parameter)
    if cells is None:
        raise SpaceError(f"{parameter!r} has neither numbers nor cells; give its axis cells()")
    inside = np.searchsorted(cells[0][1:-1], positions, side="right")
    weights: FloatArray = np.bincount(inside, density, len(cells[1])).astype(np.float64)
    return _learned_choice(model, gap, parameter, weights)


def _learned_choice(
    model: TransferGP, gap: Gap, parameter: Parameter, weights: FloatArray
) -> LearnedChoice:
    choices = parameter.values or ()
    return LearnedChoice(
        model.data.names[gap.experiment],
        gap.parameter,
        choices[int(weights.argmax())],
        tuple(zip(choices, (weights / weights.sum()).tolist(), strict=True)),
    )


def _refit(
    likelihood: MarginalLikelihood, z: FloatArray, frozen: slice
) -> tuple[float, FloatArray]:
    """Fit everything but some parameters; return the log posterior and the parameters."""
    try:
        return maximize(likelihood, z, steps=_STEPS_PER_VALUE, ftol=1e-5, frozen=frozen)
    except NotPositiveDefinite:
        return -np.inf, z
