"""Texts that are numbers to a reader: read as numbers, or refused with the remedy."""

import warnings
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import refused
from hetbo import (
    Categorical,
    DataError,
    DataWarning,
    Experiment,
    Float,
    HetboWarning,
    Int,
    JointSpace,
    Space,
    SpaceError,
)
from hetbo.spaces._texts import looks_like_number, number
from readers import Read, WriteFile

ALMOST = (
    *("20,5", "-0,5", ",5", "1,5e-3", "1.234,56", "1,234.56", "1,234,567", "1.234.567"),
    *("10%", "10 %", "1_000", "1 000", "1\u00a0000", "1\u202f000", "1'000", "1\u2019000"),
    *("٣", "\uff13", "\u22125", "- 5", "$5", "5 €", "0x1F"),
    *("'20.5", "=20.5", "~10", "\u00b11", "<10", ">20", "\u2264 3", "1/2", "1x10^3", "1\u00b75"),
    *("2.5 \u00d7 10^-3", "1*10**3"),
)
TEXTS = (
    *("64x64", "7b", "1.2.3", "v2", "2024-01-01", "12:30", "10ms", "1,2,3,4", "e5", "-"),
    *("1-2", "3x3", "1/2/3", "1/a", "10 \u00b0C", "~", "<", "'", "x10^3", "a=1"),
)
UNITS = ("10 \u00b0C", "10ms", "20.5 EUR", "1k", "3 m/s", "1e-3 s", "0,5 kg")


def column(*cells: object, **beside: object) -> list[dict[str, object]]:
    return [{"x": cell, "y": y % 3, "loss": 1.0, **beside} for y, cell in enumerate(cells)]


@pytest.mark.parametrize("text", ALMOST)
def test_what_is_almost_a_number_is_recognised(text: str) -> None:
    assert looks_like_number(text)
    assert number(text) is None


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_with_digits_are_texts(text: str) -> None:
    assert not looks_like_number(text)


@pytest.mark.parametrize("text", UNITS)
def test_numbers_with_one_unit_are_no_choices_in_silence(read: Read, text: str) -> None:
    rows = column(text, f"1{text}", "none")
    with refused(DataError, "column 'x'", "row 1", "unit", "numbers alone", "categorical=['x']"):
        read(rows, goal="minimize")
    chosen = read(rows[:2], goal="minimize", categorical=["x"])
    assert chosen.space["x"] == Categorical(text, f"1{text}")
    assert read(column(text, text), goal="minimize").fixed == {"x": text}
    assert isinstance(read(column(text, "1 other"), goal="minimize").space["x"], Categorical)


@given(
    st.lists(st.integers(1, 99), min_size=3, max_size=3, unique=True),  # 0x1 is hexadecimal
    st.sampled_from(["{}.{}.{}", "{}-{}", "{}x{}", "v{}", "{}x{}x{}", "{}/{}/{}"]),
)
def test_versions_ranges_and_sizes_are_choices(numbers: list[int], form: str) -> None:
    texts = [form.format(*numbers), form.format(*reversed(numbers))]
    assert not any(map(looks_like_number, texts))
    rows = [{"x": text, "loss": 1.0} for text in texts]
    read = Experiment.from_records(rows, value="loss", goal="minimize")
    assert read.space["x"] == Categorical(*texts)


@given(st.floats(allow_nan=False) | st.integers())
def test_numbers_are_read_exactly_with_either_decimal(value: float) -> None:
    assert number(repr(value)) == value
    assert number(repr(value).replace(".", ","), ",") == value


@pytest.mark.parametrize("almost", ALMOST)
@pytest.mark.parametrize("cells", [("{}", "{}1"), ("{}", "{}"), ("2", "{}"), ("2", "{}", "sqrt")])
def test_it_is_never_a_category_in_silence(read: Read, almost: str, cells: tuple[str, ...]) -> None:
    rows = column(*(cell.format(almost) for cell in cells))
    with refused(DataError, "runs", "column 'x'", "row ", "number", "categorical=['x']"):
        read(rows, goal="minimize")


def test_a_category_of_such_texts_is_made_on_demand(read: Read) -> None:
    rows = column("20,5", "1_000", "sqrt", "0.5", "true")
    experiment = read(rows, goal="minimize", categorical=["x"])
    assert experiment.space["x"] == Categorical("20,5", "1_000", "sqrt", 0.5, *(True,))
    assert [trial.params["x"] for trial in experiment.trials][3:] == [0.5, True]


def test_numbers_can_be_choices(read: Read) -> None:
    experiment = read(column(64, 128, 64), goal="minimize", categorical=["x"])
    assert experiment.space["x"] == Categorical(64, 128)
    many = read(column(*map(str, range(30))), goal="minimize", categorical=["x"])
    assert many.space["x"] == Categorical(*range(30))


def test_decimal_commas_are_read_everywhere_in_a_file(write: WriteFile) -> None:
    path = write("x;n;kind;loss;sd\n20,5;1;0,5;1,5;0,1\n30,5;2;sqrt;2;0,2\n")
    read = Experiment.from_csv(
        path, value="loss", noise="sd", decimal=",", categorical=["kind"], goal="minimize"
    )
    assert read.space == Space(x=Float(20.5, 30.5), n=Int(1, 2), kind=Categorical(0.5, "sqrt"))
    assert [(t.value, t.noise) for t in read.trials] == [(1.5, 0.1), (2.0, 0.2)]
    again = Experiment.from_csv(
        path, value="loss", noise="sd", decimal=",", space=read.space, goal="minimize"
    )
    assert again == read


@pytest.mark.parametrize("on_invalid", ["raise", "skip"])
@pytest.mark.parametrize("space", [None, Space(x=Float(0, 50))])
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("x;loss;sd\n20,5;1;1\n30;2;1\n", "x"),
        ("x;loss;sd\n20;1,5;1\n30;2;1\n", "loss"),
        ("x;loss;sd\n20;1;1,5\n30;2;1\n", "sd"),
    ],
)
def test_decimal_commas_have_a_remedy(
    write: WriteFile, text: str, column: str, space: Space | None, on_invalid: str
) -> None:
    with refused(DataError, "runs.csv", f"column '{column}'", ",5'", "decimal=','"):
        Experiment.from_csv(
            write(text),
            value="loss",
            noise="sd",
            space=space,
            on_invalid=on_invalid,  # type: ignore[arg-type]
            goal="minimize",
        )


def test_decimal_points_in_a_file_of_commas_are_refused(write: WriteFile) -> None:
    with refused(DataError, "'x'", "'0.5'", "leave out decimal=','"):
        Experiment.from_csv(
            write("x;loss\n0.5;1\n1.5;2\n"), value="loss", decimal=",", goal="minimize"
        )


def test_a_single_slip_among_plain_numbers_is_a_row_that_does_not_fit(write: WriteFile) -> None:
    path = write("x;loss\n0.5;1\n0.7;2\n0,9;3\n")
    with pytest.warns(DataWarning, match="1 of 3 rows"):
        read = Experiment.from_csv(path, value="loss", on_invalid="skip", goal="minimize")
    assert read.space == Space(x=Float(0.5, 0.7))


@pytest.mark.parametrize("decimal", ["", ";", ".,", "point"])
def test_other_decimals_are_refused(write: WriteFile, decimal: str) -> None:
    with refused(DataError, f"decimal={decimal!r}", "'.' or ','"):
        Experiment.from_csv(write("x;loss\n1;1\n"), value="loss", decimal=decimal, goal="minimize")


@pytest.mark.parametrize("odd", ["sqrt", True])
def test_numbers_beside_other_things_are_refused(read: Read, odd: object) -> None:
    with refused(DataError, "'x'", "row 3", "categorical=['x']", "on_invalid='skip'"):
        read(column(1, 2, odd), goal="minimize")
    with pytest.warns(DataWarning, match="1 of 3 rows"):
        skipped = read(column(1, 2, odd), goal="minimize", on_invalid="skip")
    assert skipped.space == Space(x=Int(1, 2), y=Int(0, 1))
    for on_invalid in ("raise", "skip"):
        with refused(DataError, "'x'", "categorical=['x']"):
            read(column(1, "a", odd), goal="minimize", on_invalid=on_invalid)


def test_a_space_is_inferred_from_the_rows_that_are_kept(read: Read) -> None:
    rows: list[dict[str, object]] = [
        *column(1, 2, 3, kind="a"),
        {"x": "deep", "y": 99, "kind": "b", "loss": 1.0},
        {"x": 50, "y": "far", "kind": "b", "loss": 1.0},
        {"x": 60, "y": 70, "kind": "c", "loss": "oops"},
    ]
    with pytest.warns(DataWarning, match="3 of 6 rows"):
        experiment = read(rows, goal="minimize", on_invalid="skip")
    assert experiment.space == Space(x=Int(1, 3), y=Int(0, 2))
    assert experiment.fixed == {"kind": "a"}


def test_what_never_changes_is_seen_in_the_rows_that_are_kept(read: Read) -> None:
    rows: list[dict[str, object]] = [
        *column(1, 2, threads=8),
        {"x": 99, "y": 0, "threads": 16, "loss": 1.0},
    ]
    space = Space(x=Int(0, 9), y=Int(0, 9))
    with pytest.warns(DataWarning, match="1 of 3 rows"):
        experiment = read(rows, goal="minimize", space=space, on_invalid="skip")
    assert experiment.fixed == {"threads": 8}


def test_texts_fit_a_given_space_as_numbers_and_booleans(read: Read) -> None:
    rows = column("20.5", "30", flag="True")
    space = Space(x=Float(0, 99), y=Int(0, 9), flag=Categorical(*(False, True)))
    experiment = read(rows, goal="minimize", space=space)
    assert [t.params["x"] for t in experiment.trials] == [20.5, 30.0]
    assert experiment.trials[0].params["flag"] is True


def test_a_text_that_a_number_is_wanted_for_has_a_remedy(read: Read) -> None:
    rows = column("0.5", "0,7", "1.5")
    with refused(DataError, "row 2", "'0,7' is not a number", "20.5"):
        read(rows, goal="minimize", space=Space(x=Float(0, 1), y=Int(0, 9)))


def test_a_constant_that_is_almost_a_number_is_refused_beside_a_space(read: Read) -> None:
    with refused(DataError, "'z'", "'0,5'", "categorical=['z']"):
        read(column(1, 2, z="0,5"), goal="minimize", space=Space(x=Int(0, 9), y=Int(0, 9)))
    kept = read(
        column(1, 2, z="0,5"),
        goal="minimize",
        space=Space(x=Int(0, 9), y=Int(0, 9)),
        categorical=["z"],
    )
    assert kept.fixed == {"z": "0,5"}


@pytest.mark.parametrize(
    ("categorical", "parts"),
    [
        (["nope"], ["'nope'", "(categorical=)"]),
        (["loss"], ["'loss'", "column of the value"]),
        (["x"], ["'x'", "number in the space", "Int(0, 9)"]),
    ],
)
def test_columns_that_cannot_be_choices_are_refused(
    read: Read, categorical: list[str], parts: list[str]
) -> None:
    with refused(DataError, "runs", "categorical=", *parts):
        read(
            column(1, 2),
            goal="minimize",
            space=Space(x=Int(0, 9), y=Int(0, 9)),
            categorical=categorical,
        )


def test_one_categorical_column_may_be_named_alone(read: Read) -> None:
    experiment = read(column(1, 2), goal="minimize", categorical="x")
    assert experiment.space["x"] == Categorical(1, 2)


@pytest.mark.parametrize("word", ["NA", "nan", "inf", "-Infinity", "None"])
def test_a_missing_word_among_numbers_is_a_gap_everywhere(read: Read, word: str) -> None:
    with refused(DataError, "row 3", "'x'", "not a usable value"):
        read(column("1", "2", word), goal="minimize")


def test_typed_texts_of_a_dataframe_are_numbers() -> None:
    frame = pd.DataFrame({"x": pd.array(["1", "2.5"], dtype="string"), "loss": ["1", "2"]})
    read = Experiment.from_dataframe(frame, value="loss", goal="minimize")
    assert read.space == Space(x=Float(1, 2.5))
    assert [trial.value for trial in read.trials] == [1.0, 2.0]


@given(st.lists(st.text(max_size=6), min_size=2, max_size=6))
def test_whatever_the_texts_are_none_is_lost_or_turned_in_silence(texts: list[str]) -> None:
    rows = [{"x": text, "y": y, "loss": 1.0} for y, text in enumerate(texts)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # texts that differ in case are joined, which is said
        try:
            read = Experiment.from_records(rows, value="loss", goal="minimize")
        except DataError:
            return
    kind = read.space.get("x")
    if isinstance(kind, Categorical) and set(kind.choices) != {False, True}:
        assert not any(looks_like_number(str(choice)) for choice in kind.choices)


def test_commas_that_group_thousands_are_not_taken_for_decimals(write: WriteFile) -> None:
    path = write("x;loss\n1,000;1\n12,500;2\n")
    with refused(DataError, "'1,000'", "decimal=','", "group thousands have to go: 1000"):
        Experiment.from_csv(path, value="loss", goal="minimize")
    path = write("x;loss\n1;1,000\n2;2,500\n")
    with refused(DataError, "'loss'", "'1,000'", "group thousands have to go: 1000"):
        Experiment.from_csv(path, value="loss", goal="minimize")
    path = write("x;loss\n1,5;1\n2,125;2\n")
    with pytest.raises(DataError, match=r"reads decimal commas, or"):
        Experiment.from_csv(path, value="loss", goal="minimize")
    path = write("x;loss\n1.000;1\n2,5;2\n1.500;2\n")
    with refused(DataError, "'1.000'", "write numbers plainly, such as 1000 or 20,5"):
        Experiment.from_csv(path, value="loss", goal="minimize", decimal=",")


def test_decimals_of_databases_are_numbers() -> None:
    rows = [
        {"x": Decimal("1.5"), "loss": Decimal(3)},
        {"x": Decimal("2.5"), "loss": Decimal("NaN")},
    ]
    read = Experiment.from_records(rows, value="loss", goal="minimize")
    assert read.space == Space(x=Float(1.5, 2.5))
    assert [trial.value for trial in read.trials] == [3.0, None]


@pytest.mark.parametrize("number", ["1.8e308", "-1e999", "9" * 400, 10**400])
def test_a_parameter_too_large_for_a_float_is_never_a_choice(number: object) -> None:
    rows = [{"x": number, "loss": 1.0}, {"x": "1e400", "loss": 2.0}]
    with refused(DataError, "'x'", "row 1", "too large for a float"):
        Experiment.from_records(rows, value="loss", goal="minimize")
    with refused(DataError, "'x'", "row 1", "not a number", "too large for a float"):
        space = Space(x=Float(0, 1))
        rows = [{"x": str(number), "loss": 1.0}]
        Experiment.from_records(rows, value="loss", goal="minimize", space=space)


def test_many_choices_in_another_spelling_are_read_quickly_and_summed_up() -> None:
    count = 20_000
    choices = Categorical(*[*(f"c{n}" for n in range(count)), None, True, 7])
    rows = [{"k": f"C{n}", "loss": n} for n in range(count)]
    rows += [{"k": cell, "loss": 1} for cell in ("none", "TRUE", "7.0")]
    with pytest.warns(HetboWarning, match="and so on, 20,000 choices in all") as caught:
        read = Experiment.from_records(rows, value="loss", goal="minimize", space=Space(k=choices))
    assert len(str(caught[0].message)) < 500
    assert [trial.params["k"] for trial in read.trials[-3:]] == [None, True, 7]
    assert read.trials[5].params["k"] == "c5"
    upper = Space(k=Categorical(*(f"C{n}" for n in range(count))))
    with pytest.warns(HetboWarning) as caught:
        joint = JointSpace.merge(upper, [read])
    assert len(caught) == 3
    assert "so do 19,997 more choices" in str(caught[2].message)
    assert len(joint.describe()) < 1000
    with refused(SpaceError, "'nope'", "'c19'", "and 19983 more"):
        choices.check("nope")
