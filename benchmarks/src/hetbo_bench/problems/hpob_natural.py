"""The problems of HPO-B in natural units.

HPO-B scales each search space on its own: it takes the logarithm of some columns (in one space and
not in the next), fits each to 0..1, spreads a choice over one column per category, and adds a
column `x.na` that is 1 where `x` was not set. Its descriptors allow to undo all that:

- `num.trees`, `mtry` and their like become whole numbers, `cp` and `sample.fraction` stay real.
- The columns of a choice become one parameter. `INVALID` stays a category: it stands for runs that
  did not set the parameter.
- Where `x.na` is 1, `x` has its default in R (`DEFAULTS`). OpenML's runs do not store settings that
  equal the default. The tables agree: in 5636, `minsplit` takes all values from 1 to 60 but 20, and
  `maxdepth` all from 1 to 30 but 30; these two are the defaults.
- A parameter that no row of a source sets is not tuned by that source.
- Ranges are those of the search space, not of the table. Where `x` may be not set, HPO-B fills in
  0, which is no value of `x`: the range then starts at 1, and contains the default.
- The scale of a parameter is logarithmic if it is so in the target, or, if the target lacks the
  parameter, in the source.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hetbo.cli import read_json
from hetbo.errors import DataError
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo_bench.data.hpob_files import DESCRIPTORS, hpob_folder
from hetbo_bench.data.hpob_tables import HpobTable
from hetbo_bench.paper.published import published_folder, read_published
from hetbo_bench.problems.hpob import Encoding, table_problem
from hetbo_bench.problems.problem import Problem

DEFAULTS: Mapping[str, int] = {
    "num.trees": 500,
    "min.node.size": 1,
    "minsplit": 20,
    "maxdepth": 30,
}
"""What R's `ranger` (for classification) and `rpart` take if a parameter is not set."""

_SHIFT = 1e-4  # HPO-B takes the logarithm of the value plus this
_ROUNDING = 1e-6


def natural_problem(name: str, family: str, *, source_trials: int) -> Problem:
    """Return a problem of HPO-B in natural units; it starts as the one in the paper's encoding.

    Args:
        name: How the problem is called.
        family: A name in `hetbo_bench.problems.hpob.FAMILIES`.
        source_trials: How many trials each source has.

    Raises:
        DataError: The tables or the descriptors of the search spaces are not available.
    """
    described = descriptors(family)
    return table_problem(
        name,
        family,
        source_trials=source_trials,
        encoded="in natural units",
        encode=lambda table, target: natural_units(table, target, described),
    )


def descriptors(family: str) -> Mapping[str, Any]:
    """Return HPO-B's description of its search spaces, by number.

    Args:
        family: What they are needed for.

    Raises:
        DataError: They are not available.
    """
    published = published_folder()
    path = hpob_folder() / DESCRIPTORS
    if published is not None and (published / "hpob_descriptors.json").is_file():
        found = read_published("hpob_descriptors.json")
    elif path.is_file():
        found = read_json(path)
    else:
        raise DataError(
            f"{family} in natural units needs HPO-B's descriptors, but there is no {path}: get it "
            "with 'hetbo bench data hpob', or let HETBO_PUBLISHED name the folder of the paper's "
            "runs"
        )
    if not isinstance(found, dict):
        raise DataError(f"HPO-B's descriptors are a {type(found).__name__}, not an object")
    return found


def natural_units(table: HpobTable, target: HpobTable, described: Mapping[str, Any]) -> Encoding:
    """Return how the rows of a table become parameters in natural units.

    Args:
        table: The table.
        target: The target's table, whose scales count.
        described: HPO-B's description of its search spaces, by number.

    Raises:
        DataError: The description does not fit the tables.
    """
    try:
        names = dict.fromkeys(
            column.partition(".ohe._")[0] for column in table.columns if not column.endswith(".na")
        )
        own, leading = described[table.search_space], described[target.search_space]
        cells = {name: _cell(name, table, own, leading) for name in names if _is_tuned(name, table)}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"HPO-B's descriptors do not describe search space {table.search_space}: {error!r}"
        ) from error
    space = Space.from_mapping({name: cell.parameter for name, cell in cells.items()})
    return Encoding(space, lambda x: {name: cell.value(x) for name, cell in cells.items()})


@dataclass(frozen=True, slots=True)
class _Choice:
    """A parameter whose categories have one column each.

    Attributes:
        parameter: The parameter.
        columns: Where each of its choices stands in a row.
    """

    parameter: Categorical
    columns: tuple[int, ...]

    def value(self, x: Sequence[float]) -> Value:
        """Return the value in a row."""
        return self.parameter.choices[[x[column] for column in self.columns].index(1.0)]


@dataclass(frozen=True, slots=True)
class _Number:
    """A parameter that is scaled to 0..1.

    Attributes:
        parameter: The parameter.
        column: Where it stands in a row.
        unset: Where it stands whether the row does not set it; None if every row does.
        default: Its value in rows that do not set it.
        low: What 0 stands for.
        high: What 1 stands for.
        log: Whether `low` and `high` are logarithms.
    """

    parameter: Float | Int
    column: int
    unset: int | None
    default: int | None
    low: float
    high: float
    log: bool

    def value(self, x: Sequence[float]) -> Value:
        """Return the value in a row."""
        if self.unset is not None and x[self.unset] == 1.0:
            return self.default
        found = self.low + x[self.column] * (self.high - self.low)
        if self.log:
            found = math.exp(found) - _SHIFT
        if isinstance(self.parameter, Float):
            return min(max(found, self.parameter.low), self.parameter.high)
        if abs(found - round(found)) > _ROUNDING * max(1.0, found):
            raise DataError(f"{found} should be a whole number: another table, or descriptors")
        return round(found)


def _is_tuned(name: str, table: HpobTable) -> bool:
    if f"{name}.na" not in table.columns:
        return True
    unset = table.columns.index(f"{name}.na")
    return any(x[unset] != 1.0 for x in table.X)


def _cell(
    name: str, table: HpobTable, own: Mapping[str, Any], leading: Mapping[str, Any]
) -> _Choice | _Number:
    described = own["variables"][name]
    if "categories" in described:
        choices = tuple(described["categories"])
        columns = tuple(table.columns.index(f"{name}.ohe._{choice}") for choice in choices)
        return _Choice(Categorical(*choices), columns)
    low, high = described["min_before_tf"], described["max_before_tf"]
    scales = leading if name in leading["variables"] else own
    log = name in scales["variables_to_apply_log"]
    whole = float(low).is_integer() and float(high).is_integer()
    unset, default = None, None
    if f"{name}.na" in table.columns:
        unset, default = table.columns.index(f"{name}.na"), DEFAULTS[name]
        low, high = max(low, 1), max(high, default)
    return _Number(
        Int(low, high, log=log) if whole else Float(low, high, log=log),
        column=table.columns.index(name),
        unset=unset,
        default=default,
        low=described["min"],
        high=described["max"],
        log=name in own["variables_to_apply_log"],
    )
