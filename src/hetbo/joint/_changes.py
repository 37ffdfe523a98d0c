"""What changed between a source and the target, and what each change means for the transfer."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hetbo.errors import shown
from hetbo.experiments import Experiment
from hetbo.joint._notes import shares_nothing
from hetbo.spaces import Parameter, Space, Value

_NOTHING = "-"


class ChangeKind(StrEnum):
    """How a parameter differs between a source and the target."""

    SAME = "same"
    ADDED = "added"
    DROPPED = "dropped"
    RERANGED = "re-ranged"
    RESCALED = "re-scaled"
    RETYPED = "retyped"
    CHOICES = "choices"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a source and the target.

    Attributes:
        source: The source's name.
        parameter: The parameter's name.
        kind: What kind of difference it is.
        before: What the source had.
        after: What the target has.
        meaning: What that means for the transfer.
    """

    source: str
    parameter: str
    kind: ChangeKind
    before: str
    after: str
    meaning: str


def changes_between(
    source: Experiment, target: Space, target_fixed: Mapping[str, Value]
) -> list[Change]:
    """Return what changed from a source to the target: the target's parameters first."""
    changes: list[Change] = []
    unused = shares_nothing(source, target)

    def add(name: str, kind: ChangeKind, before: str, after: str, meaning: str) -> None:
        meant = "nothing: the source is not used" if unused else meaning
        changes.append(Change(source.name, name, kind, before, after, meant))

    for name, parameter in target.items():
        if name in source.fixed:
            known = source.fixed[name]
            place = "the low end of the log scale" if _below_log(parameter, known) else "that value"
            add(
                name,
                ChangeKind.FIXED,
                f"always {shown(known)}",
                parameter.summary,
                f"new; the source's trials count as made at {place}",
            )
        elif name not in source.space:
            add(
                name,
                ChangeKind.ADDED,
                _NOTHING,
                parameter.summary,
                "new; which value the source used is not known and is learned",
            )
        else:
            before = source.space[name]
            tried = [trial.params[name] for trial in source.complete]
            found = [(ChangeKind(k), why) for k, why in parameter.differences(before, tried)]
            for kind, meaning in found or [(ChangeKind.SAME, "compared value by value")]:
                add(name, kind, before.summary, parameter.summary, meaning)
    for name, parameter in source.space.items():
        if name in target_fixed:
            add(
                name,
                ChangeKind.DROPPED,
                parameter.summary,
                f"always {shown(target_fixed[name])}",
                "no longer tuned; the source's trials near that value count most",
            )
        elif name not in target:
            add(
                name,
                ChangeKind.DROPPED,
                parameter.summary,
                _NOTHING,
                "no longer tuned; which value the target has is not known and is learned",
            )
    for name, known in source.fixed.items():
        if name not in target:
            add(
                name,
                ChangeKind.FIXED,
                f"always {shown(known)}",
                _NOTHING,
                "not tuned by the target either",
            )
    return changes


def _below_log(parameter: Parameter, value: Value) -> bool:
    on_log = parameter.scale is not None and parameter.scale.log
    return on_log and isinstance(value, int | float) and value <= 0
