"""Optuna's distributions as parameters, and back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

import hetbo as hb
from helpers import refused
from hetbo.integrations.optuna._distributions import (
    Translation,
    distribution_of,
    single_values,
    translations,
)
from hetbo.spaces import Parameter
from strategies import parameters

CHOICES = st.lists(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    min_size=2,
    max_size=6,
)


@st.composite
def numbers(draw: st.DrawFn) -> FloatDistribution | IntDistribution:
    low, step = draw(st.integers(-50, 50)), draw(st.integers(1, 7))
    high = low + step * draw(st.integers(1, 30))
    kinds: list[FloatDistribution | IntDistribution] = [
        FloatDistribution(low, high),
        FloatDistribution(abs(low) + 1, abs(low) + 300, log=True),
        FloatDistribution(low / 10, high / 10, step=step / 10),
        IntDistribution(low, high),
        IntDistribution(abs(low) + 1, abs(low) + 300, log=True),
        IntDistribution(low, high, step=step),
    ]
    return draw(st.sampled_from(kinds))


def contains(distribution: BaseDistribution, value: object) -> bool:
    return distribution._contains(distribution.to_internal_repr(value))


@given(numbers(), st.floats(0, 1))
def test_numbers_go_to_the_nearest_value_that_optuna_allows(
    distribution: FloatDistribution | IntDistribution, share: float
) -> None:
    translation = Translation.of("x", distribution)
    wanted = distribution.low + share * (distribution.high - distribution.low)
    if isinstance(distribution, IntDistribution):
        wanted = round(wanted)
    value = translation.write(wanted)
    assert contains(distribution, value)
    assert type(value) is (int if isinstance(distribution, IntDistribution) else float)
    assert abs(value - wanted) <= (translation.step or 0) / 2 + 1e-9
    assert translation.write(translation.read(value)) == value


@given(numbers())
def test_values_on_a_grid_can_be_counted(distribution: FloatDistribution | IntDistribution) -> None:
    translation = Translation.of("x", distribution)
    if translation.count is None:
        assert isinstance(distribution, FloatDistribution)
        assert distribution.step is None
        return
    values = [translation.at(index) for index in range(translation.count)]
    assert values[0] == distribution.low
    assert values[-1] == pytest.approx(distribution.high)
    assert all(contains(distribution, value) for value in values)
    assert values == sorted(set(map(float, map(str, values))))


def test_steps_are_decimal() -> None:
    translation = Translation.of("x", FloatDistribution(0, 1, step=0.1))
    assert [translation.at(k) for k in range(11)] == [k / 10 for k in range(11)]


@given(CHOICES)
def test_every_choice_comes_back(choices: list[bool | float | str | None]) -> None:
    distribution = CategoricalDistribution(choices)
    translation = Translation.of("x", distribution)
    for choice in choices:
        back = translation.write(translation.read(choice))
        assert distribution.to_internal_repr(back) == distribution.to_internal_repr(choice)


def test_texts_with_control_characters_go_by_their_repr() -> None:
    choices = ["two\nlines", "a\0b", "plain", "half\ud800"]
    translation = Translation.of("x", CategoricalDistribution(choices))
    labels = ("'two\\nlines'", "'a\\x00b'", "plain", "'half\\ud800'")
    assert translation.parameter == hb.Categorical(*labels)
    for choice, label in zip(choices, labels, strict=True):
        assert translation.read(choice) == label
        assert translation.write(label) == choice


class TwoLines:
    """A choice whose repr has two lines."""

    def __repr__(self) -> str:
        return "two\nlines"


def test_a_repr_of_several_lines_is_brought_onto_one() -> None:
    choice = TwoLines()
    with pytest.warns(UserWarning, match="persistent storage"):
        distribution = CategoricalDistribution([choice, "a"])  # type: ignore[list-item]
    translation = Translation.of("x", distribution)
    assert translation.parameter == hb.Categorical("two\\nlines", "a")
    assert translation.write("two\\nlines") is choice


def test_choices_that_hetbo_cannot_hold_go_by_their_repr() -> None:
    with pytest.warns(UserWarning, match="Choices for a categorical"):
        distribution = CategoricalDistribution([math.nan, "nan", (1, 2), 1, True])  # type: ignore[list-item]
    translation = Translation.of("x", distribution)
    assert translation.parameter == hb.Categorical("nan", "'nan'", "(1, 2)", 1)
    assert translation.write("(1, 2)") == (1, 2)
    assert translation.write("'nan'") == "nan"
    assert math.isnan(translation.write("nan"))


@given(parameters())
def test_parameters_come_back(parameter: Parameter) -> None:
    distribution = distribution_of(parameter)
    choices = parameter.choices if isinstance(parameter, hb.Categorical) else ()
    if distribution.single():
        assert single_values({"x": distribution}) == {"x": choices[0]}
    elif len(set(choices)) == len(choices):
        assert Translation.of("x", distribution).parameter == parameter
    else:
        texts = hb.Categorical(*map(repr, choices))
        assert Translation.of("x", distribution).parameter == texts


def test_single_values_are_not_tuned() -> None:
    distributions: dict[str, BaseDistribution] = {
        "a": FloatDistribution(1, 1),
        "b": IntDistribution(2, 2, step=5),
        "c": CategoricalDistribution([None]),
        "d": FloatDistribution(0, 1),
    }
    assert list(translations(distributions)) == ["d"]
    assert single_values(distributions) == {"a": 1.0, "b": 2, "c": None}


def test_what_hetbo_has_no_parameter_for_is_refused() -> None:
    with refused(hb.SpaceError, "'x'", "inf", "finite"):
        Translation.of("x", FloatDistribution(0, math.inf))
    with refused(hb.SpaceError, "'x'", "unknown distribution Angle()", "IntDistribution"):
        Translation.of("x", Angle())


def test_a_choice_that_is_not_there_is_refused() -> None:
    with refused(hb.SpaceError, "unknown choice 'c'; expected one of ('a', 'b')"):
        Translation.of("x", CategoricalDistribution(["a", "b"])).read("c")


class Angle(BaseDistribution):
    """A distribution of somebody else's."""

    def single(self) -> bool:
        return False

    def to_internal_repr(self, param_value_in_external_repr: float) -> float:
        return param_value_in_external_repr

    def _contains(self, param_value_in_internal_repr: float) -> bool:
        return 0 <= param_value_in_internal_repr < 360
