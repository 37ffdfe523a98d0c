"""Studies with branches, suggested with the help of old ones."""

import logging
from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, create_study
from optuna.trial import Trial, TrialState

from helpers import pickled
from hetbo.optuna import TransferSampler


def program(trial: Trial, *, most_trees: int = 10) -> float:
    """The SVC is best, at gain 0.8 and width 0.3; the forest reaches 0.3 less."""
    rate = trial.suggest_float("rate", 0, 1)
    off = (rate - 0.5) ** 2
    if trial.suggest_categorical("kind", ["forest", "svc"]) == "svc":
        gain, width = trial.suggest_float("gain", 0, 1), trial.suggest_float("width", 0, 1)
        return off + (gain - 0.8) ** 2 + (width - 0.3) ** 2
    return 0.3 + off + ((trial.suggest_int("trees", 1, most_trees) - 4) / 10) ** 2


def extended(trial: Trial) -> float:
    value = program(trial, most_trees=15)
    return value + (trial.suggest_float("shift", 0, 1) / 10 if "gain" in trial.params else 0.0)


@pytest.fixture(scope="module")
def old() -> Study:
    study = create_study(study_name="old", sampler=RandomSampler(seed=3))
    study.optimize(program, n_trials=24)
    return study


def made(sampler: BaseSampler, objective: Callable[[Trial], float], trials: int) -> Study:
    study = create_study(sampler=sampler)
    study.optimize(objective, n_trials=trials)
    return study


def tried(study: Study) -> list[dict[str, object]]:
    return [trial.params for trial in study.trials]


def best_first(study: Study) -> list[dict[str, object]]:
    return [trial.params for trial in sorted(study.trials, key=lambda t: t.value or 0.0)]


def test_the_first_trial_has_the_best_old_ones_branch_and_values(old: Study) -> None:
    assert old.trials[0].params["kind"] == "forest"  # which is the first source
    study = made(TransferSampler([old], seed=1), extended, 1)
    assert old.best_params["kind"] == "svc"
    assert {**study.trials[0].params, "shift": 0} == {**old.best_params, "shift": 0}


def test_trials_that_start_together_follow_the_best_old_ones_of_all_branches(old: Study) -> None:
    study = create_study(sampler=TransferSampler([old], seed=1))
    for trial in [study.ask() for _ in range(6)]:
        program(trial)
    assert tried(study) == best_first(old)[:6]
    assert {params["kind"] for params in tried(study)} == {"forest", "svc"}


def test_a_choice_that_is_gone_is_not_followed(old: Study) -> None:
    study = create_study(sampler=TransferSampler([old], seed=1))
    trial = study.ask()
    assert trial.suggest_categorical("kind", ["forest", "boosting"]) == "forest"
    forest = [params for params in best_first(old) if params["kind"] == "forest"]
    assert trial.suggest_int("trees", 1, 10) == forest[0]["trees"]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_branch_is_suggested_with_its_old_runs(old: Study, seed: int) -> None:
    study = made(TransferSampler([old], seed=seed), extended, 6)
    svc = [trial.params for trial in study.trials if trial.params["kind"] == "svc"]
    assert len(svc) >= 4
    assert all(abs(p["gain"] - 0.8) < 0.3 and abs(p["width"] - 0.3) < 0.3 for p in svc)
    assert all(
        "shift" in t.system_attrs["hetbo:proposal"] for t in study.trials[1:] if "gain" in t.params
    )
    assert study.best_value < 0.02


def test_the_better_branch_is_found_when_the_old_runs_hide_it() -> None:
    def unlike(trial: Trial) -> float:
        return program(trial) + (0.5 if trial.params["kind"] == "svc" else 0.0)

    past = create_study(sampler=RandomSampler(seed=3))
    past.optimize(unlike, n_trials=24)
    study = made(TransferSampler([past], seed=1), program, 12)
    assert study.trials[0].params["kind"] == "forest"
    assert study.best_params["kind"] == "svc"


def test_without_old_runs_each_branch_gets_its_first_trials() -> None:
    study = made(TransferSampler(seed=0, n_initial=3), program, 11)
    kinds = [trial.params["kind"] for trial in study.trials]
    assert min(kinds[:9].count(kind) for kind in ("svc", "forest")) >= 3
    assert study.best_params["kind"] == "svc"


def test_a_branch_that_was_enqueued_is_suggested_when_it_is_asked_for(old: Study) -> None:
    study = made(TransferSampler([old], seed=1), program, 2)
    study.enqueue_trial({"kind": "forest", "rate": 0.5})
    study.optimize(program, n_trials=1)
    last = study.trials[-1]
    assert last.system_attrs["hetbo:proposal"] == last.params
    assert abs(last.params["trees"] - 4) <= 3


def test_a_range_that_moved_is_heeded_in_a_branch_that_only_old_runs_know(old: Study) -> None:
    def moved(trial: Trial) -> float:
        if trial.suggest_categorical("kind", ["forest", "svc"]) == "svc":
            return trial.suggest_float("gain", 0, 1)
        return trial.suggest_int("trees", 20, 40) / 10

    study = made(TransferSampler([old], seed=1), moved, 1)
    assert study.trials[0].params["kind"] == "svc"
    study.enqueue_trial({"kind": "forest"})
    study.optimize(moved, n_trials=1)
    last = study.trials[-1]
    assert 20 <= last.params["trees"] <= 40
    assert last.system_attrs["hetbo:proposal"]["trees"] == last.params["trees"]


def test_the_log_says_once_what_is_suggested_how(
    old: Study, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="optuna"):
        made(TransferSampler([old], seed=1), extended, 4)
    told = [r.getMessage() for r in caplog.records if r.name.startswith("optuna.hetbo")]
    assert told == [
        "'shift' is not known in this branch yet; it is sampled by TPE",
        "The parameters of 2 branches (kind=svc: gain, width, shift; kind=forest: trees) are "
        "suggested with the old runs; not known there: 'shift'",
    ]


def test_branches_that_nothing_tells_apart_are_told(caplog: pytest.LogCaptureFixture) -> None:
    def hidden(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + (trial.suggest_float("y", 0, 1) if trial.number % 2 else 0.0)

    with caplog.at_level(logging.INFO, logger="optuna"):
        made(TransferSampler(seed=1, n_initial=9), hidden, 6)
    told = [r.getMessage() for r in caplog.records if r.name.startswith("optuna.hetbo")]
    assert [message.split(":")[0] for message in told] == ["'y'"]


def test_one_seed_gives_one_study_whoever_goes_on_with_it(old: Study) -> None:
    whole = made(TransferSampler([old], seed=3), extended, 5)
    study = create_study()
    for _ in range(5):
        study.sampler = pickled(TransferSampler([old], seed=3))
        study.optimize(extended, n_trials=1)
    assert tried(study) == tried(whole)


def test_what_others_try_in_a_branch_is_pending(old: Study) -> None:
    study = made(TransferSampler([old], seed=1), program, 1)
    running = [study.ask() for _ in range(3)]
    for trial in running:
        trial.suggest_float("rate", 0, 1)
    proposals = [t.system_attrs["hetbo:proposal"] for t in study.trials[1:]]
    assert all(("gain" in one) == (one["kind"] == "svc") for one in proposals)
    assert len({repr(one) for one in proposals}) == 3
    for trial, proposal in zip(running, proposals, strict=True):
        program(trial)
        assert trial.params == proposal


def test_threads_do_not_repeat_each_other_in_branches(old: Study) -> None:
    study = create_study(sampler=TransferSampler([old], seed=1))
    study.optimize(program, n_trials=6, n_jobs=2)
    assert len({repr(params) for params in tried(study)}) == 6


def test_trials_that_fail_and_break_constraints_are_avoided_in_their_branch(old: Study) -> None:
    def crashing(trial: Trial) -> float:
        value = program(trial)
        if trial.params.get("gain", 0) > 0.7:
            raise ZeroDivisionError
        trial.set_constraint("width", trial.params.get("width", 1) * -1 + 0.4)
        return value

    study = create_study(sampler=TransferSampler([old], seed=1))
    study.optimize(crashing, n_trials=12, catch=ZeroDivisionError)
    late = study.trials[8:]
    assert sum(trial.state is TrialState.FAIL for trial in late) <= 2
    kept = [t for t in late if t.state is TrialState.COMPLETE and t.constraints["width"] <= 0]
    assert kept
    assert min(trial.value or 0.0 for trial in kept) < 0.06


def test_points_of_a_branchs_grid_are_not_repeated() -> None:
    def stepping(trial: Trial) -> float:
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return trial.suggest_float("x", 0, 1, step=0.25)
        return 0.3 + trial.suggest_int("n", 0, 6, step=3)

    study = made(TransferSampler(seed=0, n_initial=2), stepping, 8)
    assert len({repr(params) for params in tried(study)}) == 8


def test_a_branch_without_parameters_is_tried_once() -> None:
    def plain(trial: Trial) -> float:
        if trial.suggest_categorical("kind", ["none", "some"]) == "none":
            return 0.1
        return trial.suggest_float("x", 0.2, 1)

    past = made(RandomSampler(seed=0), plain, 10)
    study = create_study(sampler=TransferSampler([past], seed=0))
    study.enqueue_trial({"kind": "some"})
    study.optimize(plain, n_trials=6)
    assert [trial.params["kind"] for trial in study.trials].count("none") == 1
