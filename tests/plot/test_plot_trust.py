"""Trust over time: the run once more, step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetbo import Experiment, Int, Optimizer, Space, Trial
from hetbo.plot._trust import (
    TrustHistory,
    chosen_steps,
    trust_figure,
    trust_sentence,
    trust_steps,
)


@given(st.integers(0, 1000), st.integers(0, 5000))
def test_steps_go_from_the_first_trial_to_the_last(count: int, more: int) -> None:
    steps = chosen_steps(count, count + more)
    assert steps[0] == 0
    assert steps[-1] == count
    assert steps == sorted(set(steps))
    assert len(steps) <= 41
    if count <= 40 and count + more <= 200:
        assert steps == list(range(count + 1))


def small() -> Optimizer:
    """Return a run in a space that can be counted, with a source that is of no use here."""
    space = Space(a=Int(0, 20))
    past = Experiment(
        "past", space, [Trial({"a": a}, float(a % 3)) for a in range(0, 20, 3)], goal="minimize"
    )
    optimizer = Optimizer(space, sources=[past], goal="minimize", seed=1, n_initial=3)
    for a in (2, 17, 9, 13, 5):
        optimizer.tell({"a": a}, float(np.sin(a / 3) + 0.1 * a))
    return optimizer


def test_trust_is_what_explain_said_at_that_time() -> None:
    optimizer = small()
    steps = dict(trust_steps(optimizer, range(6)))
    assert list(steps) == list(range(6))
    assert all(0 <= trust["past"] <= 1 for trust in steps.values())
    today = optimizer.explain().sources["past"]
    assert steps[5]["past"] == pytest.approx(today, abs=0.1)


def test_what_is_shown_is_what_explain_says() -> None:
    optimizer = small()
    before = optimizer.to_json()
    fitted = optimizer.fitted()
    assert fitted is not None
    assert fitted.weights == optimizer.explain().models
    assert optimizer.to_json() == before
    assert Optimizer(Space(a=Int(0, 3)), seed=0, goal="minimize").fitted() is None


def history(*trust: float) -> TrustHistory:
    return TrustHistory(tuple(range(0, 2 * len(trust), 2)), {"old": trust})


@pytest.mark.parametrize(
    ("trust", "title"),
    [
        ((0.1, 0.5, 0.8, 0.9), "'old' is followed closely from 4 trials on"),
        ((0.9, 0.1, 0.8, 0.8), "'old' is followed closely from 4 trials on"),
        ((0.8, 0.8), "'old' is followed closely throughout"),
        ((0.8, 0.2), "'old' hardly counts from 2 trials on"),
        ((0.5,), "'old' is followed with caution"),
    ],
)
def test_the_title_says_since_when_a_source_is_trusted(
    trust: tuple[float, ...], title: str
) -> None:
    assert trust_sentence(history(*trust)) == title


def test_many_sources_are_summed_up() -> None:
    several = TrustHistory((0,), {"b": (0.9,), "c": (0.5,), "d": (0.2,), "a": (0.1,)})
    assert trust_sentence(several) == (
        "'b' is followed closely; 'c' is followed with caution; "
        "2 others are trusted no more than that"
    )


def test_the_ten_most_trusted_sources_are_drawn_and_the_others_are_a_band() -> None:
    trust = {f"old {n}": (0.5, n / 100) for n in range(95, 0, -1)}
    trust |= {f"dropped {n}": (0.0, 0.0) for n in range(5)}
    *lines, band = trust_figure(TrustHistory((0, 4), trust))["data"]
    assert [line["name"] for line in lines] == [
        f"old {n}: {n / 100:.2f}" for n in range(95, 85, -1)
    ]
    assert [line["y"] for line in lines] == [[0.5, n / 100] for n in range(95, 85, -1)]
    assert len({line["line"]["color"] for line in lines}) == 10
    assert band["name"] == "85 others: 0.01 to 0.85"
    assert band["x"] == [0, 4, 4, 0]
    assert band["y"] == [0.5, 0.85, 0.01, 0.5]
