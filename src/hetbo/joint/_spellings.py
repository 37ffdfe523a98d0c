"""Choices of sources that differ from a target's in case and blanks only."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hetbo.errors import shown
from hetbo.experiments import Experiment
from hetbo.spaces import Space, Value
from hetbo.spaces._names import folded

Renaming = Mapping[str, Mapping[str, str]]
"""The target's spelling by the source's spelling, by the parameter's name."""
_MOST_SAID = 3


def respelled(
    source: Experiment, target: Space, target_fixed: Mapping[str, Value]
) -> tuple[Experiment, dict[tuple[str, str], str]]:
    """Return a source with its choices spelled as the target spells them.

    A choice is respelled if exactly one of the target's differs from it in case and blanks only,
    and if neither experiment has both spellings, since they mean different things there. Each
    source is compared with the target alone, so the order of sources cannot matter.

    Args:
        source: The source.
        target: What the target tunes.
        target_fixed: The known values of parameters that the target does not tune.

    Returns:
        The source, and a sentence on each choice that was respelled, by parameter and choice.
    """
    renaming = {
        name: _renamed(_texts(source.space, source.fixed, name), _texts(target, target_fixed, name))
        for name in (*source.space, *source.fixed)
    }
    renaming = {name: names for name, names in renaming.items() if _takes(source, name, names)}
    sentences: dict[tuple[str, str], str] = {}
    for name, names in renaming.items():
        for old, new in list(names.items())[:_MOST_SAID]:
            sentences[name, old] = (
                f"{shown(old)} of {shown(name)} in {shown(source.name)} differs from the target's "
                f"{shown(new)} in case or blanks only and counts as the same choice"
            )
        if len(names) > _MOST_SAID:
            sentences[name, old] += f"; so do {len(names) - _MOST_SAID:,} more choices"
    return (_with_names(source, renaming) if sentences else source), sentences


def _texts(space: Space, fixed: Mapping[str, Value], name: str) -> list[str]:
    """Return the texts that a parameter can be, or is known to be."""
    parameter = space.get(name)
    if parameter is None:
        values: Sequence[Value] = (fixed.get(name),)
    else:
        values = () if parameter.scale is not None else parameter.values or ()
    return [value for value in values if isinstance(value, str)]


def _renamed(own: list[str], wanted: list[str]) -> dict[str, str]:
    own_keys, wanted_keys = Counter(map(folded, own)), Counter(map(folded, wanted))
    spelled = {folded(text): text for text in wanted}
    return {
        text: spelled[key]
        for text, key in ((text, folded(text)) for text in own)
        if own_keys[key] == wanted_keys[key] == 1 and spelled[key] != text
    }


def _takes(source: Experiment, name: str, names: Mapping[str, str]) -> bool:
    """Return whether there are new spellings, and the source's parameter can have them."""
    parameter = source.space.get(name)
    return bool(names) and (parameter is None or parameter.respelled(names) is not parameter)


def _with_names(source: Experiment, renaming: Renaming) -> Experiment:
    def value(name: str, old: Value) -> Value:
        return renaming.get(name, {}).get(old, old) if isinstance(old, str) else old

    parameters = {
        name: p.respelled(renaming[name]) if name in renaming else p
        for name, p in source.space.items()
    }
    trials = [
        replace(trial, params={name: value(name, old) for name, old in trial.params.items()})
        for trial in source.trials
    ]
    fixed = {name: value(name, old) for name, old in source.fixed.items()}
    space = Space.from_mapping(parameters)
    return Experiment(source.name, space, trials, goal=source.goal, fixed=fixed)
