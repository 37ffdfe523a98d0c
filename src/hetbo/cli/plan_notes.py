"""What is allowed in a plan, and yet worth a word before time is spent on it."""

from collections.abc import Mapping, Sequence

from hetbo.errors import shown
from hetbo.experiments import Experiment, Goal
from hetbo.spaces import Categorical, Parameter, Value
from hetbo.spaces.parameters import choice_key

_MOST_CHOICES = 6


def plan_notes(
    goal: Goal | None, fixed: Mapping[str, Value], sources: Sequence[Experiment]
) -> list[str]:
    """Return a line for each thing that may not be meant.

    Args:
        goal: Which way is better for the target; None if that is not said yet.
        fixed: The target's known values of parameters that only sources tuned.
        sources: The experiments to learn from.
    """
    opposite = [
        f"Note: {shown(source.name)} was to {source.goal}, this study is to {goal}: "
        "what was good there counts as good here."
        for source in sources
        if goal is not None and source.goal is not goal
    ]
    outside = [
        f"Note: {name} is fixed at {_short(value)}, outside of what {shown(source.name)} tried "
        f"({_tried(source.space[name])})."
        for name, value in fixed.items()
        for source in sources
        if name in source.space and not _within(value, source.space[name])
    ]
    return [*opposite, *outside]


def _within(value: Value, parameter: Parameter) -> bool:
    if isinstance(parameter, Categorical):
        return choice_key(value) in map(choice_key, parameter.choices)
    return isinstance(value, int | float) and parameter.low <= value <= parameter.high


def _tried(parameter: Parameter) -> str:
    if not isinstance(parameter, Categorical):
        return f"{_short(parameter.low)} to {_short(parameter.high)}"
    more = ", …" if len(parameter.choices) > _MOST_CHOICES else ""
    return ", ".join(map(_short, parameter.choices[:_MOST_CHOICES])) + more


def _short(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shown(value)
