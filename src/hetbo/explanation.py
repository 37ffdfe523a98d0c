"""What the models say, in words and numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.encoding.encoder import FloatArray
from hetbo.engine import Engine, Fitted
from hetbo.experiments import Trial
from hetbo.models import LearnedNumber, LearnedValue, TransferGP, learned_values
from hetbo.penalties import penalties_of, penalty_sentence
from hetbo.screening import noise_sentence

_MUCH, _LITTLE = 0.7, 0.3


@dataclass(frozen=True, slots=True)
class Explanation:
    """How far each model and source is trusted, and what was learned.

    Attributes:
        models: The weight of each model; they add up to 1.
        sources: How far each source is trusted, from 0 to 1: the weight of the models that
            transfer, times how closely the source goes along with the target in them, times how
            much of its values is more than noise to them.
        correlations: How the target goes along with each source, from -1 to 1.
        learned: What was learned about parameters that an experiment did not tune.
        sentence: All of that in words.
        left_out: The sources that have no say because their own values look like noise.
    """

    models: Mapping[str, float]
    sources: Mapping[str, float]
    correlations: Mapping[str, float]
    learned: tuple[LearnedValue, ...]
    sentence: str
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


def explain(engine: Engine, trials: Sequence[Trial], rng: np.random.Generator) -> Explanation:
    """Fit the models to what is known and say what they found."""
    if not engine.recipe.voices:
        return Explanation({}, {}, {}, (), "Random search: no model has a say.")
    if not engine.has_a_say(trials):
        noise = [noise_sentence(name) for name in engine.left_out]
        sentence = " ".join(["No model has a say yet: the space is being covered.", *noise])
        return Explanation({}, {}, {}, (), sentence, engine.left_out)
    return explain_fitted(engine, engine.fit(trials, rng))


def explain_fitted(engine: Engine, fitted: Fitted) -> Explanation:
    """Say what models found that are fitted already."""
    measured = any((model.data.experiment == 0).any() for model in fitted.models.values())
    sources, correlations = trust_in_sources(engine, fitted)
    transfer = sum(
        weight for name, weight in fitted.weights.items() if engine.recipe.voices[name].transfers
    )
    learned: tuple[LearnedValue, ...] = ()
    candidates = [n for n, m in fitted.models.items() if m.imputation.learned]
    if candidates:
        found = learned_values(fitted.models[max(candidates, key=fitted.weights.__getitem__)])
        learned = tuple(value for value in found if _is_heard(value, engine))
    parts = [*_source_sentences(engine, transfer, sources, correlations, measured=measured)]
    if engine.softens:
        parts.append("Bad values count as less bad: the sources have a long tail of them.")
    sentence = " ".join([*parts, *map(_learned_sentence, learned)])
    return Explanation(fitted.weights, sources, correlations, learned, sentence, engine.left_out)


def _is_heard(value: LearnedValue, engine: Engine) -> bool:
    """Tell whether a learned value is of an experiment, and of a parameter, that has a say."""
    members = [m for m in engine.joint.members if m.name not in engine.left_out]
    return any(value.experiment == member.name for member in members) and any(
        value.parameter in member.space for member in members
    )


def trust_in_sources(engine: Engine, fitted: Fitted) -> tuple[dict[str, float], dict[str, float]]:
    """Return the trust in each source, and its correlation with the target, over all models."""
    names = [source.name for source in engine.joint.sources]
    heard = np.array([name not in engine.left_out for name in names], dtype=np.bool_)
    trust, correlation = np.zeros(len(names)), np.zeros(len(names))
    transfer = 0.0
    for name, model in fitted.models.items():
        if not engine.recipe.voices[name].transfers:
            continue
        weight = fitted.weights[name]
        correlations, variances = task_correlations(model)
        r = heard * correlations[0, 1:]
        noise = np.broadcast_to(model.likelihood.noise.detach().numpy(), variances.shape)
        trust += weight * np.abs(r) * variances[1:] / (variances[1:] + noise[1:])
        correlation += weight * r
        transfer += weight
    correlation /= transfer if transfer else 1.0
    return (
        dict(zip(names, trust.tolist(), strict=True)),
        dict(zip(names, correlation.tolist(), strict=True)),
    )


def task_correlations(model: TransferGP) -> tuple[FloatArray, FloatArray]:
    """Return how experiments go along with each other in a model, and their variances.

    Returns:
        Shapes `m × m` and `m`, for the target and the sources in the order of the joint space.
    """
    B = model.covar_module.shared.task.matrix.detach().numpy()
    variances = np.diagonal(B).copy()
    if model.covar_module.residual is not None:
        variances += model.covar_module.residual.raw_variance.detach().numpy()
    return B / np.sqrt(np.outer(variances, variances)), variances


def verdict(trust: float) -> str:
    """Return in words how far a source is trusted."""
    if trust >= _MUCH:
        return "is followed closely"
    if trust >= _LITTLE:
        return "is followed with caution"
    return "hardly counts" if trust > 0 else "has no say"


def _source_sentences(
    engine: Engine,
    transfer: float,
    sources: Mapping[str, float],
    correlations: Mapping[str, float],
    *,
    measured: bool,
) -> Iterator[str]:
    """Yield what is said of the sources; `measured` if a trial of the target has a value."""
    if not sources:
        yield "There are no sources: the target's own trials decide."
        return
    yield f"Transfer has {transfer:.0%} of the say."
    for source in engine.joint.sources:
        if source.name in engine.left_out:
            yield noise_sentence(source.name)
            continue
        trust, r = sources[source.name], correlations[source.name]
        words = verdict(trust)
        if not measured:
            yield f"{source.name!r} {words}, as any source is before the first value."
        else:
            opposite = ", the other way round" if r < 0 and trust >= _LITTLE else ""
            yield f"{source.name!r} {words}{opposite} (correlation {r:+.2f})."
        penalties = penalties_of(source) if engine.recipe.tames else None
        if penalties is not None:
            yield penalty_sentence(source, penalties)


def _learned_sentence(value: LearnedValue) -> str:
    what = f"{value.parameter} of {value.experiment!r}"
    if isinstance(value, LearnedNumber):
        if (value.low, value.high) == (value.positions[0], value.positions[-1]):
            return f"The trials cannot tell the {what}."
        return (
            f"The {what} seems to have been about {value.estimate:.3g} "
            f"(between {value.low:.3g} and {value.high:.3g})."
        )
    probability = dict(value.probabilities)[value.estimate]
    return f"The {what} seems to have been {value.estimate!r} ({probability:.0%} sure)."
