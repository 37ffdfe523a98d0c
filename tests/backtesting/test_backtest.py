import itertools
import warnings
from dataclasses import replace

import pytest

import hetbo as hb
from backtesting.olds import SQUARE, hill, hills, hollow, old
from helpers import refused
from hetbo.backtesting._plan import MOST_ALONE, MOST_OLD_TRIALS, planned
from hetbo.backtesting._replay import Job
from hetbo.methods import METHODS

QUICK = "common"
"""A method with one model, so that tests are quick."""


def job(target: hb.Experiment, *sources: hb.Experiment, method: str = QUICK) -> Job:
    return Job(target, sources, method, 0, 0.05, 30)


def with_trials(experiment: hb.Experiment, *more: hb.Trial) -> hb.Experiment:
    trials = (*experiment.trials, *more)
    return hb.Experiment(experiment.name, experiment.space, trials, goal=experiment.goal)


@pytest.mark.usefixtures("few")
def test_old_runs_of_the_same_function_help() -> None:
    result = hb.backtest(hills(3), method="auto", repeats=1)
    assert [case.name for case in result.cases] == ["hill-0", "hill-1", "hill-2"]
    for case in result.cases:
        assert case.needed <= 2
        assert case.saved > 0
        assert all(needed <= 3 for runs in case.alone.values() for needed in runs)
    assert str(result).startswith("Old runs would have saved")
    assert "3 of 3 cases" in str(result)


@pytest.mark.long
def test_a_source_that_is_wrong_where_it_matters_misleads() -> None:
    experiments = [*hills(3, trials=16), old("fraud-v1", hollow, seed=99, trials=16)]
    result = hb.backtest(experiments, repeats=1)
    verdicts = {one.name: one.verdict for one in result.sources}
    assert verdicts["fraud-v1"] == "misleads"
    assert "misleads" not in {verdicts[f"hill-{index}"] for index in range(3)}
    assert str(result).count("'fraud-v1' misleads.") == 1


@pytest.mark.usefixtures("few")
def test_the_order_of_experiments_does_not_matter() -> None:
    experiments = [*hills(2, trials=8), old("other", hollow, seed=9, trials=8)]
    results = [
        hb.backtest(order, method=QUICK, repeats=1) for order in itertools.permutations(experiments)
    ]
    assert all(result == results[0] for result in results)


def test_a_plan_does_not_depend_on_order_whatever_the_experiments() -> None:
    experiments = [*hills(7, trials=8), old("up", hill, seed=9, goal=hb.Goal.MAXIMIZE)]
    plans = [
        planned(order, method="auto", top=0.05, repeats=2)
        for order in (experiments, experiments[::-1], experiments[3:] + experiments[:3])
    ]
    keys = [[job.key for case in plan.cases for job in case.jobs] for plan in plans]
    assert keys[0] == keys[1] == keys[2]
    assert plans[0] == plans[1]


def test_a_single_source_is_replayed_once_for_both_questions() -> None:
    plan = planned(hills(2), method="auto", top=0.05, repeats=3)
    for case in plan.cases:
        ((_, alone),) = case.alone.items()
        assert [job.key for job in case.transfer] == [job.key for job in alone]


def test_work_grows_with_the_number_of_experiments_alone() -> None:
    plan = planned(hills(12, trials=60), method="auto", top=0.05, repeats=1)
    for case in plan.cases:
        assert case.budget == 30
        assert sum(len(s.trials) for job in case.transfer for s in job.sources) <= MOST_OLD_TRIALS
    alone = [name for case in plan.cases for name in case.alone]
    assert {alone.count(name) for name in alone} == {MOST_ALONE}
    assert "27 trials of each of 'hill-0'" in " ".join(plan.notes)


def test_what_a_replay_depends_on_is_in_its_key() -> None:
    one, two, three = hills(3, trials=6)
    base = job(one, two)
    others = [
        job(two, two),
        job(one, three),
        job(one),
        job(one, two, method="auto"),
        replace(base, repeat=1),
        replace(base, top=0.1),
        replace(base, budget=3),
        job(with_trials(one, hb.Trial({"x": 0.5, "y": 0.5}, 1.0)), two),
    ]
    assert len({base.key, *(other.key for other in others)}) == 1 + len(others)
    assert job(*hills(2, trials=6)).key == base.key


def test_the_first_good_setting_ends_a_replay() -> None:
    target = hills(1, trials=9)[0]
    assert replace(job(target, method="vanilla"), top=0.5).run().needed <= 4 + 1
    assert replace(job(target, method="vanilla"), budget=1, top=0.0).run().needed in {1, 2}


def test_a_replay_goes_through_failures_and_repeats() -> None:
    spots = [{"x": 0.1 * index, "y": 0.9} for index in range(6)]
    failures = [hb.Trial(spot, state="failed") for spot in spots]
    target = with_trials(old("target-like", hill, seed=4, trials=6), *failures)
    target = with_trials(target, *target.trials)
    replay = job(target, *hills(1)).run()
    assert 1 <= replay.needed <= 12


@pytest.mark.usefixtures("few")
def test_what_cannot_be_replayed_is_skipped_with_the_reason_and_still_a_source() -> None:
    flat = old("flat", lambda _x, _y: 1.0, seed=7)
    alien = hb.Experiment(
        "alien",
        hb.Space(z=hb.Float(0, 1)),
        [hb.Trial({"z": index / 10}, index) for index in range(10)],
        goal="minimize",
    )
    short = old("short", hill, seed=8, trials=5)
    result = hb.backtest([*hills(1), flat, alien, short], method=QUICK, repeats=1)
    assert [case.name for case in result.cases] == ["hill-0"]
    assert set(result.cases[0].alone) == {"flat", "short"}
    assert list(result.skipped) == ["alien", "flat", "short"]
    assert "shares a parameter" in result.skipped["alien"]
    assert "All values" in result.skipped["flat"]
    assert "has 5 different settings" in result.skipped["short"]


@pytest.mark.usefixtures("few")
def test_opposite_goals_are_told_and_understood() -> None:
    up = old("up", hill, seed=3, goal=hb.Goal.MAXIMIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hb.backtest([*hills(1), up], method=QUICK, repeats=1)
    assert result.notes == (
        "The goals of 'hill-0' and 'up' are opposite: what was good in one counts as good in the "
        "other.",
    )
    assert all(case.needed <= 3 for case in result.cases)


def test_values_that_an_experiment_held_are_known_where_a_source_tunes_them() -> None:
    line = hb.Experiment(
        "line",
        hb.Space(x=hb.Float(0, 1)),
        [hb.Trial({"x": index / 10}, hill(index / 10, 0.2)) for index in range(10)],
        goal="minimize",
        fixed={"y": 0.2, "unheard of": 3},
    )
    assert job(line, *hills(1)).run().needed <= 3
    assert job(*hills(1), line).run().needed <= 10


@pytest.mark.usefixtures("few")
def test_noise_is_not_used_and_named() -> None:
    values = iter([0.37 * index**2 % 1 for index in range(40)])
    noise = old("noise", lambda _x, _y: next(values), seed=5, trials=40)
    result = hb.backtest([*hills(1, trials=7), noise], method="auto", repeats=1)
    assert list(result.dropped) == ["noise"]
    assert {one.name: one.verdict for one in result.sources}["noise"] == "not used"


def test_progress_counts_all_replays(few: None) -> None:
    del few
    seen: list[tuple[int, int]] = []
    hb.backtest(
        hills(2, trials=6), method=QUICK, repeats=1, progress=lambda *step: seen.append(step)
    )
    assert seen == [(done, 8) for done in range(9)]


@pytest.mark.parametrize(
    ("experiments", "options", "parts"),
    [
        ([], {}, ("two experiments or more", "none")),
        (hills(1), {}, ("two experiments or more", "only 'hill-0'")),
        (hills(1) * 2, {}, ("two experiments are called 'hill-0'",)),
        ([*hills(1), old("target", hill, seed=1)], {}, ("'target'", "another name")),
        (hills(2, trials=3), {}, ("none of the experiments can be replayed", "6 trials or more")),
        (hills(2), {"method": "vanilla"}, ("'vanilla' does not use sources", "'auto' does")),
        (hills(2), {"method": "best"}, ("method='best' must be one of",)),
        (hills(2), {"method": METHODS["auto"]}, ("must be a name", "Recipe")),
        (hills(2), {"top": 5.0}, ("top=5.0 must be a share from 0 to 0.5",)),
        (hills(2), {"top": True}, ("top=True",)),
        (hills(2), {"repeats": 0}, ("repeats=0 must be a whole number from 1 to 100",)),
        (hills(2), {"workers": 1.5}, ("workers=1.5",)),
    ],
)
def test_what_makes_no_sense_is_refused(
    experiments: list[hb.Experiment], options: dict[str, object], parts: tuple[str, ...]
) -> None:
    with refused(hb.HetboError, *parts):
        hb.backtest(experiments, **options)  # type: ignore[arg-type]


def test_experiments_that_do_not_fit_together_are_named() -> None:
    words = hb.Experiment(
        "words",
        hb.Space(x=hb.Categorical("a", "b"), y=SQUARE["y"]),
        [hb.Trial({"x": "a", "y": index / 10}, index) for index in range(8)],
        goal="minimize",
    )
    with refused(hb.MergeError, "hill-0", "words", "rename"):
        hb.backtest([*hills(1), words])
