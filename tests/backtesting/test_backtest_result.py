import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from helpers import refused
from hetbo import Backtest, DataError
from hetbo.backtesting import Case

SLOW = tuple(range(1, 21)) * 2
"""Runs without sources: from 1 to 20 trials, 10.5 on average."""


def case(
    name: str,
    transfer: tuple[int, ...],
    alone: Mapping[str, tuple[int, ...]] | None = None,
    *,
    vanilla: tuple[int, ...] = SLOW,
) -> Case:
    return Case(name, 30, 2, 0.5, 30, vanilla, transfer, alone or {})


def found(*cases: Case, top: float = 0.05) -> Backtest:
    return Backtest("auto", top, cases, {}, {}, ())


def with_vanilla(needed: object) -> dict[str, object]:
    """Return a backtest's JSON with something else for the runs without sources."""
    data = found(case("a", (1,))).to_json()
    data["cases"][0]["vanilla"] = needed
    return data


def test_many_names_are_counted() -> None:
    slow = {f"slow-{number}": (30,) for number in range(7)}
    result = found(*(case(name, (5,), slow, vanilla=(1, 2) * 20) for name in "abc"))
    assert str(result).endswith("7 of 7 sources mislead.")


def test_what_was_saved_is_counted_by_hand() -> None:
    one = case("a", (3, 5), vanilla=(10, 12, 14))
    assert one.needed_without == 12
    assert one.needed == 4
    assert one.saved == 8
    # The pairs: 7, 5, 9, 7, 11, 9; of these, 5 % and 95 % by linear interpolation.
    assert one.saved_in_most_runs == pytest.approx((5.5, 10.5))


def test_what_one_source_saved_is_counted_by_hand() -> None:
    one = case("a", (1,), {"b": (4, 6), "c": (13, 13)}, vanilla=(10, 12))
    assert (one.saved_by("b"), one.saved_by("c")) == (6, -2)


def test_the_headline_counts_cases_that_saved_and_cases_that_cost() -> None:
    result = found(
        case("a", (1,), vanilla=(25,)),
        case("b", (14,), vanilla=(25,)),
        case("c", (12,), vanilla=(10,)),
        case("d", (5,), vanilla=(5,)),
    )
    # 24 and 11 of 25 and 25; 2 more in one; 0 in the last: 33 over four.
    text = str(result)
    assert text.startswith("Old runs would have saved 18 of 25 trials in 2 of 4 cases")
    assert "and cost 2 in 1 of 4," in text
    assert result.saved == 33 / 4
    assert "Over all cases 8 on average (95 % interval -11 to 27, so this may be luck)." in text


def test_the_headline_of_the_issue() -> None:
    names = ["churn-v1", "churn-v2", "credit-v1", "credit-v2"]
    others = [case(name, (14,), {"fraud-v1": (30,)}, vanilla=(25,) * 40) for name in names]
    result = found(*others, case("fraud-v1", (25,), vanilla=(25,) * 40))
    assert str(result) == (
        "Old runs would have saved 11 of 25 trials in 4 of 5 cases, on the way to the best 5 % of "
        "a case's settings. Over all cases 9 on average (95 % interval 3 to 15). "
        "'fraud-v1' misleads."
    )


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (found(case("a", (5,), vanilla=(5,)), case("b", (5,), vanilla=(5,))), "saved nothing, on"),
        (found(case("a", (1,), vanilla=(5,))), "saved 4 of 5 trials in the only case, on"),
        (found(case("a", (9,), vanilla=(5,))), "saved nothing and cost 4 in the only case, on"),
        (found(case("a", (1,), vanilla=(5,)), top=0.0), "the best setting of a case."),
        (found(case("a", (1, 3), vanilla=(5,))), "In nine of ten runs it would have been from 2"),
    ],
)
def test_the_sentence_is_right_in_odd_cases(result: Backtest, text: str) -> None:
    assert text in str(result)


def test_no_name_breaks_the_sentence() -> None:
    slow = (30,)
    result = found(*(case(name, (1,), {"a\u202eb": slow}) for name in "xyz"))
    assert re.search(r"'a\\+u202eb' misleads", str(result))


def test_a_source_misleads_or_helps_only_beyond_luck() -> None:
    names = ("a", "b", "c")
    alone = {"slow": (30, 30), "quick": (1, 1), "even": (9, 12), "rather slow": (15, 15)}
    result = found(*(case(name, (5,), alone) for name in names))
    assert {one.name: one.verdict for one in result.sources} == {
        "slow": "misleads",
        "quick": "helps",
        "even": "not clear",
        "rather slow": "not clear",
    }
    assert str(result).endswith("'slow' misleads. 'quick' helps.")


def test_one_case_is_too_little_to_judge_a_source_by() -> None:
    result = found(case("a", (5,), {"b": (30, 30)}))
    assert [one.verdict for one in result.sources] == ["not clear"]


def test_the_more_sources_the_more_it_takes() -> None:
    alone = {"slow": (18,)}
    others = {f"even {number}": (10,) for number in range(9)}
    cases = [case(name, (5,), alone) for name in "abc"]
    verdicts = [one.verdict for one in found(*cases).sources]
    assert verdicts == ["misleads"]
    many = [replace(one, alone=alone | others) for one in cases]
    assert {one.name: one.verdict for one in found(*many).sources}["slow"] == "not clear"


def test_a_source_that_was_not_used_says_why() -> None:
    result = replace(found(case("a", (5,), {"b": (30,)})), dropped={"b": "It is noise."})
    (one,) = result.sources
    assert (one.verdict, one.reason) == ("not used", "It is noise.")


def test_json_gives_the_same_back() -> None:
    result = Backtest(
        "auto",
        0.05,
        (case("a", (1, 2), {"b": (4,)}), case("b", (3,), {"a": (5,)})),
        {"c": "All values of 'c' are equal."},
        {"b": "It is noise."},
        ("A note.",),
    )
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert Backtest.from_json(data) == result
    assert data["sentence"] == str(result)
    assert data["cases"][0]["saved"] == result.cases[0].saved


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({}, "not a hetbo backtest"),
        ([], "not a hetbo backtest"),
        ({"format": "hetbo-backtest", "version": 2}, "reads version 1"),
        ({"format": "hetbo-backtest", "version": 1}, "damaged"),
        ({**found(case("a", (1,))).to_json(), "cases": [1]}, "damaged"),
        (with_vanilla([]), "damaged"),
        (with_vanilla("many"), "damaged"),
        (with_vanilla([3, -1]), "damaged"),
    ],
)
def test_json_that_is_no_backtest_is_refused(data: object, part: str) -> None:
    with refused(DataError, part):
        Backtest.from_json(data)
