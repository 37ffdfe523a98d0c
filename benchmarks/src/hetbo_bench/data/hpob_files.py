"""HPO-B's original files: where they lie, and one table out of them at a time.

A file holds `{search space: {data set: {"X": [[...]], "y": [[...]]}}}` and may be larger than the
memory. It is therefore searched in place, and only the data sets that are asked for are parsed.
"""

import json
import mmap
import os
import re
from pathlib import Path

from hetbo.errors import DataError

FOLDER_VARIABLE = "HETBO_DATA"

TRAIN = "meta-train-dataset.json"
TEST = "meta-test-dataset.json"
DESCRIPTORS = "meta-dataset-descriptors.json"

_REMEDY = "get it anew with 'hetbo bench data hpob'"
_DATA_SET = re.compile(rb'\s*,?\s*"([^"]*)"\s*:\s*\{')
_END = re.compile(rb"\s*\}")

Rows = tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]
"""The configurations of a table and their values."""


def hpob_folder() -> Path:
    """Return the folder of HPO-B's files, whether or not it exists.

    It is `hpob` in the folder that the environment variable `HETBO_DATA` names, or else in
    `hetbo` in the user's folder for caches (`XDG_CACHE_HOME`, by default `~/.cache`).
    """
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named).expanduser() / "hpob"
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "hetbo" / "hpob"


def first_table(path: Path, search_space: str, *, more_than: int) -> Rows:
    """Return the first data set of a search space that has more than so many rows.

    Args:
        path: One of HPO-B's files.
        search_space: The search space's number.
        more_than: How many rows are too few.

    Raises:
        DataError: The file cannot be read, is not one of HPO-B's, or has no such table.
    """
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            found = _first_table(text, search_space, more_than)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(
            f"{path} is not laid out as HPO-B describes it, at search space {search_space} "
            f"({error!r}): {_REMEDY}"
        ) from error
    if found is None:
        raise DataError(
            f"{path} has no data set of search space {search_space} with more than {more_than} "
            f"rows: {_REMEDY}"
        )
    return found


def _first_table(text: mmap.mmap, search_space: str, more_than: int) -> Rows | None:
    # A data set can have the same number as a search space; what it holds begins with X or y.
    key = rb'"%s"\s*:\s*\{(?=\s*"(?![Xy]"))' % re.escape(search_space).encode()
    start = re.search(key, text)
    at = start.end() if start else len(text)
    while head := _DATA_SET.match(text, at):
        at = text.find(b"}", head.end()) + 1  # only lists stand in a data set
        if not at:
            raise ValueError("the file ends in the middle of a data set")
        data = json.loads(text[head.end() - 1 : at])
        if len(data["X"]) > more_than:
            X = tuple(tuple(map(float, row)) for row in data["X"])
            y = tuple(float(value) for (value,) in data["y"])
            if len(X) != len(y) or len(set(map(len, X))) != 1:
                raise ValueError(f"data set {head[1].decode()}: the rows do not fit together")
            return X, y
    if start and not _END.match(text, at):
        raise ValueError("the file ends in the middle of a search space")
    return None
