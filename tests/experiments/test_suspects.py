"""Columns that look like results or names of runs are pointed out, and no others."""

import warnings

import pytest

from hetbo import Float, HetboWarning, Int, Space
from readers import Read

VALUES = [0.5, 0.25, 1.0, 0.125, 2.0, 3.5]


def rows(**columns: list[object]) -> list[dict[str, object]]:
    """Return rows with a parameter, the loss and some more columns."""
    return [
        {"lr": value, "loss": 1.0, **{name: cells[i] for name, cells in columns.items()}}
        for i, value in enumerate(VALUES)
    ]


def pointed_out(read: Read, name: str, cells: list[object] | None = None) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        experiment = read(rows(**{name: cells or [4, 7, 1, 1, 2, 9]}), goal="minimize")
    assert name in experiment.space  # nothing is dropped unasked
    assert len(caught) <= 1
    for warning in caught:
        assert warning.category is HetboWarning
        assert f"drop=[{name!r}]" in str(warning.message)
    return bool(caught)


@pytest.mark.parametrize(
    "name",
    [
        *("runtime", "Runtime_s", "elapsed", "duration_ms", "time", "train_time", "wall.time"),
        *("fitTime", "time total s", "seconds", "timestamp", "_timestamp", "date", "start-date"),
        *("created_at", "startedAt", "finished", "datetime_start", "status", "job_status", "state"),
        *("mean_fit_time", "std_score_time", "wall_clock", "wallclock", "cost_seconds", "gpu_h"),
        *("t_train", "exit_code", "success", "failed", "error", "result"),
        *("id", "run_id", "runID", "uuid", "trial", "trial_number", "run", "index", "job.id"),
    ],
)
def test_names_of_results_and_of_runs_are_pointed_out(read: Read, name: str) -> None:
    assert pointed_out(read, name)


@pytest.mark.parametrize(
    "name",
    [
        *("epochs", "seed", "max_runtime", "time_limit", "n_iter_time_constant", "random_state"),
        *("hidden_state", "timeout", "residence_time", "update_rate", "width", "validate"),
        *("candidate", "n_trials", "index_type", "warmup_duration", "gpu", "staterooms", "idx2"),
        *("temperature", "batch", "min_seconds_per_step", "overrun", "grid", "dt", "train_size"),
        *("t", "h", "cost", "score", "mean", "error_margin", "fit_intercept", "std_dev"),
    ],
)
def test_names_of_parameters_are_not(read: Read, name: str) -> None:
    assert not pointed_out(read, name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("run_time", "a time"),
        ("finished", "when or how a run ended"),
        ("exit_code", "what came of a run"),
        ("run_id", "which run it was"),
    ],
)
def test_the_reason_is_that_of_the_name(read: Read, name: str, reason: str) -> None:
    cells: list[object] = [4, 7, 1, 1, 2, 9]
    with pytest.warns(HetboWarning, match=f"'{name}' \\({reason}\\)"):
        read(rows(**{name: cells}), goal="minimize")


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-01", "2024-01-02", "2024-01-03"],
        [f"2024-01-01T10:0{n}:00Z" for n in range(6)],
        [f"2024-01-01 10:0{n}:00.123+02:00" for n in range(6)],
        [f"10:0{n}:00" for n in range(6)],
        [f"0{n}.03.2024 10:00" for n in range(1, 7)],
        [f"{n}.3.2024" for n in range(1, 7)],
        [f"3/{n}/2024" for n in range(1, 7)],
        [f"03/0{n}/2024 1:30 PM" for n in range(1, 7)],
        ["ok", "failed", "ok", "ok", "ok", "failed"],
        ["completed", "pruned", "running", "completed", "completed", "completed"],
        [0, 1, 2, 3, 4, 5],
        [1, 2, 3, 4, 5, 6],
    ],
)
def test_what_a_column_holds_is_looked_at(read: Read, cells: list[object]) -> None:
    assert pointed_out(read, "what", cells)


@pytest.mark.parametrize(
    "cells",
    [
        [2, 3, 4, 5, 6, 7],
        [0, 1, 2, 3, 4, 4],
        [0, 2, 1, 3, 4, 5],
        [0.0, 1.5, 2.0, 3.0, 4.0, 5.0],
        ["relu", "done", "tanh", "relu", "relu", "done"],
        ["2024a", "2024-01", "b", "c", "a", "b"],
    ],
)
def test_other_contents_are_parameters(read: Read, cells: list[object]) -> None:
    assert not pointed_out(read, "what", cells)


def test_several_columns_are_named_in_one_note(read: Read) -> None:
    table = rows(runtime=[4.5, 7, 1, 1, 2, 9], status=["ok", "bad"] * 3, depth=[1, 2, 1, 2, 1, 2])
    with pytest.warns(HetboWarning) as caught:
        read(table, goal="minimize")
    (message,) = [str(warning.message) for warning in caught]
    for part in ("runs", "'runtime' (a time)", "'status' (what came of a run)"):
        assert part in message
    assert "drop=['runtime', 'status']" in message
    assert read(table, goal="minimize", drop=["runtime", "status"]).space.names == ("lr", "depth")


def test_a_space_that_is_given_or_a_column_that_was_named_is_meant(read: Read) -> None:
    table = rows(runtime=[4, 7, 1, 1, 2, 9])
    space = Space(lr=Float(0, 5), runtime=Int(0, 9))
    assert read(table, goal="minimize", space=space).space == space
    assert "runtime" in read(table, goal="minimize", categorical=["runtime"]).space


def test_a_column_that_never_changes_is_no_parameter_anyway(read: Read) -> None:
    assert read(rows(date=["2024-01-01"] * 6), goal="minimize").fixed == {"date": "2024-01-01"}


def test_a_single_parameter_may_be_gone_through_one_by_one(read: Read) -> None:
    table = [{"depth": depth, "loss": 1.0} for depth in range(1, 9)]
    assert read(table, goal="minimize").space == Space(depth=Int(1, 8))
