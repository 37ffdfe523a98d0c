"""What a backtest found: numbers of trials, and what they say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, Self

from hetbo._files import checked_header
from hetbo.backtesting._luck import (
    combined,
    interval_of_mean,
    saved_in_most_runs,
    share_slower,
)
from hetbo.errors import DataError, shown

_FORMAT = "hetbo-backtest"
_VERSION = 1
_SIGNIFICANT = 0.05
_MOST_NAMED = 6
_FEWEST_CASES = 2
"""One case is one draw of luck, and too little to judge a source by."""

Verdict = Literal["helps", "misleads", "not clear", "not used"]


@dataclass(frozen=True, slots=True)
class Case:
    """One old experiment, replayed as if it were today's.

    A run that found no good setting counts as one trial more than the budget.

    Attributes:
        name: The experiment.
        settings: How many different settings it had tried.
        good: How many of them are good enough.
        level: The value that these reach.
        budget: After how many trials a run gave up.
        vanilla: How many trials each run without sources needed.
        transfer: How many each run with all others as sources needed.
        alone: How many each run with one source alone needed, by its name.
    """

    name: str
    settings: int
    good: int
    level: float
    budget: int
    vanilla: tuple[int, ...]
    transfer: tuple[int, ...]
    alone: Mapping[str, tuple[int, ...]]

    @property
    def needed_without(self) -> float:
        """How many trials were needed without sources, on average."""
        return fmean(self.vanilla)

    @property
    def needed(self) -> float:
        """How many trials were needed with the others as sources, on average."""
        return fmean(self.transfer)

    @property
    def saved(self) -> float:
        """How many trials the sources saved, on average; below 0 if they cost some."""
        return self.needed_without - self.needed

    @property
    def saved_in_most_runs(self) -> tuple[float, float]:
        """Between what numbers nine in ten pairs of a run without and one with sources differ."""
        return saved_in_most_runs(self.vanilla, self.transfer)

    def saved_by(self, source: str) -> float:
        """Return how many trials a source alone saved, on average."""
        return self.needed_without - fmean(self.alone[source])

    def to_json(self) -> dict[str, Any]:
        """Return the case as plain JSON data; `saved` is there for readers."""
        return {
            "name": self.name,
            "settings": self.settings,
            "good": self.good,
            "level": self.level,
            "budget": self.budget,
            "vanilla": list(self.vanilla),
            "transfer": list(self.transfer),
            "alone": {name: list(needed) for name, needed in self.alone.items()},
            "saved": self.saved,
            "saved_in_most_runs": list(self.saved_in_most_runs),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the case that `to_json` wrote."""
        return cls(
            data["name"],
            data["settings"],
            data["good"],
            data["level"],
            data["budget"],
            _counts(data["vanilla"]),
            _counts(data["transfer"]),
            {name: _counts(needed) for name, needed in data["alone"].items()},
        )


def _counts(data: Sequence[object]) -> tuple[int, ...]:
    counts = tuple(count for count in data if isinstance(count, int) and count > 0)
    if not counts or len(counts) < len(data):
        raise ValueError(f"{shown(data)} are no numbers of trials")
    return counts


@dataclass(frozen=True, slots=True)
class SourceEffect:
    """What one experiment did as the only source of others.

    Attributes:
        name: The experiment.
        saved: How many trials it saved on average, by the name of the target.
        verdict: 'helps' or 'misleads' if that is beyond chance; 'not used' if the method did not.
        reason: Why it was not used; empty if it was.
    """

    name: str
    saved: Mapping[str, float]
    verdict: Verdict
    reason: str = ""

    @property
    def mean(self) -> float:
        """How many trials it saved on average over its targets."""
        return fmean(self.saved.values())


@dataclass(frozen=True, slots=True)
class Backtest:
    """What old experiments would have saved each other.

    Attributes:
        method: The method that used sources.
        top: Which share of an experiment's settings was good enough.
        cases: The experiments that were replayed, in the order of their names.
        skipped: The others, and why, in a sentence.
        dropped: The sources that the method did not use, and why.
        notes: What else there is to know.
    """

    method: str
    top: float
    cases: tuple[Case, ...]
    skipped: Mapping[str, str]
    dropped: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def saved(self) -> float:
        """How many trials were saved, on average over the experiments."""
        return fmean(case.saved for case in self.cases)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `saved` for experiments like these; None for a single one."""
        return interval_of_mean([case.saved for case in self.cases])

    @property
    def sources(self) -> tuple[SourceEffect, ...]:
        """What each experiment did as the only source, in the order of their names.

        It 'helps' or 'misleads' if its runs are further from those without sources than these
        are from each other, so that hardly one in twenty backtests names a source wrongly.
        """
        names = sorted({name for case in self.cases for name in case.alone})
        level = _SIGNIFICANT / max(len(names), 1)
        return tuple(self._effect(name, level) for name in names)

    def _effect(self, name: str, level: float) -> SourceEffect:
        cases = [case for case in self.cases if name in case.alone]
        saved = {case.name: case.saved_by(name) for case in cases}
        if name in self.dropped:
            return SourceEffect(name, saved, "not used", self.dropped[name])
        shares = [share_slower(fmean(case.alone[name]), case.vanilla) for case in cases]
        verdict: Verdict = "not clear"
        if len(cases) < _FEWEST_CASES:
            return SourceEffect(name, saved, verdict)
        if combined(shares) <= level:
            verdict = "misleads"
        elif combined([1 - share for share in shares]) <= level:
            verdict = "helps"
        return SourceEffect(name, saved, verdict)

    def __str__(self) -> str:
        sentences = [headline(self), _average(self), *verdicts(self)]
        return " ".join(sentence for sentence in sentences if sentence)

    def to_json(self) -> dict[str, Any]:
        """Return the backtest as plain JSON data; what it says is there for readers."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "sentence": str(self),
            "method": self.method,
            "top": self.top,
            "cases": [case.to_json() for case in self.cases],
            "skipped": dict(self.skipped),
            "dropped": dict(self.dropped),
            "notes": list(self.notes),
            "sources": [
                {"name": one.name, "saved": dict(one.saved), "verdict": one.verdict}
                for one in self.sources
            ],
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the backtest that `to_json` wrote.

        Raises:
            DataError: The data does not describe a backtest of a known version.
        """
        fields = checked_header(data, _FORMAT, _VERSION)
        try:
            return cls(
                fields["method"],
                fields["top"],
                tuple(map(Case.from_json, fields["cases"])),
                dict(fields["skipped"]),
                dict(fields["dropped"]),
                tuple(fields["notes"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"this hetbo backtest is damaged: {error!r}") from error


def headline(found: Backtest) -> str:
    """Return in how many cases how much was saved, and cost, as a sentence."""
    helped = [case for case in found.cases if rounded(case.saved) > 0]
    hurt = [case for case in found.cases if rounded(case.saved) < 0]
    count = len(found.cases)
    said = "Old runs would have saved nothing"
    if helped:
        saved = rounded(fmean(case.saved for case in helped))
        of = rounded(fmean(case.needed_without for case in helped))
        where = f"{len(helped)} of {count} cases" if count > 1 else "the only case"
        said = f"Old runs would have saved {saved} of {of} trials in {where}"
    if hurt:
        cost = rounded(-fmean(case.saved for case in hurt))
        said += f" and cost {cost} in {f'{len(hurt)} of {count}' if count > 1 else 'the only case'}"
    return f"{said}, on the way to {goal_of(found)}."


def goal_of(found: Backtest) -> str:
    """Return what was searched for, in words."""
    share = f"{100 * found.top:.3g} %"
    return f"the best {share} of a case's settings" if found.top else "the best setting of a case"


def _average(found: Backtest) -> str:
    if found.interval is None:
        low, high = map(rounded, found.cases[0].saved_in_most_runs)
        return f"In nine of ten runs it would have been from {low} to {high}."
    low, high = map(rounded, found.interval)
    luck = ", so this may be luck" if found.interval[0] <= 0 <= found.interval[1] else ""
    mean = rounded(found.saved)
    return f"Over all cases {mean} on average (95 % interval {low} to {high}{luck})."


def verdicts(found: Backtest) -> list[str]:
    """Return which sources mislead and which help beyond chance, in sentences."""
    said = []
    for verdict, one, many in (("misleads", "misleads", "mislead"), ("helps", "helps", "help")):
        names = [shown(source.name) for source in found.sources if source.verdict == verdict]
        if len(names) > _MOST_NAMED:
            said.append(f"{len(names)} of {len(found.sources)} sources {many}.")
        elif names:
            said.append(f"{listed(names)} {one if len(names) == 1 else many}.")
    return said


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def rounded(value: float) -> int:
    """Return the nearest whole number, halves away from 0."""
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)
