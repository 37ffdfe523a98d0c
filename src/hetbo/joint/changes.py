"""What changed between a source and the target, and what each change means for the transfer."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hetbo.errors import printable, shown
from hetbo.experiments import Experiment
from hetbo.spaces import Categorical, Float, Int, Numeric, Parameter, Space, Value
from hetbo.spaces.parameters import choice_key

_MOST_CHOICES = 6
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


_NOT_SHARED = {ChangeKind.ADDED, ChangeKind.DROPPED, ChangeKind.FIXED}


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

    def add(name: str, kind: ChangeKind, before: str, after: str, meaning: str) -> None:
        changes.append(Change(source.name, name, kind, before, after, meaning))

    for name, parameter in target.items():
        if name in source.fixed:
            known = source.fixed[name]
            place = "the low end of the log scale" if _below_log(parameter, known) else "that value"
            add(
                name,
                ChangeKind.FIXED,
                f"always {shown(known)}",
                _short(parameter),
                f"new; the source's trials count as made at {place}",
            )
        elif name not in source.space:
            add(
                name,
                ChangeKind.ADDED,
                _NOTHING,
                _short(parameter),
                "new; which value the source used is not known and is learned",
            )
        else:
            before = source.space[name]
            found = list(_differences(name, before, parameter, source))
            for kind, meaning in found or [(ChangeKind.SAME, "compared value by value")]:
                add(name, kind, _short(before), _short(parameter), meaning)
    for name, parameter in source.space.items():
        if name in target_fixed:
            add(
                name,
                ChangeKind.DROPPED,
                _short(parameter),
                f"always {shown(target_fixed[name])}",
                "no longer tuned; the source's trials near that value count most",
            )
        elif name not in target:
            add(
                name,
                ChangeKind.DROPPED,
                _short(parameter),
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


def render_changes(
    sources: Sequence[Experiment],
    target: str,
    changes: Iterable[Change],
    *,
    width: int,
) -> str:
    """Return the changes as text: one table per source."""
    from rich import box  # noqa: PLC0415  # only descriptions need it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False
    )

    def plain(text: str) -> Text:
        return Text(printable(text))

    if not sources:
        console.print(plain(f"{target} has no sources: nothing to transfer"))
    changes = tuple(changes)
    for source in sources:
        own = [change for change in changes if change.source == source.name]
        same = [change.parameter for change in own if change.kind is ChangeKind.SAME]
        trials = _trials(len(source.complete))
        console.print(plain(f"{source.name} → {target}   ({trials} with a value)"))
        if same:
            console.print(plain(f"  same in both: {', '.join(same)}"))
        rows = [change for change in own if change.kind is not ChangeKind.SAME]
        if rows:
            table = Table(box=box.SIMPLE_HEAD, pad_edge=True, padding=(0, 1))
            for heading in ("parameter", "change", source.name, target, "what it means"):
                table.add_column(plain(heading), overflow="fold")
            for c in rows:
                cells = (c.parameter, c.kind.value, c.before, c.after, c.meaning)
                table.add_row(*map(plain, cells))
            console.print(table)
        if all(change.kind in _NOT_SHARED for change in own):
            console.print(
                plain("  no parameter in common: only learned values can connect the two")
            )
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _differences(
    name: str, before: Parameter, after: Parameter, source: Experiment
) -> Iterable[tuple[ChangeKind, str]]:
    if isinstance(before, Categorical) and isinstance(after, Categorical):
        yield from _choice_differences(name, before, after, source)
    elif isinstance(before, Float | Int) and isinstance(after, Float | Int):
        yield from _numeric_differences(name, before, after, source)


def _choice_differences(
    name: str, before: Categorical, after: Categorical, source: Experiment
) -> Iterable[tuple[ChangeKind, str]]:
    new = [choice for choice in after.choices if not _has(before, choice)]
    gone = [choice for choice in before.choices if not _has(after, choice)]
    parts: list[str] = []
    if new:
        parts.append(f"new: {', '.join(map(shown, new))}, on which the source says nothing")
    if gone:
        count = sum(not _has(after, trial.params[name]) for trial in source.complete)
        parts.append(
            f"gone: {', '.join(map(shown, gone))}; {_trials(count)} used one and "
            "only inform about the rest"
        )
    if parts:
        yield ChangeKind.CHOICES, "; ".join(parts)


def _numeric_differences(
    name: str, before: Numeric, after: Numeric, source: Experiment
) -> Iterable[tuple[ChangeKind, str]]:
    if type(before) is not type(after):
        yield ChangeKind.RETYPED, "compared as numbers"
    if (before.low, before.high) != (after.low, after.high):
        values = [float(trial.params[name] or 0) for trial in source.complete]
        outside = sum(not after.low <= value <= after.high for value in values)
        yield (
            ChangeKind.RERANGED,
            f"{_move(before, after)}; the source's trials outside of it ({outside}) still count"
            if outside
            else f"{_move(before, after)}; all of the source's trials lie inside",
        )
    if before.log != after.log:
        scale = "log" if after.log else "linear"
        low_end = " (zero and below stand at its low end)" if after.log and before.low <= 0 else ""
        yield ChangeKind.RESCALED, f"compared on the target's {scale} scale{low_end}"


def _below_log(parameter: Parameter, value: Value) -> bool:
    on_log = isinstance(parameter, Float | Int) and parameter.log
    return on_log and isinstance(value, int | float) and value <= 0


def _move(before: Numeric, after: Numeric) -> str:
    if after.low <= before.low and after.high >= before.high:
        return "wider"
    if after.low >= before.low and after.high <= before.high:
        return "narrower"
    if after.low > before.high or after.high < before.low:
        return "moved away"
    return "moved"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def _has(parameter: Categorical, choice: Value) -> bool:
    return choice_key(choice) in map(choice_key, parameter.choices)


def _short(parameter: Parameter) -> str:
    if isinstance(parameter, Categorical):
        texts = [shown(choice) for choice in parameter.choices]
        if len(texts) > _MOST_CHOICES:
            texts = [*texts[: _MOST_CHOICES - 1], f"… {len(texts)} in all"]
        return " | ".join(texts)
    kind = "int " if isinstance(parameter, Int) else ""
    return f"{kind}{parameter.low:g} … {parameter.high:g}{' log' if parameter.log else ''}"
