"""One column, several spellings of a choice."""

import pytest

from hetbo import Categorical, DataWarning, HetboWarning, Int, Space
from readers import Read


def column(*cells: object, **beside: object) -> list[dict[str, object]]:
    return [{"x": cell, "y": y % 3, "loss": 1.0, **beside} for y, cell in enumerate(cells)]


def test_the_most_frequent_spelling_stands_for_all(read: Read) -> None:
    rows = column("Balanced", "balanced", "none", "balanced", "BALANCED", "None", "a  b", "a b")
    with pytest.warns(HetboWarning) as caught:
        experiment = read(rows, goal="minimize")
    assert experiment.space["x"] == Categorical("balanced", "none", "a  b")
    assert [trial.params["x"] for trial in experiment.trials] == [
        *("balanced", "balanced", "none", "balanced", "balanced", "none", "a  b", "a  b")
    ]
    (message,) = [str(warning.message) for warning in caught]
    for part in ("runs", "'x'", "'Balanced', 'BALANCED' as 'balanced'", "'None' as 'none'"):
        assert part in message


def test_a_column_with_one_choice_in_two_spellings_is_fixed(read: Read) -> None:
    with pytest.warns(HetboWarning, match="'Tree' as 'tree'"):
        experiment = read(column("tree", "Tree"), goal="minimize")
    assert experiment.fixed == {"x": "tree"}


def test_only_rows_that_are_kept_have_a_say(read: Read) -> None:
    rows = [*column("a", "A", "b"), *({"x": "A", "y": 0, "loss": "oops"} for _ in range(3))]
    with pytest.warns(HetboWarning, match="'A' as 'a'"), pytest.warns(DataWarning, match="3 of 6"):
        experiment = read(rows, goal="minimize", on_invalid="skip")
    assert experiment.space["x"] == Categorical("a", "b")


def test_another_spelling_of_a_given_choice_is_that_choice(read: Read) -> None:
    space = Space(x=Categorical("gbtree", "dart"), y=Int(0, 9))
    with pytest.warns(HetboWarning) as caught:
        experiment = read(
            column("GBTREE", "dart", "GBTREE", "GBtree"), goal="minimize", space=space
        )
    assert [t.params["x"] for t in experiment.trials] == ["gbtree", "dart", "gbtree", "gbtree"]
    (message,) = [str(warning.message) for warning in caught]
    assert "'x'" in message
    assert "'GBTREE', 'GBtree' as 'gbtree'" in message


def test_spellings_that_were_given_apart_stay_apart(read: Read) -> None:
    space = Space(x=Categorical("a", "A", "b"), y=Int(0, 9))
    experiment = read(column("a", "A"), goal="minimize", space=space)
    assert [trial.params["x"] for trial in experiment.trials] == ["a", "A"]
    rows = [*column("a", "b"), *column("aA", " A", "a ")]
    with pytest.warns(DataWarning, match="[0-9] of 5") as caught:
        read(rows, goal="minimize", space=space, on_invalid="skip")
    assert "unknown choice 'aA'; expected one of" in str(caught[0].message)
