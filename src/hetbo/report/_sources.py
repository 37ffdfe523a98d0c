"""What a report says of the sources: a row of each, and the tree of which parameters are shared."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hetbo.experiments import Experiment, TrialState
from hetbo.joint._notes import why_dropped
from hetbo.methods import most_trusted, summed_up
from hetbo.plot import Run
from hetbo.plot._text import counted, label, listed, shown_value

_MOST_NAMED = 8


class SourceRow(NamedTuple):
    """A source, how far it is trusted, and what differs; or why it was dropped."""

    source: Experiment
    dropped: str | None
    trust: float | None
    correlation: str | None
    failed: int
    differs: str


def source_rows(run: Run) -> list[SourceRow]:
    """Return what the table of the sources holds."""
    said = run.explanation
    return [
        SourceRow(
            source,
            said.dropped_sources.get(source.name),
            said.sources.get(source.name),
            str(said.correlations[source.name]) if source.name in said.correlations else None,
            sum(trial.state is TrialState.FAILED for trial in source.trials),
            _differs(run, source),
        )
        for source in run.engine.joint.sources
    ]


def others_sentence(run: Run) -> str:
    """Return what is said of the sources that are not named; empty if all are."""
    trust, dropped = run.explanation.sources, run.explanation.dropped_sources
    named = named_sources(run)
    rest = [name for name in trust if name not in named]
    return " ".join(
        [
            *summed_up([trust[name] for name in rest if name not in dropped]),
            *why_dropped({name: why for name, why in dropped.items() if name in rest}),
        ]
    )


def named_sources(run: Run) -> list[str]:
    """Return the names of the sources that matter most; all if they are few."""
    said = run.explanation
    trust = {source.name: said.sources.get(source.name, 0.0) for source in run.engine.joint.sources}
    return most_trusted(trust, said.dropped_sources)


def _differs(run: Run, source: Experiment) -> str:
    """Return which parameters a source lacks, holds or has in addition."""
    lacks = [name for name in run.space if name not in source.space]
    held = [f"{_short(n)} at {shown_value(source.fixed[n])}" for n in lacks if n in source.fixed]
    parts = []
    if unknown := [_short(name) for name in lacks if name not in source.fixed]:
        parts.append(f"did not tune {_several(unknown)}")
    if held:
        parts.append(f"held {_several(held)}")
    if extra := [_short(name) for name in source.space if name not in run.space]:
        parts.append(f"also tuned {_several(extra)}")
    return "; ".join(parts) or "the same parameters"


def _short(name: str) -> str:
    return label(name, 24)


def _several(names: list[str]) -> str:
    left = len(names) - _MOST_NAMED
    more = [f"and {counted(left, 'other')}"] if left > 0 else []
    return ", ".join([*names[:_MOST_NAMED], *more])


class Spaces(NamedTuple):
    """The tree: what to see, the picture and its width, all blocks, those of the target."""

    sentence: str
    svg: str
    width: int
    blocks: list[str]
    own: int
    left_out: str


def spaces(run: Run) -> Spaces | None:
    """Return the tree of the joint space; None without sources."""
    if not run.engine.joint.sources:
        return None
    tree = run.engine.joint.tree()
    count = len(tree.names)
    common = [block for block in tree.blocks if len(block.experiments) == count]
    shared = sum(len(block.parameters) for block in common)
    everyone = "both experiments" if count == 2 else f"all {count} experiments"  # noqa: PLR2004
    svg = tree.svg()
    natural = re.search(r' width="([0-9]+)"', svg)
    return Spaces(
        f"{counted(shared, 'parameter is', 'parameters are')} common to {everyone}"
        if shared
        else "No parameter is common to all experiments",
        svg,
        0 if natural is None else int(natural[1]),
        [
            f"k{position}: {listed(block.parameters)} ({_owners(tree.names, block.experiments)})"
            for position, block in enumerate(tree.blocks, start=1)
        ],
        sum(0 in block.experiments for block in tree.blocks),
        tree.left_out,
    )


def _owners(names: tuple[str, ...], experiments: Iterable[int]) -> str:
    return listed(names[i] for i in sorted(experiments))
