import pytest

import hetbo as hb
from hetbo.errors import duration, printable, shown


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (hb.SpaceError, ValueError),
        (hb.DataError, ValueError),
        (hb.MergeError, ValueError),
        (hb.FitError, RuntimeError),
    ],
)
def test_errors_have_one_root_and_are_what_python_calls_them(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, hb.HetboError)
    assert issubclass(error, builtin)


def test_warnings_have_one_root() -> None:
    assert issubclass(hb.DataWarning, hb.HetboWarning)
    assert issubclass(hb.HetboWarning, UserWarning)


def test_values_are_shown_as_their_repr() -> None:
    assert shown("a\n") == r"'a\n'"
    assert shown("x" * 78) == repr("x" * 78)


def test_long_values_are_shown_cut() -> None:
    assert shown("x" * 79) == f"'{'x' * 59}… (81 characters)"
    text = shown("x" * 10**6)
    assert text == f"'{'x' * 59}… (1000002 characters)"
    assert shown(10**5000) == "<int too long to show>"


def test_what_cannot_be_printed_is_escaped() -> None:
    assert printable("größe 学 [x]") == "größe 学 [x]"
    assert printable("a\nb\x1b[2J\u202e") == r"a\nb\x1b[2J\u202e"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (89, "89 s"), (91, "2 min"), (3540, "59 min"), (7500, "2 h 5 min")],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
