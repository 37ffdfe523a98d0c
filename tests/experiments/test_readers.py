"""What CSV files, DataFrames and lists of dicts have in common."""

import math
import warnings
from pathlib import Path
from typing import Literal

import pytest

from helpers import evaluated, refused
from hetbo import Categorical, DataError, DataWarning, Float, Goal, Int, Space, Trial, TrialState
from readers import Read

ROWS: list[dict[str, object]] = [
    {"lr": 0.1, "depth": 3, "booster": "tree", "loss": 0.5},
    {"lr": 0.2, "depth": 5, "booster": "dart", "loss": 0.25},
    {"lr": 0.4, "depth": 3, "booster": "tree", "loss": 1.0},
]
NOTHING_TUNED = "no column but that of the value takes more than one value"
SPACE = Space(lr=Float(0.1, 0.4), depth=Int(3, 5), booster=Categorical("tree", "dart"))


def changed(row: int, **cells: object) -> list[dict[str, object]]:
    """Return the rows with some cells of one row (counted from 1) exchanged."""
    return [{**r, **cells} if n == row else dict(r) for n, r in enumerate(ROWS, start=1)]


def test_rows_become_trials_in_their_order(read: Read) -> None:
    experiment = read(ROWS, goal="maximize")
    assert experiment.name == "runs"
    assert experiment.goal is Goal.MAXIMIZE
    assert experiment.space == SPACE
    assert experiment.trials == tuple(
        Trial({name: row[name] for name in SPACE}, row["loss"])  # type: ignore[misc, arg-type]
        for row in ROWS
    )


def test_the_inferred_space_can_be_printed_edited_and_passed_back(read: Read) -> None:
    rows = [{**row, "threads": 8} for row in ROWS]
    first = read(rows)
    printed = evaluated(repr(first.space))
    assert isinstance(printed, Space)
    assert read(rows, space=printed) == first
    edited = printed.replace(lr=Float(1e-3, 1, log=True), booster=Categorical("tree", "dart", "x"))
    assert read(rows, space=edited).space == edited


def test_a_column_that_never_changes_is_fixed(read: Read) -> None:
    rows = [{**row, "threads": 8, "gpu": False} for row in ROWS]
    for space in (None, SPACE):
        experiment = read(rows, space=space)
        assert experiment.space == SPACE
        assert repr(dict(experiment.fixed)) == "{'threads': 8, 'gpu': False}"


def test_fixed_values_can_be_added(read: Read) -> None:
    assert read(ROWS, fixed={"threads": 8}).fixed == {"threads": 8}
    with refused(DataError, "runs", "'depth'", "tuned"):
        read(ROWS, fixed={"depth": 8})


@pytest.mark.parametrize(
    "missing", [None, math.nan, math.inf, -math.inf, "", "NaN", "null", "NA", "n/a", "None", "inf"]
)
def test_a_row_without_a_value_is_a_failed_trial(read: Read, missing: object) -> None:
    experiment = read(changed(2, loss=missing))
    assert [trial.state for trial in experiment.trials] == [
        TrialState.COMPLETE,
        TrialState.FAILED,
        TrialState.COMPLETE,
    ]
    assert "3 trials (2 complete, 1 failed)" in repr(experiment)
    assert experiment.trials[1].params == {"lr": 0.2, "depth": 5, "booster": "dart"}


@pytest.mark.parametrize("value", ["good", "1_000", "٣", "0x10", "1,5", "=1+1"])
def test_a_value_that_is_no_number_is_refused(read: Read, value: str) -> None:
    with refused(DataError, "runs", "row 2", "'loss'", repr(value), "not a number"):
        read(changed(2, loss=value))


def test_a_value_may_be_written_in_any_usual_way(read: Read) -> None:
    for text, value in {"1e-3": 0.001, "+.5": 0.5, "5.": 5.0, "-2E2": -200.0}.items():
        assert read(changed(1, loss=text)).trials[0].value == value


def test_noise_is_read_where_it_is_there(read: Read) -> None:
    rows = [{**row, "sd": sd} for row, sd in zip(ROWS, [0.1, None, 0], strict=True)]
    experiment = read(rows, noise="sd")
    assert [trial.noise for trial in experiment.trials] == [0.1, None, 0.0]
    assert "sd" not in experiment.space


@pytest.mark.parametrize(("noise", "part"), [(-1, "noise=-1.0"), ("much", "'much'")])
def test_noise_that_is_none_is_refused(read: Read, noise: object, part: str) -> None:
    rows = [{**row, "sd": noise if row is ROWS[1] else 0.1} for row in ROWS]
    with refused(DataError, "runs", "row 2", "'sd'", part):
        read(rows, noise="sd")


def test_the_noise_of_a_failed_trial_does_not_matter(read: Read) -> None:
    rows = [{**row, "sd": 0.1} for row in changed(2, loss=None)]
    assert [trial.noise for trial in read(rows, noise="sd").trials] == [0.1, None, 0.1]


def test_columns_can_be_renamed_and_dropped(read: Read) -> None:
    experiment = read(ROWS, rename={"lr": "learning_rate"}, drop=["booster"])
    assert experiment.space == Space(learning_rate=Float(0.1, 0.4), depth=Int(3, 5))
    assert experiment.trials[1] == Trial({"learning_rate": 0.2, "depth": 5}, 0.25)


def test_columns_can_swap_names(read: Read) -> None:
    swapped = read(ROWS, rename={"lr": "depth", "depth": "lr"})
    assert swapped.trials[0].params == {"depth": 0.1, "lr": 3, "booster": "tree"}


def test_columns_cannot_share_a_name(read: Read) -> None:
    with refused(DataError, "runs", "two columns", "'depth'"):
        read(ROWS, rename={"lr": "depth"})
    assert "depth" in read(ROWS, rename={"lr": "depth"}, drop=["depth"]).space


@pytest.mark.parametrize("option", ["value", "noise", "rename", "drop"])
def test_a_column_that_is_not_there_is_named(
    read: Read, option: Literal["value", "noise", "rename", "drop"]
) -> None:
    with refused(DataError, "runs", "'nope'", f"{option}=", "'lr'", "'depth'", "'booster'"):
        match option:
            case "value":
                read(ROWS, value="nope")
            case "noise":
                read(ROWS, noise="nope")
            case "rename":
                read(ROWS, rename={"nope": "x"})
            case "drop":
                read(ROWS, drop=["nope"])


def test_a_given_space_must_match_the_columns(read: Read) -> None:
    with refused(DataError, "runs", "'depth'", "no column", "rename=", "fixed="):
        read(ROWS, space=SPACE, drop=["depth"])
    with refused(DataError, "runs", "'depth'", "no parameter", "drop="):
        read(ROWS, space=SPACE.drop("depth"))
    assert read(ROWS, space=SPACE.drop("depth"), drop=["depth"]).space == SPACE.drop("depth")


@pytest.mark.parametrize(
    ("column", "value", "parts"),
    [
        ("lr", 2.0, ["2.0", "above high=0.4"]),
        ("lr", "fast", ["'fast'", "not a number"]),
        ("depth", 3.5, ["3.5", "not a whole number"]),
        ("booster", "linear", ["'linear'", "'tree', 'dart'"]),
        ("lr", None, ["not a number"]),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    read: Read, column: str, value: object, parts: list[str]
) -> None:
    rows = changed(2, **{column: value})
    with refused(DataError, "runs", "row 2", repr(column), "on_invalid='skip'", *parts):
        read(rows, space=SPACE)


def test_a_gap_is_named_when_the_space_is_inferred(read: Read) -> None:
    for gap in (None, math.nan, math.inf):
        with refused(DataError, "runs", "row 2", "'lr'", "not a usable value"):
            read(changed(2, lr=gap))


@pytest.mark.parametrize("space", [None, SPACE])
def test_rows_that_do_not_fit_can_be_skipped_and_are_counted(
    read: Read, space: Space | None
) -> None:
    with pytest.warns(DataWarning) as caught:
        experiment = read(changed(2, lr=None), space=space, on_invalid="skip")
    assert [trial.value for trial in experiment.trials] == [0.5, 1.0]
    message = str(caught[0].message)
    for part in ("runs", "1 of 3 rows", "left out", "row 2", "'lr'"):
        assert part in message
    assert len(caught) == 1
    assert Path(caught[0].filename).name == "readers.py"


def test_values_that_are_no_numbers_can_be_skipped(read: Read) -> None:
    rows = [*changed(1, loss="oops")[:2], {**ROWS[2], "loss": "x"}, {**ROWS[2], "loss": 2}]
    with pytest.warns(DataWarning, match="2 of 4 rows"):
        experiment = read(rows, on_invalid="skip")
    assert [trial.value for trial in experiment.trials] == [0.25, 2.0]


def test_nothing_is_said_when_all_rows_fit(read: Read) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(ROWS, on_invalid="skip").trials) == 3


def test_other_ways_to_treat_invalid_rows_are_refused(read: Read) -> None:
    with refused(DataError, "on_invalid='ignore'", "'raise' or 'skip'"):
        read(ROWS, on_invalid="ignore")  # type: ignore[arg-type]


def test_an_empty_column_is_named(read: Read) -> None:
    with refused(DataError, "runs", "'note'", "no usable value", "drop="):
        read([{**row, "note": None} for row in ROWS])


def test_without_anything_tuned_no_space_is_inferred(read: Read) -> None:
    with refused(DataError, "runs", NOTHING_TUNED, "space="):
        read(ROWS[:1])
    with refused(DataError, "runs", NOTHING_TUNED, "space="):
        read([{"loss": 1.0}, {"loss": 2.0}])
    assert len(read(ROWS[:1], space=SPACE).trials) == 1


@pytest.mark.parametrize(
    "text", ["=HYPERLINK(1)", "<script>alert(1)</script>", "__import__('os')", "$(reboot)"]
)
def test_cells_are_never_more_than_texts(read: Read, text: str) -> None:
    experiment = read(changed(2, booster=text))
    assert experiment.space["booster"] == Categorical("tree", text)
    assert experiment.trials[1].params["booster"] == text


def test_a_huge_text_gives_a_short_message(read: Read) -> None:
    with refused(DataError, "runs", "row 2", "100002 characters"):
        read(changed(2, booster="x" * 100_000), space=SPACE)


@pytest.mark.parametrize("text", ["a\0b", "a\nb", "\x1b[2J"])
def test_control_characters_in_a_cell_are_a_row_that_does_not_fit(read: Read, text: str) -> None:
    for space in (None, SPACE):
        with refused(DataError, "runs", "row 2", "'booster'", repr(text)):
            read(changed(2, booster=text), space=space, goal="minimize")
        with pytest.warns(DataWarning, match="1 of 3 rows"):
            kept = read(changed(2, booster=text), goal="minimize", space=space, on_invalid="skip")
        assert [trial.value for trial in kept.trials] == [0.5, 1.0]


def test_control_characters_in_the_name_of_a_column_are_refused(read: Read) -> None:
    rows = [{**row, "two\nlines": number} for number, row in enumerate(ROWS)]
    with refused(DataError, "runs", r"'two\nlines'", "control character", "drop=", "rename="):
        read(rows, goal="minimize")
    assert read(rows, drop=["two\nlines"], goal="minimize").space == SPACE
    assert "two" in read(rows, rename={"two\nlines": "two"}, goal="minimize").space
