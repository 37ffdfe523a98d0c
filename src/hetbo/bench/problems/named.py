"""The problems by name: `hartmann_30`, `ranger_10`, `hartmann_30/fixed=0.3/shuffled`."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from hetbo.bench.data.hpob_files import hpob_folder
from hetbo.bench.data.published import published_curves, published_folder
from hetbo.bench.problems.fresh import fresh
from hetbo.bench.problems.hartmann import hartmann_problem
from hetbo.bench.problems.hpob import paper_problem
from hetbo.bench.problems.hpob_natural import natural_problem
from hetbo.bench.problems.problem import Problem
from hetbo.bench.problems.tabular import tabular_problems
from hetbo.bench.problems.wrappers import MISLEADING
from hetbo.errors import DataError, shown

SOURCE_TRIALS = 30
"""A source has so many trials if a problem's name does not say."""

Make = Callable[[str, int], Problem]
"""Makes a problem of some name, whose sources have so many trials."""

FAMILIES: Mapping[str, Make] = {
    "hartmann": lambda name, trials: hartmann_problem(name, source_trials=trials),
    "ranger": lambda name, trials: paper_problem(name, "ranger", source_trials=trials),
    "rpart": lambda name, trials: paper_problem(name, "rpart", source_trials=trials),
    "ranger-natural": lambda name, trials: natural_problem(name, "ranger", source_trials=trials),
    "rpart-natural": lambda name, trials: natural_problem(name, "rpart", source_trials=trials),
    **tabular_problems(),
}
"""The families of problems by name; `NAME_N` has sources with N trials each."""

WRAPPERS: Mapping[str, Callable[[Problem], Problem]] = {**MISLEADING, "fresh": fresh}
"""What can be added to a problem's name, and how it changes the problem."""


def problem_named(name: str) -> Problem:
    """Return the problem called `name`.

    A name is a family, optionally `_N` for sources of N trials each, and optionally wrappers:
    `/fixed=0.3` (hartmann only), `/shuffled`, `/negated`, `/unrelated`, `/fresh`.

    Raises:
        DataError: There is no such problem, or its data is not at hand.
    """
    return _made(name, published_folder(), hpob_folder())


@cache
def _made(name: str, published: Path | None, tables: Path) -> Problem:
    """Make a problem once for each place that its data may come from."""
    del published, tables  # looked up again where they are needed
    head, *options = name.split("/")
    family, _, count = head.rpartition("_")
    if not family:
        family, count = head, str(SOURCE_TRIALS)
    if family not in FAMILIES:
        raise DataError(f"problem {shown(name)} is none of {', '.join(FAMILIES)}")
    if not (count.isascii() and count.isdigit() and int(count) > 0):
        raise DataError(f"problem {shown(name)}: {shown(count)} is no number of source trials")
    trials = int(count)
    fixed = [option for option in options if option.startswith("fixed=")]
    if len(fixed) > 1:
        raise DataError(f"problem {shown(name)}: fixed= is there {len(fixed)} times")
    if fixed and family == "hartmann":
        problem = hartmann_problem(
            f"{head}/{fixed[0]}", source_trials=trials, fixed=_number(name, fixed[0])
        )
    else:
        problem = FAMILIES[family](head, trials)
    if "fresh" in options[:-1]:
        raise DataError(f"problem {shown(name)}: /fresh comes at the end")
    for option in options:
        if option in fixed and family == "hartmann":
            continue
        if option not in WRAPPERS:
            known = ", ".join(WRAPPERS) + (", fixed=NUMBER" if family == "hartmann" else "")
            raise DataError(f"problem {shown(name)}: {shown(option)} is none of {known}")
        problem = WRAPPERS[option](problem)
    return problem


def without_published_starts(names: Iterable[str]) -> list[str]:
    """Return which of these problems the paper has runs of that are not at hand."""
    return [
        name
        for name in dict.fromkeys(names)
        if name in published_curves() and problem_named(name).starts == "drawn"
    ]


def _number(name: str, option: str) -> float:
    text = option.removeprefix("fixed=")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise DataError(f"problem {shown(name)}: {shown(text)} is no number from 0 to 1")
    return value
