import csv
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import refused
from hetbo import Categorical, DataError, DataWarning, Experiment, Float, Int, Space
from readers import WriteFile

TABLE = "lr,depth,loss\n0.1,3,0.5\n0.2,5,0.25\n"
SPACE = Space(lr=Float(0.1, 0.2), depth=Int(3, 5))


def test_the_experiment_is_called_like_the_file(write: WriteFile) -> None:
    assert Experiment.from_csv(write(TABLE), value="loss", goal="minimize").name == "runs"
    assert (
        Experiment.from_csv(str(write(TABLE)), value="loss", name="mine", goal="minimize").name
        == "mine"
    )
    with refused(DataError, "name", "''"):
        Experiment.from_csv(write(TABLE), value="loss", name="", goal="minimize")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write: WriteFile, delimiter: str) -> None:
    path = write(TABLE.replace(",", delimiter))
    assert Experiment.from_csv(path, value="loss", goal="minimize").space == SPACE
    assert (
        Experiment.from_csv(path, value="loss", delimiter=delimiter, goal="minimize").space == SPACE
    )


def test_the_delimiter_is_not_looked_for_inside_quotes(write: WriteFile) -> None:
    path = write('"lr, in 1, 2, 3";loss\n0.1;0.5\n0.2;0.25\n')
    assert Experiment.from_csv(path, value="loss", goal="minimize").space.names == (
        "lr, in 1, 2, 3",
    )


def test_another_delimiter_can_be_named(write: WriteFile) -> None:
    path = write(TABLE.replace(",", ":"))
    assert Experiment.from_csv(path, value="loss", delimiter=":", goal="minimize").space == SPACE


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xef\xbb\xbf" + TABLE.encode(), id="byte order mark"),
        pytest.param(TABLE.replace("\n", "\r\n").encode(), id="Windows line ends"),
        pytest.param(TABLE.replace("\n", "\r").encode(), id="old Mac line ends"),
        pytest.param(TABLE.replace("\n", "\n\n").encode(), id="empty lines"),
        pytest.param(TABLE.rstrip("\n").encode(), id="no last line end"),
        pytest.param(TABLE.replace(",", " , ").encode(), id="blanks around cells"),
        pytest.param(b'"lr","depth","loss"\n"0.1","3","0.5"\n"0.2","5","0.25"\n', id="quotes"),
    ],
)
def test_files_of_any_origin_are_read(write: WriteFile, content: bytes) -> None:
    experiment = Experiment.from_csv(write(content), value="loss", goal="minimize")
    assert experiment.space == SPACE
    assert [trial.value for trial in experiment.trials] == [0.5, 0.25]


def test_cells_may_hold_delimiters_and_quotes(write: WriteFile) -> None:
    experiment = Experiment.from_csv(
        write('kind,loss\n"a,b",1\n"say ""hi""",2\n'), value="loss", goal="minimize"
    )
    assert experiment.space["kind"] == Categorical("a,b", 'say "hi"')


def test_other_encodings_can_be_named(write: WriteFile) -> None:
    content = "größe,loss\n1,1\n2,2\n".encode("latin-1")
    with refused(DataError, "runs.csv", "not UTF-8", "encoding="):
        Experiment.from_csv(write(content), value="loss", goal="minimize")
    read = Experiment.from_csv(write(content), value="loss", encoding="latin-1", goal="minimize")
    assert read.space.names == ("größe",)


@pytest.mark.parametrize(
    ("row", "cells"), [("0.3,4", 2), ("0.3,4,1,", 4), ("0,3;4;1", 2), ("0.3", 1)]
)
def test_a_ragged_row_is_named(write: WriteFile, row: str, cells: int) -> None:
    path = write(f"{TABLE}{row}\n")
    for space in (None, SPACE):
        with refused(DataError, "runs.csv, row 3 (line 4)", f"{cells} cells", "3 columns"):
            Experiment.from_csv(path, value="loss", space=space, goal="minimize")
        with pytest.warns(DataWarning, match="1 of 3 rows"):
            read = Experiment.from_csv(
                path, value="loss", space=space, on_invalid="skip", goal="minimize"
            )
        assert len(read.trials) == 2


def test_the_line_of_a_row_counts_lines_not_rows(write: WriteFile) -> None:
    path = write('kind,loss,note\na,1,"a\nb"\n\nc,bad,\n')
    with refused(DataError, "runs.csv, row 2 (line 5)", "'loss'", "'bad'"):
        Experiment.from_csv(path, value="loss", drop=["note"], goal="minimize")


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("lr,lr,loss", ["'lr' (number 1)", "duplicate column"]),
        ("lr,loss,loss", ["'loss'", "duplicate column"]),
        (",,loss", ["''", "duplicate column"]),
        (",depth,loss", ["column 1 has no name", "drop=['']", "rename="]),
        ("lr, ,loss", ["column 2 has no name", "drop=['']"]),
    ],
)
def test_a_header_that_does_not_name_columns_is_refused(
    write: WriteFile, header: str, parts: list[str]
) -> None:
    with refused(DataError, "runs.csv", *parts):
        Experiment.from_csv(
            write(f"{header}\n0.1,3,0.5\n0.2,5,0.25\n"), value="loss", goal="minimize"
        )


def test_an_unnamed_column_can_be_dropped_or_named(write: WriteFile) -> None:
    path = write(",lr,loss\n0,0.1,0.5\n1,0.2,0.25\n")
    assert Experiment.from_csv(path, value="loss", drop=[""], goal="minimize").space.names == (
        "lr",
    )
    renamed = Experiment.from_csv(path, value="loss", rename={"": "run"}, goal="minimize")
    assert renamed.space.names == ("run", "lr")


@pytest.mark.parametrize("content", ["", "\n", "\n\n"])
def test_an_empty_file_is_refused(write: WriteFile, content: str) -> None:
    with refused(DataError, "runs.csv", "empty"):
        Experiment.from_csv(write(content), value="loss", goal="minimize")


def test_a_file_without_rows_needs_a_space(write: WriteFile) -> None:
    path = write("lr,depth,loss\n")
    with refused(DataError, "runs.csv", "no row", "space="):
        Experiment.from_csv(path, value="loss", goal="minimize")
    assert Experiment.from_csv(path, value="loss", space=SPACE, goal="minimize").trials == ()


def test_a_file_of_which_no_row_can_be_used_needs_a_space(write: WriteFile) -> None:
    path = write("lr,depth,loss\n0.1,,0.5\n,3,0.5\n")
    with refused(DataError, "runs.csv", "no row", "space="):
        Experiment.from_csv(path, value="loss", on_invalid="skip", goal="minimize")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused(DataError, "missing.csv", "No such file"):
        Experiment.from_csv(tmp_path / "missing.csv", value="loss", goal="minimize")
    with refused(DataError, str(tmp_path), "Is a directory"):
        Experiment.from_csv(tmp_path, value="loss", goal="minimize")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (TABLE + "x" * 10**6 + ",3,1\n", ["line 4", "field larger than field limit"]),
        (TABLE + '0.1,"3"3,1\n', ["line 4", "expected after"]),
        (TABLE + '0.1,"3,1\n', ["line 4", "unexpected end of data"]),
        ("x" * 10**6 + ",loss\n", ["line 1", "field larger than field limit"]),
    ],
    ids=["huge cell", "text after a quote", "quote without end", "huge name"],
)
def test_what_cannot_be_split_into_cells_is_refused(
    write: WriteFile, content: str, parts: list[str]
) -> None:
    with refused(DataError, "runs.csv", *parts):
        Experiment.from_csv(write(content), value="loss", goal="minimize")


def test_the_limit_of_the_csv_module_is_left_alone(write: WriteFile) -> None:
    before = csv.field_size_limit()
    Experiment.from_csv(write(TABLE), value="loss", goal="minimize")
    assert csv.field_size_limit() == before


class Bomb:
    """Unpickling this raises an error of its own."""

    def __reduce__(self) -> tuple[type[ZeroDivisionError], tuple[str]]:
        return ZeroDivisionError, ("unpickled",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_not_opened(write: WriteFile, protocol: int) -> None:
    with refused(DataError, "runs.csv"):
        Experiment.from_csv(
            write(pickle.dumps([Bomb()], protocol=protocol)), value="loss", goal="minimize"
        )


@pytest.mark.parametrize("word", ["", "NA", "nan", "NULL", "n/a", "none"])
def test_a_missing_number_is_a_gap(write: WriteFile, word: str) -> None:
    path = write(f"{TABLE}{word},4,1\n")
    with refused(DataError, "runs.csv, row 3 (line 4)", "'lr'", repr(word)):
        Experiment.from_csv(path, value="loss", goal="minimize")


def test_a_missing_word_among_texts_is_a_text(write: WriteFile) -> None:
    read = Experiment.from_csv(
        write("scheduler,loss\nnone,1\ncosine,2\n"), value="loss", goal="minimize"
    )
    assert read.space["scheduler"] == Categorical("none", "cosine")


def test_a_column_of_missing_words_is_empty(write: WriteFile) -> None:
    with refused(DataError, "runs.csv", "'x'", "no usable value", "drop="):
        Experiment.from_csv(
            write("x,lr,loss\nNA,1,1\n,2,2\nnan,3,3\n"), value="loss", goal="minimize"
        )


def test_a_missing_word_can_be_the_choice_none(write: WriteFile) -> None:
    read = Experiment.from_csv(
        write("scheduler,loss\nNone,1\n,2\ncosine,3\n"),
        value="loss",
        space=Space(scheduler=Categorical(None, "cosine")),
        goal="minimize",
    )
    assert [trial.params["scheduler"] for trial in read.trials] == [None, None, "cosine"]


@pytest.mark.parametrize(
    ("cells", "parameter"),
    [
        (["1", "2"], Int(1, 2)),
        (["-1", "+2"], Int(-1, 2)),
        (["1", "2.0"], Float(1, 2)),
        (["1e-1", ".5"], Float(0.1, 0.5)),
        (["TRUE", "false"], Categorical(*(False, True))),
        (["true", "yes"], Categorical("true", "yes")),
        (["l1", "inf", "NA"], Categorical("l1", "inf", "NA")),
        (
            ["64x64", "7b", "1-2", "v1.2.3", "1.2.3"],
            Categorical("64x64", "7b", "1-2", "v1.2.3", "1.2.3"),
        ),
    ],
)
def test_a_column_is_what_all_of_its_cells_are(
    write: WriteFile, cells: list[str], parameter: Int | Float | Categorical
) -> None:
    rows = "".join(f"{cell};1\n" for cell in cells)
    assert (
        Experiment.from_csv(write(f"x;loss\n{rows}"), value="loss", goal="minimize").space["x"]
        == parameter
    )


@pytest.mark.parametrize(
    ("parameter", "cell", "value"),
    [
        (Int(1, 9), "3.0", 3),
        (Int(1, 9999), "1e3", 1000),
        (Float(0, 9), "3", 3.0),
        (Categorical(1, 2), "1.0", 1),
        (Categorical("1", 1), "1", "1"),
        (Categorical("1.0", 1), "1", 1),
        (Categorical(*(False, True)), "TRUE", True),
        (Categorical("True", *(False, True)), "True", "True"),
        (Categorical("NA", "b"), "NA", "NA"),
    ],
)
def test_a_cell_is_read_as_its_parameter_needs_it(
    write: WriteFile, parameter: Int | Float | Categorical, cell: str, value: object
) -> None:
    read = Experiment.from_csv(
        write(f"x,loss\n{cell},1\n"), value="loss", space=Space(x=parameter), goal="minimize"
    )
    found = read.trials[0].params["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("cell", ["1", "yes", ""])
def test_a_cell_that_is_no_boolean_is_refused(write: WriteFile, cell: str) -> None:
    with refused(DataError, "runs.csv, row 1 (line 2)", "'x'", repr(cell), "False, True"):
        Experiment.from_csv(
            write(f"x,loss\n{cell},1\n"),
            value="loss",
            space=Space(x=Categorical(*(False, True))),
            goal="minimize",
        )


def test_a_number_too_large_for_a_float_is_no_value(write: WriteFile) -> None:
    for digits in (350, 5000):
        read = Experiment.from_csv(
            write(f"{TABLE}0.3,4,{'9' * digits}\n"), value="loss", goal="minimize"
        )
        assert read.trials[2].value is None


@given(numbers=st.lists(st.floats(-8e307, 8e307), min_size=1, max_size=5))
def test_floats_are_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    path = tmp_path_factory.getbasetemp() / "floats.csv"
    path.write_text("x,loss\n" + "".join(f"{n!r},{n!r}\n" for n in numbers), encoding="utf-8")
    read = Experiment.from_csv(
        path, value="loss", space=Space(x=Float(-8e307, 8e307)), goal="minimize"
    )
    assert [trial.value for trial in read.trials] == numbers
    assert [trial.params["x"] for trial in read.trials] == numbers


def test_a_parameter_may_not_take_the_values_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("lr,depth,loss\n0.1,2,1\n0.2,3,2\n", encoding="utf-8")
    with refused(DataError, "runs.csv", "'lr'", "'loss'", "the column of the value"):
        Experiment.from_csv(path, value="loss", rename={"lr": "loss"}, goal="minimize")
