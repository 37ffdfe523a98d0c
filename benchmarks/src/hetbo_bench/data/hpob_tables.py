"""HPO-B's tables: from the folder of published runs, or from HPO-B's own files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hetbo.errors import DataError
from hetbo_bench.data.hpob_files import TEST, TRAIN, first_table, hpob_folder
from hetbo_bench.paper.published import published_folder, read_published

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "5889": (
        "num.trees",
        "num.trees.na",
        "mtry",
        "sample.fraction",
        "replace.ohe._FALSE",
        "replace.ohe._INVALID",
    ),
    "5965": (
        "num.trees",
        "num.trees.na",
        "mtry",
        "sample.fraction",
        "min.node.size",
        "min.node.size.na",
        "replace.ohe._FALSE",
        "replace.ohe._INVALID",
        "respect.unordered.factors.ohe._INVALID",
        "respect.unordered.factors.ohe._TRUE",
    ),
    "7607": (
        "num.trees",
        "num.trees.na",
        "mtry",
        "min.node.size",
        "sample.fraction",
        "respect.unordered.factors.ohe._INVALID",
        "respect.unordered.factors.ohe._TRUE",
        "replace.ohe._FALSE",
        "replace.ohe._INVALID",
    ),
    "4796": ("minsplit", "minbucket", "cp"),
    "5636": ("minsplit", "minsplit.na", "minbucket", "cp", "maxdepth", "maxdepth.na"),
    "5859": ("minsplit", "minsplit.na", "minbucket", "cp", "maxdepth", "maxdepth.na"),
}
"""The columns of each search space, in the order in which HPO-B stores them."""

PAPER_ORDER: Mapping[str, tuple[str, ...]] = {
    "7607": (
        "num.trees",
        "num.trees.na",
        "mtry",
        "sample.fraction",
        "min.node.size",
        "replace.ohe._FALSE",
        "replace.ohe._INVALID",
        "respect.unordered.factors.ohe._TRUE",
        "respect.unordered.factors.ohe._INVALID",
    ),
}
"""The stored columns in the paper's order, where that is another one."""


@dataclass(frozen=True, slots=True)
class HpobTable:
    """One search space of HPO-B on one data set, fully evaluated.

    Attributes:
        search_space: The search space's number.
        columns: The names of the columns of `X`, in the paper's order.
        X: The configurations, each column scaled to 0..1.
        y: Their accuracies.
    """

    search_space: str
    columns: tuple[str, ...]
    X: tuple[Sequence[float], ...] = field(repr=False)
    y: tuple[float, ...] = field(repr=False)


def tables_of(
    family: str, *, target: str, sources: Sequence[str], source_trials: int
) -> Mapping[str, HpobTable]:
    """Return the tables of a target and its sources, by search space.

    They come from the folder of published runs or else from HPO-B's own files, as the paper's
    authors pick them there: the first data set of the target among the tests, and of each source
    the first one for training that has more rows than are needed.

    Args:
        family: How the published folder calls these tables.
        target: The target's search space.
        sources: The sources' search spaces.
        source_trials: How many rows of each source are needed.

    Raises:
        DataError: The tables are not available, or have too few rows.
    """
    published = published_folder()
    if published is not None and (published / "hpob_tables.json").is_file():
        found = _published(family)
        tables = {key: found[key] for key in (target, *sources)}
    else:
        tables = _downloaded(family, target, sources, source_trials)
    for key in sources:
        if (rows := len(tables[key].y)) < source_trials:
            raise DataError(
                f"{family}: {source_trials} source trials are more than the {rows} rows of search "
                f"space {key}; ask for at most {rows}"
            )
    return tables


def _published(family: str) -> dict[str, HpobTable]:
    stored = read_published("hpob_tables.json")
    try:
        return {
            table["search_space_id"]: HpobTable(
                table["search_space_id"],
                tuple(table["columns"]),
                tuple(map(tuple, table["X"])),
                tuple(map(float, table["y"])),
            )
            for table in (stored or {})[family]
        }
    except (KeyError, TypeError, ValueError) as error:
        message = f"hpob_tables.json does not hold the tables of {family}: {error!r}"
        raise DataError(message) from error


def _downloaded(
    family: str, target: str, sources: Sequence[str], source_trials: int
) -> dict[str, HpobTable]:
    folder = hpob_folder()
    missing = [name for name in (TRAIN, TEST) if not (folder / name).is_file()]
    if missing:
        raise DataError(
            f"{family} needs HPO-B's tables, but {folder} has no {' and no '.join(missing)}: get "
            "them with 'hetbo bench data hpob', or let HETBO_PUBLISHED name the folder of the "
            "paper's runs"
        )
    tables = {target: _stored(folder / TEST, target, more_than=0)}
    return tables | {key: _stored(folder / TRAIN, key, more_than=source_trials) for key in sources}


def _stored(path: Path, search_space: str, *, more_than: int) -> HpobTable:
    X, y = first_table(path, search_space, more_than=more_than)
    columns = COLUMNS[search_space]
    if len(X[0]) != len(columns):
        raise DataError(
            f"{path}: search space {search_space} has {len(X[0])} columns, not {len(columns)}; "
            "these are not the files of HPO-B v3"
        )
    ordered = PAPER_ORDER.get(search_space, columns)
    positions = [columns.index(name) for name in ordered]
    return HpobTable(search_space, ordered, tuple(tuple(row[i] for i in positions) for row in X), y)
