"""The problems by name: `hartmann_30`, `ranger_10`, `hartmann_30/fixed=0.3/shuffled`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from hetbo.errors import DataError, shown
from hetbo_bench.data.hpob_files import hpob_folder
from hetbo_bench.own_files import is_own, own_object
from hetbo_bench.paper.published import published_curves, published_folder
from hetbo_bench.problems.archive import Settings, archive_problems
from hetbo_bench.problems.fresh import fresh
from hetbo_bench.problems.hartmann import hartmann_problem
from hetbo_bench.problems.hpob import paper_problem
from hetbo_bench.problems.hpob_natural import natural_problem
from hetbo_bench.problems.problem import Problem
from hetbo_bench.problems.real import real_problems
from hetbo_bench.problems.tabular import tabular_problems
from hetbo_bench.problems.wrappers import MISLEADING

SOURCE_TRIALS = 30
"""A source has so many trials if a problem's name does not say."""

Make = Callable[..., Problem]
"""Makes a problem of some name, whose sources have so many trials, with settings by name."""

FAMILIES: Mapping[str, Make] = {
    "hartmann": lambda name, trials, **settings: hartmann_problem(
        name, source_trials=trials, **settings
    ),
    "ranger": lambda name, trials: paper_problem(name, "ranger", source_trials=trials),
    "rpart": lambda name, trials: paper_problem(name, "rpart", source_trials=trials),
    "ranger-natural": lambda name, trials: natural_problem(name, "ranger", source_trials=trials),
    "rpart-natural": lambda name, trials: natural_problem(name, "rpart", source_trials=trials),
    **tabular_problems(),
    **real_problems(),
    **archive_problems(),
}
"""The families of problems by name; `NAME_N` has sources with N trials each."""

SETTINGS: Mapping[str, Mapping[str, type]] = {
    "hartmann": {"fixed": float},
    **{
        family: {setting.name: type(setting.default) for setting in fields(Settings)}
        for family in archive_problems()
    },
}
"""What can be set in a family's names, such as `fixed=0.3`, and its kind; a bool by its name."""

WRAPPERS: Mapping[str, Callable[[Problem], Problem]] = {**MISLEADING, "fresh": fresh}
"""What can be added to a problem's name, and how it changes the problem."""


def problem_named(name: str) -> Problem:
    """Return the problem called `name`.

    A name is a family, optionally `_N` for sources of N trials each, or a `Problem` of a user's
    file (`my_file.py:problem`), and optionally settings of the family (`/fixed=0.3`) and wrappers:
    `/shuffled`, `/negated`, `/unrelated`, `/fresh`.

    Raises:
        DataError: There is no such problem, or its data is not available.
    """
    return _made(name, published_folder(), hpob_folder())


@cache
def _made(name: str, published: Path | None, tables: Path) -> Problem:
    """Make a problem once for each place that its data may come from."""
    del published, tables  # looked up again where they are needed
    path, colon, rest = name.rpartition(":") if is_own(name) else ("", "", name)
    head, *options = rest.split("/")
    known: Mapping[str, type] = {}
    if colon:
        problem = _own_problem(f"{path}:{head}")
    else:
        known, problem = _of_family(name, head, options)
    wrappers = [option for option in options if not _is_setting(option, known)]
    if "fresh" in wrappers[:-1]:
        raise DataError(f"problem {shown(name)}: /fresh comes at the end")
    for option in wrappers:
        if option not in WRAPPERS:
            expected = ", ".join([*WRAPPERS, *map(_written, known.items())])
            raise DataError(
                f"problem {shown(name)}: unknown {shown(option)}; expected one of {expected}"
            )
        problem = WRAPPERS[option](problem)
    return problem


def _is_setting(option: str, known: Mapping[str, type]) -> bool:
    """Return whether an option sets something, and is not a wrapper that has the same name."""
    name, equals, _ = option.partition("=")
    return name in known and (bool(equals) or known[name] is bool)


def _written(setting: tuple[str, type]) -> str:
    name, kind = setting
    return name if kind is bool else f"{name}=NUMBER"


def _own_problem(name: str) -> Problem:
    found = own_object(name)
    if not isinstance(found, Problem):
        raise DataError(f"{name!r} is a {type(found).__name__}, not a hetbo_bench.Problem")
    return found


def _of_family(name: str, head: str, options: Sequence[str]) -> tuple[Mapping[str, type], Problem]:
    """Return what can be set in a family's names, and the problem with what is."""
    family, _, count = head.rpartition("_")
    if not family:
        family, count = head, str(SOURCE_TRIALS)
    if family not in FAMILIES:
        raise DataError(
            f"unknown problem {shown(name)}; expected one that 'hetbo bench list' shows, such as "
            f"{', '.join(get_close_matches(family, FAMILIES) or ['hartmann'])}, or a file's, such "
            "as my_file.py:problem"
        )
    if not (count.isascii() and count.isdigit() and int(count) > 0):
        raise DataError(
            f"problem {shown(name)}: {shown(count)} must be a number of source trials above 0"
        )
    known = SETTINGS.get(family, {})
    settings: dict[str, float] = {}
    given = [option for option in options if _is_setting(option, known)]
    for option in given:
        setting, _, value = option.partition("=")
        if setting in settings:
            times = sum(other.partition("=")[0] == setting for other in given)
            raise DataError(f"problem {shown(name)}: {setting} occurs {times} times")
        settings[setting] = _setting(name, option, known[setting], value)
    try:
        return known, FAMILIES[family]("/".join([head, *given]), int(count), **settings)
    except DataError as error:
        raise DataError(f"problem {shown(name)}: {error}") from error


def without_published_starts(names: Iterable[str]) -> list[str]:
    """Return which of these problems the paper has runs of that are not available."""
    return [
        name
        for name in dict.fromkeys(names)
        if name in published_curves() and problem_named(name).starts == "drawn"
    ]


def _setting(name: str, option: str, kind: type, text: str) -> float:
    """Return the value of a setting: a bool is set by its name alone, a number after `=`."""
    try:
        if kind is bool and option.isidentifier():
            return True
        return int(text) if kind is int else float("" if kind is bool else text)
    except ValueError:
        needs = {bool: "stands alone", int: "needs a whole number"}.get(kind, "needs a number")
        raise DataError(f"problem {shown(name)}: {shown(option)} {needs}") from None
