"""What the fitted models say: effects of parameters, errors, and how experiments go along."""

from dataclasses import dataclass

import numpy as np

from hetbo.acquisition.predictor import Predictor
from hetbo.engine import Engine, Fitted
from hetbo.experiments import Trial
from hetbo.explanation import task_correlations
from hetbo.models.leave_one_out import leave_one_out
from hetbo.report.mixture import Band, mixed
from hetbo.spaces import Categorical, Int, Parameter, Value

_GRID = 61


@dataclass(frozen=True, slots=True)
class Effect:
    """How the prediction changes with one parameter, all others as in the best trial.

    Attributes:
        parameter: The parameter's name.
        definition: The parameter in the target's space.
        places: The values that the parameter takes.
        band: The predictions there, without measurement noise.
        at: The value in the best trial.
        seen: Whether a model knows the parameter at all.
    """

    parameter: str
    definition: Parameter
    places: tuple[Value, ...]
    band: Band
    at: Value
    seen: bool

    @property
    def size(self) -> float:
        """By how much the prediction changes along the parameter's range."""
        return max(self.band.middle) - min(self.band.middle)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The target's complete trials, each predicted from all others.

    Attributes:
        trials: The numbers of the trials.
        observed: Their values.
        band: The predictions, measurement noise included.
    """

    trials: tuple[int, ...]
    observed: tuple[float, ...]
    band: Band

    @property
    def inside(self) -> int:
        """How many values lie within their band."""
        ends = zip(self.band.low, self.observed, self.band.high, strict=True)
        return sum(low <= value <= high for low, value, high in ends)


@dataclass(frozen=True, slots=True)
class Correlations:
    """How experiments go along with each other, over all models that compare them.

    Attributes:
        names: The names of the `m` experiments, the target's first.
        matrix: Shape `m × m`: correlations from -1 to 1.
    """

    names: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]


def effects(engine: Engine, fitted: Fitted, best: Trial) -> tuple[Effect, ...]:
    """Return the effect of each parameter of the target, the largest first."""
    predictors = [Predictor(model) for model in fitted.models.values()]
    weights = [fitted.weights[name] for name in fitted.models]
    scales = [model.data.scales[0] for model in fitted.models.values()]
    unseen = set.intersection(*(set(model.unseen) for model in fitted.models.values()))
    found = []
    for name, definition in engine.joint.target.space.items():
        places = _places(definition, best.params[name])
        X = np.nan_to_num(engine.encoder.encode([{**best.params, name: p} for p in places]))
        moments = [predictor(X) for predictor in predictors]
        band = mixed([m.mean for m in moments], [m.sd for m in moments], weights, scales)
        found.append(Effect(name, definition, places, band, best.params[name], name not in unseen))
    return tuple(sorted(found, key=lambda effect: -effect.size))


def _places(definition: Parameter, at: Value) -> tuple[Value, ...]:
    """Return values along a parameter's range, the best trial's among them."""
    if isinstance(definition, Categorical):
        return definition.choices
    low, high = definition.low, definition.high
    space = np.geomspace if definition.log else np.linspace
    grid = np.clip(space(low, high, _GRID), low, high).tolist()
    if isinstance(definition, Int):
        return tuple(sorted({low, high, *(round(place) for place in grid), definition.check(at)}))
    return tuple(sorted({*grid, definition.check(at)}))


def left_out(fitted: Fitted, trials: tuple[Trial, ...]) -> LeftOut:
    """Return the leave-one-out predictions of the target's trials."""
    found = [leave_one_out(model) for model in fitted.models.values()]
    weights = [fitted.weights[name] for name in fitted.models]
    scales = [model.data.scales[0] for model in fitted.models.values()]
    values = {number: t.value for number, t in enumerate(trials) if t.value is not None}
    band = mixed([one.mean for one in found], [one.sd for one in found], weights, scales)
    return LeftOut(tuple(values), tuple(values.values()), band)


def correlations(engine: Engine, fitted: Fitted) -> Correlations:
    """Return the correlations of experiments, weighed over the models that transfer."""
    size = len(engine.joint.members)
    total, matrix = 0.0, np.zeros((size, size))
    for name, model in fitted.models.items():
        if not engine.recipe.voices[name].transfers:
            continue
        r, _ = task_correlations(model)
        np.fill_diagonal(r, 1.0)
        matrix += fitted.weights[name] * r
        total += fitted.weights[name]
    # Weights so small that they vanish leave nothing to divide by, and nothing to say.
    matrix = matrix / total if total else np.eye(size)
    kept = [i for i, m in enumerate(engine.joint.members) if m.name not in engine.left_out]
    names = tuple(engine.joint.members[i].name for i in kept)
    return Correlations(names, tuple(map(tuple, matrix[np.ix_(kept, kept)].tolist())))
