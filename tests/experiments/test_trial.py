import copy
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import pickled, refused
from hetbo import DataError, Goal, Trial, TrialState
from strategies import spaces, trials


def test_a_value_makes_a_trial_complete() -> None:
    assert Trial({"x": 1}, 0.5).state is TrialState.COMPLETE
    assert Trial({"x": 1}).state is TrialState.PENDING
    assert Trial({"x": 1}, state="failed").state is TrialState.FAILED


@pytest.mark.parametrize(
    ("value", "noise", "state", "parts"),
    [
        (None, None, "complete", ["complete", "value=None"]),
        (0.5, None, "failed", ["failed", "value=0.5"]),
        (0.5, None, "pending", ["pending", "value=0.5"]),
        (0.5, None, "done", ["unknown state 'done'", "'complete'", "'failed'", "'pending'"]),
        (math.nan, None, None, ["value=nan", "finite"]),
        (math.inf, None, None, ["value=inf", "finite"]),
        (10**400, None, None, ["value=1000", "finite"]),
        ("0.5", None, None, ["value='0.5'", "number"]),
        (bool(1), None, None, ["value=True", "number"]),
        (0.5, -0.1, None, ["noise=-0.1", "at least 0"]),
        (0.5, math.inf, None, ["noise=inf", "finite"]),
        (0.5, "a", None, ["noise='a'", "number"]),
        (None, 0.1, "failed", ["noise=0.1", "has a value"]),
    ],
)
def test_what_does_not_fit_together_is_refused(
    value: float | None, noise: float | None, state: str | None, parts: list[str]
) -> None:
    with refused(DataError, *parts):
        Trial({"x": 1}, value, noise=noise, state=state)


def test_numbers_are_stored_as_floats() -> None:
    trial = Trial({"x": 1}, np.int64(2), noise=np.float32(0.5))  # type: ignore[arg-type]
    assert (trial.value, trial.noise) == (2.0, 0.5)
    assert [type(trial.value), type(trial.noise)] == [float, float]


def test_the_order_of_params_makes_no_difference() -> None:
    one, other = Trial({"a": 1, "b": 2}, 0.5), Trial({"b": 2, "a": 1}, 0.5)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Trial({"a": 1, "b": 2}, 0.6)


def test_a_trial_is_frozen() -> None:
    given_ = {"x": 1}
    trial = Trial(given_, 0.5)
    given_["x"] = 2
    assert trial.params == {"x": 1}
    with pytest.raises(AttributeError):
        trial.value = 0.6  # type: ignore[misc]
    with pytest.raises(TypeError):
        trial.params["x"] = 2  # type: ignore[index]


@given(spaces().flatmap(trials))
def test_a_trial_survives_json_copying_and_another_process(trial: Trial) -> None:
    through_json = Trial.from_json(json.loads(json.dumps(trial.to_json())))
    for same in (through_json, copy.copy(trial), copy.deepcopy(trial), pickled(trial)):
        assert same == trial
        assert hash(same) == hash(trial)
        assert repr(same) == repr(trial)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ({"state": "failed"}, ["does not describe a trial"]),
        ({"params": [], "state": "failed"}, ["does not describe a trial"]),
        ({"params": {}, "state": "failed", "colour": 1}, ["'colour'", "unknown key"]),
        ({"params": {}, "state": "complete", "value": "1"}, ["value='1'", "number"]),
        ({"params": {}, "state": "lost"}, ["unknown state 'lost'"]),
        (None, ["None", "does not describe a trial"]),
    ],
)
def test_json_that_describes_no_trial_is_refused(data: object, parts: list[str]) -> None:
    with refused(DataError, *parts):
        Trial.from_json(data)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_sign_of_a_goal_makes_larger_better(one: float, other: float) -> None:
    assert (Goal.MINIMIZE.sign * one > Goal.MINIMIZE.sign * other) == (one < other)
    assert (Goal.MAXIMIZE.sign * one > Goal.MAXIMIZE.sign * other) == (one > other)


def test_a_goal_is_found_by_name_and_keeps_the_size_of_values() -> None:
    assert Goal.of("maximize") is Goal.MAXIMIZE
    assert Goal.of(Goal.MINIMIZE) is Goal.MINIMIZE
    assert (Goal.MAXIMIZE.sign, Goal.MINIMIZE.sign) == (1, -1)
    with refused(DataError, "goal='best'", "'minimize' or 'maximize'"):
        Goal.of("best")
