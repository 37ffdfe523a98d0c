import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import refused
from hetbo import Categorical, DataError, Experiment, Float, Int
from hetbo.spaces import Parameter, Value
from hetbo.spaces._names import folded
from hetbo.spaces._values import choice_key
from strategies import choices


def inferred(*values: Value) -> Parameter:
    rows = [{"x": value, "loss": 1.0} for value in values]
    return Experiment.from_records(rows, value="loss", goal="minimize").space["x"]


@pytest.mark.parametrize(
    ("values", "parameter"),
    [
        ([3, 1, 2], Int(1, 3)),
        ([3, 1.5, 2], Float(1.5, 3)),
        ([1.0, 2.0], Float(1, 2)),
        ([-5, 5000], Int(-5, 5000)),
        ([0, 5000], Int(0, 5000)),
        (["b", "a", "b"], Categorical("b", "a")),
        ([True, False], Categorical(*(False, True))),
        (["1", "2.0"], Float(1, 2)),
    ],
)
def test_the_values_of_a_column_say_what_it_is(values: list[Value], parameter: Parameter) -> None:
    assert inferred(*values) == parameter


@given(st.integers(1, 10**6), st.integers(-12, 3))
def test_three_decades_suggest_a_log_scale(mantissa: int, exponent: int) -> None:
    low, high = float(f"{mantissa}e{exponent}"), float(f"{mantissa}e{exponent + 3}")
    assert inferred(low, high) == Float(low, high, log=True)
    assert inferred(low, high * 0.999) == Float(low, high * 0.999)


@given(st.integers(1, 10**9))
def test_three_decades_suggest_a_log_scale_for_integers_too(low: int) -> None:
    assert inferred(low, low * 1000) == Int(low, low * 1000, log=True)
    assert inferred(low, low * 1000 - low // 1000 - 1) == Int(low, low * 1000 - low // 1000 - 1)


@given(st.lists(choices().filter(lambda c: c is not None), min_size=2, unique_by=choice_key))
def test_every_value_of_one_kind_fits_the_inferred_parameter(mixed: list[Value]) -> None:
    for kind in (bool, str, int | float):
        values = [value for value in mixed if isinstance(value, kind)]
        values = [v for v in values if kind is bool or not isinstance(v, bool)]
        if kind is str:
            values = list({folded(f"a {text}"): f"a {text}" for text in values}.values())
        if len(values) < 2:
            continue
        if any(isinstance(v, int | float) and abs(v) > 2**53 for v in values):
            continue
        parameter = inferred(*values)
        for value in values:
            assert parameter.check(value) == value


def test_numbers_that_no_range_can_hold_are_refused_with_their_column() -> None:
    with refused(DataError, "records", "'x'", "2**53", "drop=['x']", "categorical=['x']"):
        inferred(1, 2**60)
    with refused(DataError, "records", "'x'", "too wide"):
        inferred(-1.7e308, 1.7e308)


def test_a_range_too_wide_for_a_log_scale_stays_linear() -> None:
    assert inferred(1e-308, 4.0) == Float(1e-308, 4.0)


def test_a_column_of_identifiers_is_refused() -> None:
    with refused(DataError, "records", "'x'", "21 different texts in 21 rows", "drop=", "space="):
        inferred(*(f"run-{number}" for number in range(21)))


def test_many_choices_that_come_again_are_no_identifiers() -> None:
    texts = [f"model-{number}" for number in range(21)]
    assert inferred(*texts, *texts) == Categorical(*texts)
    assert inferred(*texts[:20]) == Categorical(*texts[:20])
