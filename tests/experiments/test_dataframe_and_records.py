from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
import pytest

from helpers import refused
from hetbo import Categorical, DataError, DataWarning, Experiment, Float, Int, Space, TrialState

LOSS = [0.5, 0.25, 1.0]


def read_column(column: object) -> Experiment:
    return Experiment.from_dataframe(
        pd.DataFrame({"x": column, "other": [1, 2, 3], "loss": LOSS}),
        value="loss",
        drop=["other"],
        goal="minimize",
    )


@pytest.mark.parametrize(
    ("column", "parameter"),
    [
        (np.array([1, 2, 3], dtype=np.int8), Int(1, 3)),
        (np.array([0.5, 1, 2], dtype=np.float32), Float(0.5, 2)),
        (np.array([True, False, True]), Categorical(*(False, True))),
        (pd.array([1, 2, 3], dtype="Int64"), Int(1, 3)),
        (pd.array([True, False, True], dtype="boolean"), Categorical(*(False, True))),
        (pd.array(["b", "a", "b"], dtype="string"), Categorical("b", "a")),
        (pd.Categorical(["b", "a", "b"]), Categorical("b", "a")),
        (["b", "a", "b"], Categorical("b", "a")),
        ([1, "1", 2.0], Float(1, 2)),
        (["1", " 2", "3"], Int(1, 3)),
        (["1", "2.5", "3"], Float(1, 3)),
        (["True", "false", True], Categorical(*(False, True))),
        (["none", "NA", ""], Categorical("none", "NA", "")),
    ],
)
def test_the_types_of_a_dataframe_are_kept(
    column: object, parameter: Int | Float | Categorical
) -> None:
    assert read_column(column).space["x"] == parameter


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array(["a", None, "c"], dtype="string"),
        pd.Categorical(["a", None, "c"]),
        [1.0, np.nan, 3.0],
        ["a", None, "c"],
        ["a", pd.NA, "c"],
        ["a", pd.NaT, "c"],
    ],
)
def test_every_kind_of_gap_is_found(column: object) -> None:
    with refused(DataError, "dataframe", "row 2", "'x'", "not a usable value"):
        read_column(column)


@pytest.mark.parametrize(
    "cell", [[1, 2], np.array([1, 2]), {"a": 1}, b"a", object, pd.Timestamp("2024-01-01")]
)
def test_a_cell_that_is_no_plain_value_is_a_row_that_does_not_fit(cell: object) -> None:
    rows = [{"x": x, "loss": loss} for x, loss in zip([1, cell, 3], LOSS, strict=True)]
    for read in (
        partial(Experiment.from_records, rows, goal="minimize"),
        partial(Experiment.from_dataframe, pd.DataFrame(rows), goal="minimize"),
    ):
        with refused(DataError, "runs", "row 2", "'x'", "not a usable value"):
            read(value="loss", name="runs")
        with pytest.warns(DataWarning, match="1 of 3 rows"):
            skipped = read(value="loss", on_invalid="skip")
        assert skipped.space == Space(x=Int(1, 3))


def test_a_column_of_dates_is_named() -> None:
    dates = pd.date_range("2024-01-01", periods=3)
    for column in (dates, dates - dates[0], dates.to_period("D"), list(dates.date)):
        with refused(DataError, "dataframe", "'x'", "dates, times or durations", "drop=['x']"):
            read_column(column)


def test_the_index_of_a_dataframe_is_no_column() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "loss": LOSS}, index=["a", "b", "c"])
    assert Experiment.from_dataframe(frame, value="loss", goal="minimize").space.names == ("x",)


def test_a_dataframe_is_left_alone() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "loss": LOSS})
    before = frame.copy(deep=True)
    Experiment.from_dataframe(frame, value="loss", rename={"x": "y"}, goal="minimize")
    pd.testing.assert_frame_equal(frame, before)


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([[1, 2, 0.5]], columns=["x", "x", "loss"])
    with refused(DataError, "dataframe", "'x'", "duplicate column"):
        Experiment.from_dataframe(frame, value="loss", goal="minimize")


def test_names_that_are_no_texts_become_texts() -> None:
    frame = pd.DataFrame({0: [1, 2, 3], "loss": LOSS})
    assert Experiment.from_dataframe(frame, value="loss", goal="minimize").space.names == ("0",)


def test_tables_without_rows_need_a_space() -> None:
    frame = pd.DataFrame({"x": [], "loss": []})
    with refused(DataError, "dataframe", "no row", "space="):
        Experiment.from_dataframe(frame, value="loss", goal="minimize")
    read = Experiment.from_dataframe(frame, value="loss", space=Space(x=Int(0, 1)), goal="minimize")
    assert read.trials == ()
    with refused(DataError, "records", "empty"):
        Experiment.from_records([], value="loss", goal="minimize")
    with refused(DataError, "dataframe", "empty"):
        Experiment.from_dataframe(pd.DataFrame(), value="loss", goal="minimize")


def test_records_may_come_from_a_generator() -> None:
    def runs() -> Iterator[dict[str, object]]:
        yield {"x": 1, "loss": 0.5}
        yield {"x": 2, "loss": 0.25}

    assert Experiment.from_records(runs(), value="loss", goal="minimize").space == Space(
        x=Int(1, 2)
    )


def test_records_may_hold_numbers_of_numpy_and_gaps_of_pandas() -> None:
    read = Experiment.from_records(
        [
            {"x": np.int64(1), "b": np.True_, "loss": np.float32(0.5)},
            {"x": np.int64(2), "b": np.False_, "loss": np.float32("nan")},
            {"x": np.int64(3), "b": np.False_, "loss": pd.NA},
        ],
        value="loss",
        goal="minimize",
    )
    assert repr(read.space) == "Space(\n    x=Int(1, 3),\n    b=Categorical(False, True),\n)"
    assert [trial.state for trial in read.trials] == [TrialState.COMPLETE] + 2 * [TrialState.FAILED]


def test_a_gap_of_numpy_is_found_in_records() -> None:
    rows = [{"x": np.float32(x), "loss": 1.0} for x in (1, 2, "nan")]
    with refused(DataError, "records", "row 3", "'x'", "nan"):
        Experiment.from_records(rows, value="loss", goal="minimize")


def test_a_key_that_a_record_lacks_is_a_gap() -> None:
    rows: list[dict[str, object]] = [{"x": 1, "loss": 0.5}, {"loss": 0.25}, {"x": 2}]
    with refused(DataError, "records", "row 2", "'x'", "None"):
        Experiment.from_records(rows, value="loss", goal="minimize")
    failed = Experiment.from_records([rows[0], rows[2]], value="loss", goal="minimize")
    assert failed.trials[1].state is TrialState.FAILED


def test_a_text_that_never_changes_is_fixed_even_if_it_says_none() -> None:
    rows = [{"scheduler": "none", "x": x, "loss": 1.0} for x in (1, 2)]
    assert Experiment.from_records(rows, value="loss", goal="minimize").fixed == {
        "scheduler": "none"
    }


@pytest.mark.parametrize("record", ["lr", 3, ["lr", 1]])
def test_a_record_that_is_no_dict_is_refused(record: object) -> None:
    with refused(DataError, "records, row 2", repr(record), "not a dict"):
        Experiment.from_records([{"x": 1}, record], value="loss", goal="minimize")  # type: ignore[list-item]


def test_a_key_that_is_no_text_is_refused() -> None:
    keys: list[dict[object, int]] = [{3: 1, "loss": 2}]
    with refused(DataError, "records", "strings", "3"):
        Experiment.from_records(keys, value="loss", goal="minimize")  # type: ignore[arg-type]


def test_an_endless_number_gives_a_short_message() -> None:
    rows = [{"x": x, "loss": 1.0} for x in (1, 10**5000)]
    with refused(DataError, "records", "row 2", "'x'", "too long to show"):
        Experiment.from_records(rows, value="loss", goal="minimize")
