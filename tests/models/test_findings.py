"""When a learned value is known: in step with the digits that are shown."""

import numpy as np
import pytest

from hetbo.models import LearnedChoice, LearnedNumber


def number(low: float, high: float) -> LearnedNumber:
    positions = np.linspace(0.0, 1.0, 5)
    return LearnedNumber("past", "c", 0.5, low, high, positions, np.ones(5))


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [(0.0, 1.0, False), (0.0, 0.99999, False), (0.0, 0.99, True), (0.1, 1.0, True)],
)
def test_a_number_is_known_if_its_interval_is_shorter_than_its_range(
    low: float, high: float, *, known: bool
) -> None:
    assert number(low, high).known is known


@pytest.mark.parametrize(("chance", "known"), [(0.51, False), (0.794, False), (0.796, True)])
def test_a_choice_is_known_if_it_is_likely(chance: float, *, known: bool) -> None:
    value = LearnedChoice("past", "kind", "a", (("a", chance), ("b", 1 - chance)))
    assert value.probability == chance
    assert value.known is known


def test_true_and_one_are_two_choices() -> None:
    value = LearnedChoice("past", "kind", True, ((True, 0.9), (1, 0.1)))  # noqa: FBT003
    assert value.probability == 0.9
    assert value.known
