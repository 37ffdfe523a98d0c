"""What is said of many sources: those that matter most by name, the others in numbers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hetbo.errors import shown

MOST_SOURCES = 10
"""So many sources are named, the others summed up."""
_MOST_ALONE = 3
"""Of more sources the same is said in one sentence."""
_MUCH, _LITTLE = 0.7, 0.3
_CLOSELY, _WITH_CAUTION = "is followed closely", "is followed with caution"
_HEADLINES = {
    _CLOSELY: "Suggestions rest mostly on the sources.",
    _WITH_CAUTION: "Suggestions rest partly on the sources, partly on the target's own trials.",
}
_PLURALS = {
    _CLOSELY: "are followed closely",
    _WITH_CAUTION: "are followed with caution",
    "hardly counts": "hardly count",
    "is not used": "are not used",
}


class Remark(NamedTuple):
    """How far a source is trusted, and why, as it is said of one source and of several.

    Attributes:
        verdict: What `verdict` returns.
        one: What follows it.
        several: What follows it if it is said of several sources.
    """

    verdict: str
    one: str
    several: str

    def about(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what is said of sources: a sentence each, or one for all if they are many."""
        if len(names) <= _MOST_ALONE:
            yield from (f"{shown(name)} {self.verdict}{self.one}." for name in names)
            return
        *first, last = map(shown, names)
        yield f"{', '.join(first)} and {last} {_PLURALS[self.verdict]}{self.several}."


def verdict(trust: float) -> str:
    """Return in words how far a source is trusted; they fit the two digits that tables show."""
    if round(trust, 2) >= _MUCH:
        return _CLOSELY
    if round(trust, 2) >= _LITTLE:
        return _WITH_CAUTION
    return "hardly counts" if trust > 0 else "is not used"


def headline(most: float) -> str:
    """Return on what suggestions rest, from the trust in the source that is trusted most."""
    return _HEADLINES.get(verdict(most), "Suggestions rest on the target's own trials.")


def most_trusted(trust: Mapping[str, float], dropped: Mapping[str, str]) -> list[str]:
    """Return the names of the sources that matter most, in their order; all if they are few.

    Args:
        trust: How far each source is trusted, by its name.
        dropped: The sources that no model uses, and why.
    """
    if len(trust) <= MOST_SOURCES:
        return list(trust)
    used = [name for name in trust if name not in dropped]
    return sorted(used, key=lambda name: -trust[name])[:MOST_SOURCES]


def summed_up(trust: Sequence[float]) -> Iterator[str]:
    """Yield how far the sources are trusted that are not named, if there are any."""
    counts = Counter(map(verdict, sorted(trust, reverse=True)))
    parts = [f"{n} {_PLURALS[told] if n > 1 else told}" for told, n in counts.items()]
    if parts:
        *first, last = parts
        yield f"Of the other sources, {', '.join(first)}{' and ' if first else ''}{last}."
