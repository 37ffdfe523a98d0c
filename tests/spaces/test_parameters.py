import copy
import json
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import evaluated, pickled, refused
from hetbo import Categorical, Float, Int, SpaceError
from hetbo.spaces import Parameter, Value
from hetbo.spaces._parameter import parameter_from_json, parameter_to_json
from strategies import categoricals, choices, parameters, values

FLAGS = (False, True)
EXAMPLES = [Float(0.1, 2.5), Float(1e-5, 1e-1, log=True), Int(2, 12), Categorical("a", 1, None)]


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: Float(math.nan, 1), ["Float", "low=nan", "finite"]),
        (lambda: Float(0, math.inf), ["Float", "high=inf", "finite"]),
        (lambda: Float(-math.inf, 0), ["Float", "low=-inf", "finite"]),
        (lambda: Float(0, 10**400), ["Float", "high=1000", "finite"]),
        (lambda: Float(1, 1), ["Float", "low=1.0", "below high=1.0"]),
        (lambda: Float(2, 1), ["Float", "low=2.0", "below high=1.0"]),
        (lambda: Float(0, 1, log=True), ["Float", "low=0.0", "above 0", "log"]),
        (lambda: Float(-1, 1, log=True), ["Float", "low=-1.0", "above 0", "log"]),
        (lambda: Float(-1.7e308, 1.7e308), ["Float", "-1.7e+308", "too wide"]),
        (lambda: Float(1e-300, 1e300, log=True), ["Float", "1e-300", "1e+300", "too wide"]),
        (lambda: Float(FLAGS[0], 1), ["Float", "low=False", "number"]),
        (lambda: Float("0", 1), ["Float", "low='0'", "number"]),  # type: ignore[arg-type]
        (lambda: Float(None, 1), ["Float", "low=None", "number"]),  # type: ignore[arg-type]
        (lambda: Float(0, 1, log=1), ["Float", "log=1", "True or False"]),  # type: ignore[arg-type]
        (lambda: Int(math.nan, 1), ["Int", "low=nan", "whole"]),  # type: ignore[arg-type]
        (lambda: Int(0, math.inf), ["Int", "high=inf", "whole"]),  # type: ignore[arg-type]
        (lambda: Int(0, 1.5), ["Int", "high=1.5", "whole"]),  # type: ignore[arg-type]
        (lambda: Int(3, 3), ["Int", "low=3", "below high=3"]),
        (lambda: Int(0, 8, log=True), ["Int", "low=0", "above 0", "log"]),
        (lambda: Int(0, 2**53 + 1), ["Int", "high=9007199254740993", "2**53"]),
        (lambda: Int(0, 10**5000), ["Int", "high=<int too long to show>", "2**53"]),
        (lambda: Int(FLAGS[0], 3), ["Int", "low=False", "whole"]),
        (Categorical, ["no choices"]),
        (lambda: Categorical("a", "b", "a"), ["'a'", "duplicate choice"]),
        (lambda: Categorical(1, 1.0), ["1.0", "duplicate choice"]),
        (lambda: Categorical(*FLAGS, *FLAGS), ["False", "duplicate choice"]),
        (lambda: Categorical(math.nan), ["nan", "cannot be a choice"]),
        (lambda: Categorical(math.inf), ["inf", "cannot be a choice"]),
        (lambda: Categorical(10**400), ["1000", "cannot be a choice"]),
        (lambda: Categorical(["a"]), ["['a']", "cannot be a choice"]),  # type: ignore[arg-type]
        (lambda: Categorical(np.array(1)), ["array(1)", "cannot be a choice"]),  # type: ignore[arg-type]
        (lambda: Categorical("a", "b\0"), [r"'b\x00'", "control character"]),
        (lambda: Categorical(b"a"), ["b'a'", "cannot be a choice"]),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_parameter_is_refused(make: Callable[[], Parameter], parts: list[str]) -> None:
    with refused(SpaceError, *parts):
        make()


@pytest.mark.parametrize(
    ("parameter", "value", "parts"),
    [
        (Float(0, 1), 1.5, ["1.5", "above high=1.0"]),
        (Float(0, 1), -0.5, ["-0.5", "below low=0.0"]),
        (Float(0, 1), 10**400, ["inf", "above high=1.0"]),
        (Float(0, 1), -(10**400), ["-inf", "below low=0.0"]),
        (Float(0, 1), math.nan, ["nan", "Float(0.0, 1.0)"]),
        (Float(0, 1), "0.5", ["'0.5'", "not a number", "Float(0.0, 1.0)"]),
        (Float(0, 1), FLAGS[1], ["True", "not a number"]),
        (Float(0, 1), np.True_, ["True", "not a number"]),
        (Float(0, 1), None, ["None", "not a number"]),
        (Float(0, 1), Decimal("0.5"), ["Decimal('0.5')", "not a number"]),
        (Int(0, 9), 10, ["10", "above high=9"]),
        (Int(0, 9), -1, ["-1", "below low=0"]),
        pytest.param(Int(0, 9), 10**5000, ["too long to show", "above high=9"], id="endless"),
        (Int(0, 9), Fraction(10**400, 3), ["Fraction(1000", "not a whole number"]),
        (Int(0, 9), 2.5, ["2.5", "not a whole number", "Int(0, 9)"]),
        (Int(0, 9), math.nan, ["nan", "not a whole number"]),
        (Int(0, 9), math.inf, ["inf", "not a whole number"]),
        (Int(0, 9), FLAGS[1], ["True", "not a whole number"]),
        (Int(0, 9), "3", ["'3'", "not a whole number"]),
        (Categorical("a", "b"), "c", ["'c'", "'a', 'b'"]),
        (Categorical(0, 1), FLAGS[1], ["True", "0, 1"]),
        (Categorical(*FLAGS), 1, ["1", "False, True"]),
        (Categorical("1"), 1, ["1", "'1'"]),
        (Categorical("a"), ["a"], ["['a']", "'a'"]),
        pytest.param(
            Categorical("a"), "x" * 10**6, ["'xxx", "1000002 characters", "'a'"], id="long"
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    parameter: Parameter, value: object, parts: list[str]
) -> None:
    with refused(SpaceError, *parts):
        parameter.check(value)


@pytest.mark.parametrize(
    ("parameter", "value", "stored"),
    [
        (Float(0, 1), 1, 1.0),
        (Float(0, 1), np.float32(0.5), 0.5),
        (Float(0, 1), np.float64(0.1), 0.1),
        (Float(0, 9), np.int64(3), 3.0),
        (Float(0, 9), Fraction(1, 4), 0.25),
        (Int(0, 9), 3.0, 3),
        (Int(0, 9), np.float32(3), 3),
        (Int(0, 9), np.uint8(3), 3),
        (Categorical(1, 2), np.int64(2), 2),
        (Categorical(1, 2), 2.0, 2),
        (Categorical(0.5, 2), np.float32(0.5), 0.5),
        (Categorical(*FLAGS), np.True_, True),
        (Categorical("a"), np.str_("a"), "a"),
        (Categorical("red"), Colour.RED, "red"),
        (Categorical(3), Level.HIGH, 3),
        (Categorical(None, "a"), None, None),
    ],
)
def test_a_value_is_stored_as_a_plain_one(
    parameter: Parameter, value: object, stored: Value
) -> None:
    checked = parameter.check(value)
    assert checked == stored
    assert type(checked) is type(stored)


def test_bounds_and_choices_are_stored_as_plain_numbers() -> None:
    bounds = Float(1, np.float64(2)), Int(np.int64(1), 2.0)  # type: ignore[arg-type]
    assert [(type(p.low), type(p.high)) for p in bounds] == [(float, float), (int, int)]
    plain = Categorical(np.int64(1), np.float64(0.5), np.True_, np.str_("a"), Colour.RED)  # type: ignore[arg-type]
    assert [type(choice) for choice in plain.choices] == [int, float, bool, str, str]


@given(parameters().flatmap(lambda p: st.tuples(st.just(p), values(p))))
def test_a_value_inside_is_kept(given_: tuple[Parameter, Value]) -> None:
    parameter, value = given_
    checked = parameter.check(value)
    assert checked == value
    assert type(checked) is type(value)


@pytest.mark.parametrize("parameter", [Float(-0.5, 0.5), Int(-3, 3)])
def test_both_bounds_belong_to_a_range(parameter: Float | Int) -> None:
    assert parameter.check(parameter.low) == parameter.low
    assert parameter.check(parameter.high) == parameter.high


def test_true_and_one_are_different_choices() -> None:
    both = Categorical(1, True)  # noqa: FBT003
    assert (both.index(1), both.index(FLAGS[1])) == (0, 1)
    assert Categorical(1) != Categorical(*FLAGS[1:])


def test_one_and_one_point_zero_are_the_same_choice() -> None:
    assert Categorical(1) == Categorical(1.0)
    assert hash(Categorical(1)) == hash(Categorical(1.0))


@given(categoricals())
def test_choices_keep_their_order(parameter: Categorical) -> None:
    assert [parameter.index(choice) for choice in parameter.choices] == list(
        range(len(parameter.choices))
    )
    backwards = Categorical(*reversed(parameter.choices))
    assert (backwards == parameter) == (len(parameter.choices) == 1)


@pytest.mark.parametrize("parameter", EXAMPLES)
def test_a_parameter_is_frozen(parameter: Parameter) -> None:
    field = "choices" if isinstance(parameter, Categorical) else "low"
    with pytest.raises(FrozenInstanceError):
        setattr(parameter, field, 0)


@given(parameters())
def test_a_parameter_survives_copying_and_another_process(parameter: Parameter) -> None:
    for same in (copy.copy(parameter), copy.deepcopy(parameter), pickled(parameter)):
        assert same == parameter
        assert hash(same) == hash(parameter)
        assert repr(same) == repr(parameter)


@given(parameters())
def test_the_repr_of_a_parameter_evaluates_to_it(parameter: Parameter) -> None:
    again = evaluated(repr(parameter))
    assert again == parameter
    assert repr(again) == repr(parameter)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Float(0, 1), "Float(0.0, 1.0)"),
        (Float(1e-5, 0.1, log=True), "Float(1e-05, 0.1, log=True)"),
        (Int(1, 8, log=True), "Int(1, 8, log=True)"),
        (Categorical("a", 1, None), "Categorical('a', 1, None)"),
    ],
)
def test_a_repr_is_what_a_user_would_write(parameter: Parameter, text: str) -> None:
    assert repr(parameter) == text


@given(parameters())
def test_a_parameter_survives_json(parameter: Parameter) -> None:
    again = parameter_from_json(json.loads(json.dumps(parameter_to_json(parameter))))
    assert again == parameter
    assert repr(again) == repr(parameter)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ({"type": "float", "low": 0}, ["does not describe a parameter"]),
        ({"type": "text", "low": 0, "high": 1}, ["'text'", "'float'", "'categorical'"]),
        ({"type": "float", "low": 0, "high": "1"}, ["high='1'", "number"]),
        ({"type": "int", "low": 0, "high": 1, "step": 2}, ["'step'", "unknown key"]),
        ({"type": "int", "low": 0, "high": 1, "log": "no"}, ["log='no'", "true or false"]),
        ({"type": "categorical", "choices": "ab"}, ["does not describe a parameter"]),
        ({"type": "categorical", "choices": [["a"]]}, ["['a']", "cannot be a choice"]),
        ({"type": "categorical", "choices": ["a"], "default": 0}, ["'default'", "unknown key"]),
        (3, ["3", "does not describe a parameter"]),
    ],
)
def test_json_that_describes_no_parameter_is_refused(data: object, parts: list[str]) -> None:
    with refused(SpaceError, *parts):
        parameter_from_json(data)


@given(st.one_of(parameters(), choices()), st.one_of(parameters(), choices()))
def test_equal_things_have_equal_hashes(one: object, other: object) -> None:
    assert one != other or hash(one) == hash(other)


def test_a_long_list_of_choices_is_told_in_short() -> None:
    parameter = Categorical(*(f"v{number}" for number in range(200_000)))
    assert parameter.index("v199999") == 199_999
    with pytest.raises(SpaceError) as caught:
        parameter.check("w")
    assert len(str(caught.value)) < 400
    assert "'v19' and 199980 more" in str(caught.value)
