"""What the models say, in words and numbers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hetbo.errors import shown
from hetbo.experiments import Experiment
from hetbo.experiments._penalties import penalties_of, penalty_sentence
from hetbo.joint._notes import (
    only_held_sentence,
    opposite_sentences,
    shares_only_held,
    why_dropped,
)
from hetbo.methods._engine import Engine
from hetbo.methods._fitted import Fitted
from hetbo.methods._summary import (
    MOST_SOURCES,
    Remark,
    headline,
    most_trusted,
    summed_up,
    verdict,
)
from hetbo.models import (
    Correlation,
    FittedSurrogate,
    LearnedNumber,
    LearnedValue,
    pooled_correlation,
)

_MOST_LEARNED = 10


@dataclass(frozen=True, slots=True)
class Explanation:
    """How far each model and source is trusted, and what was learned.

    Attributes:
        models: The weight of each model; they add up to 1.
        sources: How far each source is trusted, from 0 to 1: the weight of the models that
            transfer, times the correlation of the source and the target in them, times the
            share of the source's values that is not noise to them.
        correlations: The correlation of the target and each source, and how well the trials tell.
        learned: What was learned about parameters that an experiment did not tune.
        sentence: All of that in words.
        dropped_sources: The sources that no model uses, and why, in a sentence.
    """

    models: Mapping[str, float]
    sources: Mapping[str, float]
    correlations: Mapping[str, Correlation]
    learned: tuple[LearnedValue, ...]
    sentence: str
    dropped_sources: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence


def explain_unfitted(engine: Engine) -> Explanation:
    """Say why no model is used, or not yet."""
    if not engine.recipe.members:
        return Explanation({}, {}, {}, (), "Random search: no model is used.")
    dropped = engine.dropped_sources
    sentence = "No model is used yet: the space is being covered."
    return Explanation({}, {}, {}, (), " ".join([sentence, *why_dropped(dropped)]), dropped)


def explain_fitted(engine: Engine, fitted: Fitted) -> Explanation:
    """Say what models found that are fitted already."""
    measured = any(len(model.observed) for model in fitted.models.values())
    models = transferring(engine, fitted)
    sources = trust_in_sources(engine, fitted)
    dropped = {**engine.dropped_sources, **_silent(engine, sources)}
    correlations = {
        member.name: correlation_of(models, 0, position)
        for position, member in enumerate(engine.joint.members)
        if models and member.name in sources and member.name not in dropped
    }
    learned: tuple[LearnedValue, ...] = ()
    candidates = [n for n, m in fitted.models.items() if m.learns_values]
    if candidates:
        best = max(candidates, key=fitted.weights.__getitem__)
        found = fitted.models[best].learned_values()
        learned = tuple(value for value in found if _is_used(value, engine))
    parts = [*_source_sentences(engine, sources, dropped, correlations, measured=measured)]
    if engine.compresses_tail:
        parts.append("Bad values count as less bad: the sources have a long tail of them.")
    sentence = " ".join([*parts, *_learned_sentences(learned, sources, engine)])
    return Explanation(fitted.weights, sources, correlations, learned, sentence, dropped)


def _is_used(value: LearnedValue, engine: Engine) -> bool:
    """Return whether a learned value is of an experiment, and of a parameter, that models use."""
    members = [m for m in engine.joint.members if m.name not in engine.dropped_sources]
    return any(value.experiment == member.name for member in members) and any(
        value.parameter in member.space for member in members
    )


def transferring(engine: Engine, fitted: Fitted) -> list[tuple[FittedSurrogate, float]]:
    """Return the surrogates that use the sources, each with its weight."""
    return [
        (model, fitted.weights[name])
        for name, model in fitted.models.items()
        if engine.recipe.members[name].transfers
    ]


def correlation_of(
    models: Iterable[tuple[FittedSurrogate, float]], first: int, second: int
) -> Correlation:
    """Return the correlation of two experiments, by their positions, over several surrogates.

    Args:
        models: Surrogates that use the sources, each with its weight.
        first: The position of the one experiment.
        second: The position of the other.
    """
    return pooled_correlation((m.correlation(first, second), weight) for m, weight in models)


def trust_in_sources(engine: Engine, fitted: Fitted) -> dict[str, float]:
    """Return the trust in each source, over all models."""
    names = [source.name for source in engine.joint.sources]
    used = np.array([name not in engine.dropped_sources for name in names], dtype=np.bool_)
    trust = np.zeros(len(names))
    for model, weight in transferring(engine, fitted):
        found = model.sources()
        trust += weight * used * np.abs(found.correlations) * found.signal
    return dict(zip(names, trust.tolist(), strict=True))


def _silent(engine: Engine, trust: Mapping[str, float]) -> dict[str, str]:
    """Return the sources from which nothing can be learned, and why, in a sentence."""
    found = {}
    for source in engine.joint.sources:
        reason = _says_nothing(source)
        if reason is not None and not trust[source.name]:
            found[source.name] = f"{shown(source.name)} is not used: {reason}."
    return found


def _says_nothing(source: Experiment) -> str | None:
    values = [trial.value for trial in source.complete]
    if not values:
        return "none of its trials has a value"
    if len(values) == 1:
        return "a single value does not say what is better than what"
    if len({*values}) == 1:
        return "all of its values are equal"
    return None


def _source_sentences(
    engine: Engine,
    sources: Mapping[str, float],
    dropped: Mapping[str, str],
    correlations: Mapping[str, Correlation],
    *,
    measured: bool,
) -> Iterator[str]:
    """Yield what is said of the sources; `measured` if a trial of the target has a value."""
    if not sources:
        yield "There are no sources: the target's own trials decide."
        return
    yield headline(max(sources.values()))
    named = most_trusted(sources, dropped)
    every = {source.name: source for source in engine.joint.sources}
    alike = defaultdict[Remark, list[str]](list)
    for name in named:
        if name not in dropped:
            remark = _remark(verdict(sources[name]), correlations.get(name), measured=measured)
            alike[remark].append(name)
    for remark, names in alike.items():
        yield from remark.about(names)
    yield from (dropped[name] for name in named if name in dropped)
    yield from _cautions(engine, [every[name] for name in named if name not in dropped])
    rest = {name: one for name, one in every.items() if name not in named}
    others = [one for name, one in rest.items() if name not in dropped]
    yield from summed_up([sources[source.name] for source in others])
    yield from _common_cautions(engine, others)
    yield from why_dropped({n: why for n, why in dropped.items() if n in rest})


def _remark(verdict: str, found: Correlation | None, *, measured: bool) -> Remark:
    """Return what is said of a source, with what the trials tell of its correlation."""
    if found is None:
        return Remark(verdict, "", "")
    if not measured:
        before = ", as any source is before the first value"
        return Remark(verdict, before, before)
    if not found.known:
        return Remark(
            verdict,
            " so far; its correlation with the target is not known yet",
            " so far; their correlations with the target are not known yet",
        )
    told = f"{', the other way round' if found.high < 0 else ''} (correlation {found})"
    return Remark(verdict, told, told)


def _cautions(engine: Engine, sources: Sequence[Experiment]) -> Iterator[str]:
    """Yield the cautions about sources that are named."""
    yield from opposite_sentences([s for s in sources if s.goal is not engine.goal], engine.goal)
    for source in sources:
        if shares_only_held(source, engine.joint.target.space):
            yield only_held_sentence(source.name)
        penalties = penalties_of(source) if engine.recipe.clip_penalties else None
        if penalties is not None:
            yield penalty_sentence(source, penalties)


def _common_cautions(engine: Engine, sources: Sequence[Experiment]) -> Iterator[str]:
    """Yield the cautions about sources that are not named."""
    yield from opposite_sentences([s for s in sources if s.goal is not engine.goal], engine.goal)
    penalties = engine.recipe.clip_penalties and sum(
        penalties_of(source) is not None for source in sources
    )
    if penalties:
        others = "1 other source" if penalties == 1 else f"{penalties} other sources"
        yield f"In {others} the values far worse than all others are clipped."


def _learned_sentences(
    learned: Sequence[LearnedValue], sources: Mapping[str, float], engine: Engine
) -> Iterator[str]:
    """Yield what was learned of missing values; with many sources, of those that matter most."""
    named = most_trusted(sources, engine.dropped_sources)
    listed = learned
    if len(sources) > MOST_SOURCES:
        names = (engine.joint.target.name, *named)
        own = [value for value in learned if value.experiment in names]
        listed = sorted(own, key=lambda value: not value.known)[:_MOST_LEARNED]
    yield from map(_learned_sentence, listed)
    if left := len(learned) - len(listed):
        yield f"{left} more missing {'value is' if left == 1 else 'values are'} not listed."


def _learned_sentence(value: LearnedValue) -> str:
    what = f"{value.parameter} of {value.experiment!r}"
    if not value.known:
        return f"The trials cannot tell the {what}."
    if isinstance(value, LearnedNumber):
        return (
            f"The {what} seems to have been about {value.estimate:.3g} "
            f"(between {value.low:.3g} and {value.high:.3g})."
        )
    return f"The {what} seems to have been {value.estimate!r} ({value.probability:.0%} sure)."
