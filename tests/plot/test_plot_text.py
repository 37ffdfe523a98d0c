"""How numbers and names of users are shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetbo.plot._text import counted, exact, label, listed, number, shown_value
from hetbo.plot._text import plotly as plotly_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1 / 3, "0.33333"),
        (-2.5, "-2.5"),
        (123456.789, "123457"),
        (99999.99, "100000"),
        (0.00012345678, "0.00012346"),
        (1.5e-7, "1.5e-07"),
        (2e12, "2e+12"),
        (100.0, "100"),
        (1200, "1200"),
        (math.inf, "inf"),
    ],
)
def test_numbers_have_five_digits_and_no_more(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e307, 1e307, allow_subnormal=False))
def test_a_shown_number_is_the_number_to_five_digits(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, rel=5.1e-5, abs=0)


@given(st.floats(allow_nan=False) | st.integers() | st.text(max_size=100) | st.none())
def test_an_exact_value_can_be_read_back(value: float | str | None) -> None:
    assert eval(exact(value), {"inf": math.inf}) == value  # noqa: S307  # our own repr


@given(st.text(), st.integers(2, 50))
def test_a_label_is_short_and_printable(text: str, longest: int) -> None:
    shown = label(text, longest)
    assert len(shown) <= longest
    assert shown.isprintable()
    shown.encode()  # no lone surrogates
    if len(text) <= longest and text.isprintable():
        assert shown == text


def test_a_text_of_a_million_characters_is_cut() -> None:
    huge = "x" * 1_000_000
    assert len(label(huge)) == 40
    assert exact(huge).endswith("… (1000000 characters)")
    assert shown_value(huge) == label(huge)
    assert shown_value("  ") == "'  '"
    assert [shown_value(v) for v in (True, None, 3, 0.5, "a")] == ["True", "None", "3", "0.5", "a"]


@given(st.text())
def test_escaped_texts_have_no_tags(text: str) -> None:
    assert not set("<>") & set(plotly_text(text))


def test_nouns_follow_their_number() -> None:
    assert counted(1, "trial") == "1 trial"
    assert counted(2, "trial") == "2 trials"
    assert counted(2, "trial is", "trials are") == "2 trials are"


def test_long_lists_are_cut() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert len(listed(f"name {n}" for n in range(1000))) == 600
