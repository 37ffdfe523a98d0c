"""Small files laid out as HPO-B's: the real search spaces, made-up data sets."""

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetbo_bench.data.hpob_files import DESCRIPTORS, TEST, TRAIN
from hetbo_bench.data.hpob_tables import COLUMNS

JSON = dict[str, Any]

# The range of each number, and the search spaces that take its logarithm.
_NUMBERS: Mapping[str, tuple[float, float, tuple[str, ...]]] = {
    "num.trees": (0.0, 2000.0, ("5965", "5889")),
    "mtry": (1.0, 300.0, ("5965", "5889")),
    "sample.fraction": (0.1, 0.95, ()),
    "min.node.size": (0.0, 4000.0, ("5965", "7607")),
    "minsplit": (0.0, 60.0, ("4796",)),
    "minbucket": (1.0, 60.0, ("4796",)),
    "cp": (0.0002, 0.9, ("4796", "5636", "5859")),
    "maxdepth": (0.0, 29.0, ()),
}


def descriptors() -> JSON:
    """Return a description of the six search spaces, as in `meta-dataset-descriptors.json`."""
    return {key: _described(key) for key in COLUMNS}


def _described(search_space: str) -> JSON:
    columns = COLUMNS[search_space]
    variables: JSON = {}
    logged = []
    for column in columns:
        name, _, category = column.partition(".ohe._")
        if category:
            variables.setdefault(name, {"categories": []})["categories"].append(category)
        elif column.endswith(".na"):
            variables[column] = {"min": 0.0, "max": 1.0, "min_before_tf": 0.0, "max_before_tf": 1.0}
        else:
            low, high, in_logs = _NUMBERS[column]
            if f"{column}.na" not in columns:
                low = max(low, 0.0002 if column == "cp" else 0.1 if "fraction" in column else 1.0)
            ends = {"min_before_tf": low, "max_before_tf": high, "min": low, "max": high}
            if search_space in in_logs:
                logged.append(column)
                ends |= {"min": math.log(low + 1e-4), "max": math.log(high + 1e-4)}
            variables[column] = ends
    return {
        "variables": variables,
        "variables_to_apply_log": logged,
        "variables_order": list(columns),
    }


def scaled(search_space: str, params: Mapping[str, Any], described: JSON) -> dict[str, float]:
    """Return parameters as HPO-B stores them, by column; None is a parameter that is not set."""
    own = described[search_space]
    cells: dict[str, float] = {}
    for name, value in params.items():
        about = own["variables"][name]
        if "categories" in about:
            cells |= {f"{name}.ohe._{c}": float(c == value) for c in about["categories"]}
            continue
        if f"{name}.na" in own["variables"]:
            cells[f"{name}.na"] = float(value is None)
        number = 0.0 if value is None else float(value)
        if name in own["variables_to_apply_log"]:
            number = math.log(number + 1e-4)
        cells[name] = (number - about["min"]) / (about["max"] - about["min"])
    return cells


def data_set(search_space: str, rows: int, *, seed: int = 0, unset: tuple[str, ...] = ()) -> JSON:
    """Return made-up rows; the parameters `unset` are not set in any, others in every tenth."""
    rng = np.random.default_rng([seed, rows, int(search_space)])
    described = descriptors()
    variables = described[search_space]["variables"]
    X, y = [], []
    for row in range(rows):
        params: dict[str, Any] = {}
        for name, about in variables.items():
            if name.endswith(".na"):
                continue
            if "categories" in about:
                params[name] = str(rng.choice(about["categories"]))
                continue
            low, high = about["min_before_tf"], about["max_before_tf"]
            whole = float(low).is_integer() and float(high).is_integer()
            params[name] = int(rng.integers(1, high + 1)) if whole else rng.uniform(low, high)
            if f"{name}.na" in variables and (name in unset or row % 10 == 9):
                params[name] = None
        cells = scaled(search_space, params, described)
        X.append([cells[column] for column in COLUMNS[search_space]])
        y.append([round(float(rng.uniform(0.5, 0.9)), 6)])
    return {"X": X, "y": y}


def tables() -> dict[str, JSON]:
    """Return the two files; of each source, the second data set has more than 30 rows."""
    sources = {
        key: {
            "3": data_set(key, 8),
            "31": data_set(key, 40, unset=("min.node.size",)),
            "37": data_set(key, 60),
        }
        for key in ("5965", "7607", "5636", "5859")
    }
    decoys = {"5527": {"5965": data_set("4796", 50), "7607": data_set("4796", 50)}}
    targets = {
        key: {"10093": data_set(key, 30, seed=1), "5636": data_set(key, 50)}
        for key in ("4796", "5889")
    }
    return {TRAIN: decoys | sources, TEST: targets}


def archive(
    files: Mapping[str, Any] | None = None, *, prefix: str = "hpob-data/", filler: int = 0
) -> bytes:
    """Return a zip of such files; `filler` adds so many bytes of a file that nobody needs."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(f"{prefix}filler.bin", np.random.default_rng(0).bytes(filler))
        for name, data in (tables() if files is None else files).items():
            out.writestr(f"{prefix}{name}", json.dumps(data))
    return stream.getvalue()


def complete_archive(*, filler: int = 0) -> bytes:
    """Return a zip that holds the descriptors too."""
    return archive(tables() | {DESCRIPTORS: descriptors()}, filler=filler)
