"""What is allowed in a plan, and yet worth a word before time is spent on it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from hetbo.errors import shown
from hetbo.experiments import Experiment, Goal
from hetbo.spaces import Space, Value
from hetbo.spaces._names import only_alike

_MOST_ALONE = 3
"""So many sources with the same fault are told one by one."""


def notes_on(
    space: Space, goal: Goal | None, fixed: Mapping[str, Value], sources: Sequence[Experiment]
) -> list[str]:
    """Return a sentence for each thing that may not be meant.

    Args:
        space: What the target tunes.
        goal: Which way is better for the target; None if that is not said yet.
        fixed: The target's known values of parameters that only sources tuned.
        sources: The experiments to learn from.
    """
    unshared = {s.name: unshared_sentence(s, space) for s in sources if shares_nothing(s, space)}
    others = [source for source in sources if goal is not None and source.goal is not goal]
    opposite = [] if goal is None else [*opposite_sentences(others, goal)]
    if goal is None and len({source.goal for source in sources}) > 1:
        opposite = [
            f"The goals of {' and '.join(shown(s.name) for s in _one_of_each_goal(sources))} are "
            "opposite: what was good in each counts as good here."
        ]
    outside = [
        note
        for name, value in fixed.items()
        for note in summed(
            {
                source.name: f"{name} is fixed at {_short(value)}, outside of what "
                f"{shown(source.name)} tried ({source.space[name].summary})."
                for source in sources
                if name in source.space and not source.space[name].covers(value)
            }
        )
    ]
    held = summed(
        {s.name: only_held_sentence(s.name) for s in sources if shares_only_held(s, space)}
    )
    return [*why_dropped(unshared), *held, *opposite, *outside]


def summed(sentences: Mapping[str, str]) -> list[str]:
    """Return what is said of several sources: of many, what is said of the first, and who else.

    Args:
        sentences: What is said of each source, by its name.
    """
    if len(sentences) <= _MOST_ALONE:
        return list(sentences.values())
    first, *others = sentences
    named = ", ".join(map(shown, others[: _MOST_ALONE - 1]))
    left = len(others) - _MOST_ALONE + 1
    return [f"{sentences[first].rstrip('.')}. The same holds for {named} and {left} more."]


def shares_nothing(source: Experiment, target: Space) -> bool:
    """Return whether a source neither tuned nor fixed any of the target's parameters.

    Then no trial of it says anything about the target, and a correlation that a model finds is
    its prior's.
    """
    return not {*source.space, *source.fixed} & {*target}


def shares_only_held(source: Experiment, target: Space) -> bool:
    """Return whether a source held some of the target's parameters, and tuned none of them."""
    return not {*source.space} & {*target} and not shares_nothing(source, target)


def only_held_sentence(name: str) -> str:
    """Return what is said of a source that tuned none of the target's parameters."""
    return (
        f"{shown(name)} tuned no parameter that is tuned now: the values that it held are all that "
        "connects the two, and say little."
    )


def unshared_sentence(source: Experiment, target: Space) -> str:
    """Return what is said of a source that shares no parameter with the target."""
    return (
        f"{shown(source.name)} is not used: it shares no parameter with the target, so nothing "
        f"can be transferred. {asked_renaming(source, target)}"
    )


def asked_renaming(
    source: Experiment, target: Space, otherwise: str = "If only names differ, rename them."
) -> str:
    """Return what is asked if names of a source differ from the target's in case or blanks only.

    Args:
        source: The source.
        target: What the target tunes.
        otherwise: What is said if they differ in more.
    """
    alike = {name: only_alike(name, target) for name in (*source.space, *source.fixed)}
    renaming = {old: new for old, new in alike.items() if new is not None}
    if len({*renaming.values()}) < max(1, len(renaming)):
        return otherwise
    return f"Do you mean rename={renaming!r}?"


def opposite_sentence(source: Experiment, goal: Goal, count: int = 1) -> str:
    """Return what is said of a source with the opposite goal, or of several, of which it is one."""
    whose = shown(source.name) if count == 1 else f"{count} sources, {shown(source.name)} for one,"
    return (
        f"The goal of {whose} was to {source.goal}, that of the target is to {goal}: "
        "what was good there counts as good here."
    )


def opposite_sentences(sources: Sequence[Experiment], goal: Goal) -> Iterator[str]:
    """Yield what is said of sources with the opposite goal; of many together."""
    if len(sources) > _MOST_ALONE:
        yield opposite_sentence(sources[0], goal, len(sources))
    else:
        yield from (opposite_sentence(source, goal) for source in sources)


def why_dropped(dropped: Mapping[str, str]) -> Iterator[str]:
    """Yield why sources are not used; sources with the same reason together if they are many.

    Args:
        dropped: The sources that no model uses, and why, in a sentence.
    """
    if len(dropped) <= _MOST_ALONE:
        yield from dropped.values()
        return
    groups = defaultdict(list)
    for name, sentence in dropped.items():
        groups[sentence.removeprefix(f"{shown(name)} is not used: ")].append(name)
    for reason, names in groups.items():
        if len(names) == 1:
            yield dropped[names[0]]
        else:
            yield f"{len(names)} sources are not used, for example {shown(names[0])}: {reason}"


def _one_of_each_goal(sources: Sequence[Experiment]) -> Sequence[Experiment]:
    return list({source.goal: source for source in reversed(sources)}.values())[::-1]


def _short(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shown(value)
