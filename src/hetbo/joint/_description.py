"""What changed between many sources and the target, as text for people."""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hetbo.errors import printable
from hetbo.experiments import Experiment
from hetbo.joint._changes import Change, ChangeKind, changes_between
from hetbo.joint._notes import asked_renaming, shares_nothing
from hetbo.spaces import Space, Value

if TYPE_CHECKING:
    from rich.console import Console

_MOST_SHOWN = 10
_MOST_NAMED = 4
_NOT_SHARED = {ChangeKind.ADDED, ChangeKind.DROPPED, ChangeKind.FIXED}
_UNSHARED = "Not used: no parameter in common with the target, so nothing can be transferred."


@dataclass(frozen=True, slots=True)
class _Group:
    """Sources with equal spaces and equal fixed values, and what changed since.

    `unused` says why they are not used, in sentences; it is empty if they are.
    """

    names: Sequence[str]
    trials: int
    changes: Sequence[Change]
    unused: Sequence[str]

    @property
    def title(self) -> str:
        if len(self.names) <= _MOST_NAMED:
            return ", ".join(self.names)
        named = ", ".join(self.names[: _MOST_NAMED - 1])
        return f"{named} and {len(self.names) - _MOST_NAMED + 1} more"

    @property
    def differing(self) -> list[Change]:
        return [change for change in self.changes if change.kind is not ChangeKind.SAME]


def describe_changes(
    sources: Sequence[Experiment],
    target: Space,
    *,
    fixed: Mapping[str, Value],
    name: str,
    width: int,
) -> str:
    """Return what changed since the sources: a table for each.

    More than ten sources are grouped by equal spaces; of more than ten groups those that differ
    most have a table, and the others are counted.

    Args:
        sources: The sources.
        target: What the target tunes.
        fixed: The target's known values of parameters that it does not tune.
        name: How to call the target.
        width: How many characters wide the text may be.
    """
    from rich.console import Console  # noqa: PLC0415  # only descriptions need it

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False
    )
    if not sources:
        _print(console, f"{name} has no sources: nothing to transfer")
    groups = [_group(part, target, fixed) for part in _parts(sources)]
    rest: list[_Group] = []
    if len(groups) > _MOST_SHOWN:
        groups.sort(key=lambda group: -len(group.differing))
        groups, rest = groups[:_MOST_SHOWN], groups[_MOST_SHOWN:]
    for group in groups:
        _print_group(console, group, name)
    if rest:
        _print_rest(console, rest, target)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _parts(sources: Sequence[Experiment]) -> list[list[Experiment]]:
    """Return few sources one by one, and many in groups of equal spaces."""
    if len(sources) <= _MOST_SHOWN:
        return [[source] for source in sources]
    parts: dict[object, list[Experiment]] = {}
    for source in sources:
        known = frozenset((name, repr(value)) for name, value in source.fixed.items())
        parts.setdefault((source.space, known), []).append(source)
    return list(parts.values())


def _group(sources: Sequence[Experiment], target: Space, fixed: Mapping[str, Value]) -> _Group:
    first = sources[0]
    together = Experiment.trusted(
        first.name,
        first.space,
        [trial for source in sources for trial in source.trials],
        goal=first.goal,
        fixed=first.fixed,
    )
    changes = changes_between(together, target, fixed)
    unused = [_UNSHARED, asked_renaming(first, target)] if shares_nothing(first, target) else []
    return _Group([source.name for source in sources], len(together.complete), changes, unused)


def _print_group(console: "Console", group: _Group, target: str) -> None:
    from rich import box  # noqa: PLC0415  # only descriptions need it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    several = f"{len(group.names)} sources, " if len(group.names) > 1 else ""
    trials = _counted(group.trials, "trial")
    _print(console, f"{group.title} → {target}   ({several}{trials} with a value)")
    for sentence in group.unused:  # with options to copy, which must stay on one line
        console.print(Text(f"  {printable(sentence)}"), soft_wrap=True)
    if group.unused:
        return
    same = [change.parameter for change in group.changes if change.kind is ChangeKind.SAME]
    if same:
        _print(console, f"  same in both: {', '.join(same)}")
    if group.differing:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=True, padding=(0, 1))
        before = group.names[0] if len(group.names) == 1 else "these sources"
        for heading in ("parameter", "change", before, target, "what it means"):
            table.add_column(Text(printable(heading)), overflow="fold")
        for c in group.differing:
            cells = (c.parameter, c.kind.value, c.before, c.after, c.meaning)
            table.add_row(*(Text(printable(cell)) for cell in cells))
        console.print(table)
    if all(change.kind in _NOT_SHARED for change in group.changes):
        _print(console, "  no parameter that both tune: known and learned values connect the two")


def _print_rest(console: "Console", rest: Sequence[_Group], target: Space) -> None:
    """Count, for each parameter, in how many of the other sources it changed in which way."""
    sources = sum(len(group.names) for group in rest)
    trials = sum(group.trials for group in rest)
    _print(
        console,
        f"{sources:,} more sources differ less   "
        f"({len(rest):,} spaces, {_counted(trials, 'trial')} with a value):",
    )
    counts: dict[str, Counter[ChangeKind]] = {name: Counter() for name in target}
    for group in rest:
        for change in group.changes:
            counts.setdefault(change.parameter, Counter())[change.kind] += len(group.names)
    for name, found in counts.items():
        told = ", ".join(f"{kind.value} in {found[kind]}" for kind in ChangeKind if found[kind])
        _print(console, f"  {name}: {told}")


def _print(console: "Console", text: str) -> None:
    from rich.text import Text  # noqa: PLC0415  # only descriptions need it

    console.print(Text(printable(text)))


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"
