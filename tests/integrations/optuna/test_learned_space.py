"""Which space is the current one, and which trials belong to it."""

from typing import Any

import pytest
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from hetbo.integrations.optuna._distributions import translations
from hetbo.integrations.optuna._history import History, learned_space

UNIT, WIDE, WHOLE = FloatDistribution(0, 1), FloatDistribution(0, 2), IntDistribution(0, 9)
SINGLE = FloatDistribution(0, 0)
LETTERS: dict[str, tuple[str, BaseDistribution]] = {
    "x": ("x", UNIT),
    "X": ("x", WIDE),
    "y": ("y", UNIT),
    "z": ("z", WHOLE),
    "s": ("s", SINGLE),
}
COMPLETE, FAIL, RUNNING, PRUNED = (
    TrialState.COMPLETE,
    TrialState.FAIL,
    TrialState.RUNNING,
    TrialState.PRUNED,
)


def trial(letters: str, state: TrialState = COMPLETE, **options: Any) -> FrozenTrial:  # noqa: ANN401
    """Return a trial with the parameters that `letters` stand for, all at 0."""
    distributions = dict(LETTERS[letter] for letter in letters)
    return create_trial(
        state=state,
        value=1.0 if state is COMPLETE else None,
        params=dict.fromkeys(distributions, 0),
        distributions=distributions,
        **options,
    )


def trials(*given: str | FrozenTrial) -> list[FrozenTrial]:
    several = [trial(one) if isinstance(one, str) else one for one in given]
    for number, one in enumerate(several):
        one.number = number
    return several


@pytest.mark.parametrize(
    ("given", "learned"),
    [
        ([], ""),
        (["xy"], "xy"),
        (["xy", "xy"], "xy"),
        (["x", "x", "xy"], "xy"),  # a parameter came
        (["xy", "xy", "x"], "x"),  # a parameter went
        (["x", "x", "X"], "X"),  # a range moved
        (["xy", "xz"], "xz"),  # a change, as far as can be seen
        (["xy", "xz", "xy"], "x"),  # branches
        (["xy", "xz", "xyz", "xy", "xz"], "x"),  # more branches
        (["X", "X", "xy", "xz", "xy"], "x"),  # a change, then branches
        (["xy", "xz", "xy", "Xy"], "Xy"),  # branches, then a change
        (["x", "xy", "x"], "x"),  # back again
    ],
)
def test_the_space_is_what_the_trials_since_the_last_change_share(
    given: list[str], learned: str
) -> None:
    expected = dict(LETTERS[letter] for letter in learned)
    assert learned_space(trials(*given)) == expected


def test_failed_and_running_trials_show_the_space_only_while_no_other_does() -> None:
    stopped, running = trial("x", FAIL), trial("xy", RUNNING)
    assert learned_space(trials(stopped)) == {"x": UNIT}
    assert learned_space(trials(stopped, running, trial("", FAIL))) == {"x": UNIT, "y": UNIT}
    assert learned_space(trials("xz", stopped, running)) == {"x": UNIT, "z": WHOLE}
    assert learned_space(trials("xz", trial("xy", PRUNED))) == {"x": UNIT, "y": UNIT}
    assert learned_space(trials(trial("", FAIL))) == {}


def history(letters: str, *given: str | FrozenTrial, space_given: bool = False) -> History:
    target = translations(dict(LETTERS[letter] for letter in letters))
    return History.of(trials(*given), target, given=space_given)


def test_trials_before_a_change_are_not_the_targets_own() -> None:
    found = history("x", "xy", "xy", "x", "x")
    assert found.numbers == (2, 3)
    assert [one.number for one in found.earlier] == [0, 1]
    found = history("x", "X", "x")
    assert found.numbers == (1,)


def test_trials_that_began_before_the_first_one_ended_are_the_targets_own() -> None:
    found = history("xy", trial("xy", FAIL), trial("xy", RUNNING), trial("x", FAIL), "xy")
    assert found.numbers == (0, 1, 3)
    assert found.pending == {1}
    found = history("x", trial("xy", FAIL), "xy", "x")
    assert found.numbers == (2,)


def test_trials_of_all_branches_are_the_targets_own() -> None:
    found = history("x", "xy", "xz", "xy")
    assert found.numbers == (0, 1, 2)
    assert all(set(one.params) == {"x"} for one in found.own)


def test_with_a_given_space_trials_with_more_parameters_must_have_been_proposed_in_it() -> None:
    proposed = trial("xy", system_attrs={"hetbo:proposal": {"x": 0.0}})
    other = trial("xy", system_attrs={"hetbo:proposal": {"x": 0.0, "y": 0.0}})
    found = history("x", "x", "xy", proposed, other, "xs", "y", space_given=True)
    assert found.numbers == (0, 2, 4)
    assert [one.number for one in found.earlier] == [1, 3, 5]
    assert found.fixed == {"s": 0.0}


def test_what_others_propose_is_pending() -> None:
    proposal = {"hetbo:proposal": {"x": 0.5, "y": 0.25}}
    outside = {"hetbo:proposal": {"x": 5.0, "y": 0.25}}
    found = history(
        "xy",
        "xy",
        trial("x", RUNNING, system_attrs=proposal),
        trial("", RUNNING, system_attrs=proposal),
        trial("", RUNNING, system_attrs=outside),
        trial("xy", RUNNING),
        trial("x", RUNNING),
        trial("x", FAIL, system_attrs=proposal),
    )
    assert found.pending == {1, 2, 4}
    assert dict(found.own[1].params) == {"x": 0, "y": 0.25}
    assert dict(found.own[2].params) == {"x": 0.5, "y": 0.25}


def test_constraints_go_along() -> None:
    several = trials("x", "x", "x")
    several[1].set_constraint("a", 1.0)
    several[1].set_constraint("b", -1.0)
    assert history("x", *several).constraints == ({}, {"a": 1.0, "b": -1.0}, {})
    assert history("x", "x", "x").constraints == ()
