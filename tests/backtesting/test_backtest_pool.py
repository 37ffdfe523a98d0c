import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetbo as hb
from hetbo.backtesting._pool import Pool, thinned

SPACE = hb.Space(n=hb.Int(0, 1000))
LOSS = hb.Goal.MINIMIZE


def experiment(
    values: list[float | None], *, goal: hb.Goal = LOSS, at: list[int] | None = None
) -> hb.Experiment:
    places = range(len(values)) if at is None else at
    trials = [
        hb.Trial({"n": n}, value, state="failed" if value is None else "complete")
        for n, value in zip(places, values, strict=True)
    ]
    return hb.Experiment("old", SPACE, trials, goal=goal)


@pytest.mark.parametrize(
    ("count", "top", "good"),
    [(20, 0.05, 1), (21, 0.05, 2), (30, 0.05, 2), (60, 0.05, 3), (30, 0.0, 1), (10, 0.5, 5)],
)
def test_the_best_share_of_the_settings_is_good(count: int, top: float, good: int) -> None:
    pool = Pool.of(experiment([float(value) for value in range(count)]), top)
    assert pool.good == good
    assert pool.level == good - 1


def test_the_goal_says_which_way_is_better() -> None:
    values: list[float | None] = [3.0, 1.0, 2.0]
    assert Pool.of(experiment(values), 0.0).level == 1.0
    assert Pool.of(experiment(values, goal=hb.Goal.MAXIMIZE), 0.0).level == 3.0


def test_all_that_tie_are_good() -> None:
    assert Pool.of(experiment([1.0, 1.0, 1.0, 2.0, 3.0]), 0.0).good == 3


def test_repeats_of_a_setting_are_one_with_the_mean_of_the_values() -> None:
    pool = Pool.of(experiment([1.0, 4.0, None, 3.0], at=[5, 7, 5, 5]), 0.0)
    assert [(trial.params["n"], trial.value) for trial in pool.settings] == [(5, 2.0), (7, 4.0)]


def test_the_noise_of_a_mean_shrinks_with_repeats() -> None:
    trials = [hb.Trial({"n": 1}, value, noise=0.3) for value in (1.0, 2.0, 3.0)]
    (setting,) = Pool.of(hb.Experiment("old", SPACE, trials, goal=LOSS), 0.0).settings
    assert setting.noise == pytest.approx(0.3 / math.sqrt(3))


def test_the_mean_of_the_largest_values_is_one() -> None:
    pool = Pool.of(experiment([1.7e308, 1.7e308], at=[1, 1]), 0.0)
    assert pool.level == pytest.approx(1.7e308)


def test_a_setting_that_always_failed_has_failed() -> None:
    pool = Pool.of(experiment([1.0, None]), 0.0)
    assert [trial.state.value for trial in pool.settings] == ["complete", "failed"]
    assert [pool.is_good(trial) for trial in pool.settings] == [True, False]


def test_pending_trials_are_left_out() -> None:
    trials = [hb.Trial({"n": 1}, 1.0), hb.Trial({"n": 2})]
    assert len(Pool.of(hb.Experiment("old", SPACE, trials, goal=LOSS), 0.0).settings) == 1


def test_true_and_1_are_two_settings() -> None:
    space = hb.Space(c=hb.Categorical(*[True, 1]))
    trials = [hb.Trial({"c": True}, 1.0), hb.Trial({"c": 1}, 2.0)]
    assert len(Pool.of(hb.Experiment("old", space, trials, goal=LOSS), 0.0).settings) == 2


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([1.0, 2.0, None, None, None, None, None], "'old' has 2 different settings"),
        ([None] * 7, "'old' has 0 different settings"),
        ([1.0] * 7, "All values of 'old' are equal"),
    ],
)
def test_where_nothing_can_be_found_the_reason_is_told(
    values: list[float | None], part: str
) -> None:
    reason = Pool.of(experiment(values), 0.05).obstacle("old")
    assert reason is not None
    assert part in reason


def test_six_settings_are_enough() -> None:
    assert Pool.of(experiment([1, 2, 3, 4, 5, 6]), 0.05).obstacle("old") is None


@given(
    st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.integers(1, 60),
    st.sampled_from(hb.Goal),
)
def test_a_thinned_experiment_keeps_the_best_and_the_order(
    values: list[float | None], most: int, goal: hb.Goal
) -> None:
    whole = experiment(values, goal=goal)
    kept = thinned(whole, most)
    assert len(kept.trials) == min(len(whole.trials), most)
    places = [whole.trials.index(trial) for trial in kept.trials]
    assert places == sorted(set(places))
    if whole.best is not None:
        assert kept.best is not None
        assert kept.best.value == whole.best.value
