"""The sampler in studies of one process."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.exceptions import TrialPruned
from optuna.pruners import HyperbandPruner
from optuna.samplers import RandomSampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study, create_study
from optuna.trial import Trial, TrialState

import hetbo as hb
from helpers import pickled, refused
from hetbo.integrations.optuna._suggester import Suggester
from hetbo.models import GPSurrogate
from hetbo.optuna import TransferSampler

Objective = Callable[[Trial], float]
Direction = Literal["minimize", "maximize"]
SQUARE: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}


def old_objective(trial: Trial) -> float:
    return (trial.suggest_float("x", 0, 1) - 0.7) ** 2


def objective(trial: Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return (x - 0.7) ** 2 + (y - 0.2) ** 2


def old_study(trials: int = 12) -> Study:
    study = create_study(study_name="old", sampler=RandomSampler(seed=0))
    study.optimize(old_objective, n_trials=trials)
    return study


def made(
    sampler: TransferSampler, program: Objective, trials: int, direction: Direction = "minimize"
) -> Study:
    study = create_study(sampler=sampler, direction=direction)
    study.optimize(program, n_trials=trials)
    return study


def tried(study: Study) -> list[dict[str, object]]:
    return [trial.params for trial in study.trials]


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_old_trials_help_from_the_first_trial_on(seed: int) -> None:
    """The first trials stay where the old ones were good; later ones may look elsewhere."""
    old = old_study()
    study = made(TransferSampler([old], seed=seed), objective, 5)
    assert study.trials[0].params["x"] == old.best_params["x"]
    assert all(abs(trial.params["x"] - 0.7) < 0.1 for trial in study.trials)
    assert study.best_value < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_sixth_trial_stays_where_the_old_ones_were_good(seed: int) -> None:
    """With next to nothing left to gain, models without sources would like a corner."""
    study = made(TransferSampler([old_study()], seed=seed), objective, 6)
    assert all(abs(trial.params["x"] - 0.7) < 0.1 for trial in study.trials)
    assert study.best_value < 0.02


def test_with_a_space_the_first_trial_is_suggested_jointly() -> None:
    study = made(TransferSampler([old_study()], space=SQUARE, seed=1), objective, 1)
    assert study.trials[0].system_attrs["hetbo:proposal"] == study.trials[0].params
    assert abs(study.trials[0].params["x"] - 0.7) < 0.35


def test_a_hetbo_space_says_the_same_as_distributions() -> None:
    space = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
    one = made(TransferSampler(space=space, seed=1, method="vanilla"), objective, 7)
    other = made(TransferSampler(space=SQUARE, seed=1, method="vanilla"), objective, 7)
    assert tried(one) == tried(other)


def test_larger_can_be_better() -> None:
    def negated(trial: Trial) -> float:
        return -objective(trial)

    sampler = TransferSampler([old_study()], seed=1)
    with pytest.warns(hb.SourceWarning, match="that of the target is to maximize"):
        study = made(sampler, negated, 6, direction="maximize")
    assert study.best_value > -0.02


@pytest.mark.parametrize("method", ["auto", "vanilla", "random"])
def test_one_seed_gives_one_study(method: str) -> None:
    samplers = [TransferSampler([old_study()], seed=3, method=method) for _ in range(2)]
    one, other = (tried(made(sampler, objective, 4)) for sampler in samplers)
    assert one == other
    assert tried(made(TransferSampler([old_study()], seed=4, method=method), objective, 4)) != one


def test_a_study_goes_on_with_another_sampler_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    whole = made(TransferSampler([old_study()], seed=3), objective, 4)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "s.log")))
    create_study(storage=storage, study_name="s")
    for _ in range(4):
        again = JournalStorage(JournalFileBackend(str(tmp_path / "s.log")))
        sampler = pickled(TransferSampler([old_study()], seed=3))
        study = create_study(storage=again, study_name="s", load_if_exists=True, sampler=sampler)
        study.optimize(objective, n_trials=1)
    assert tried(study) == tried(whole)


def test_sources_can_be_given_in_three_ways(tmp_path: Path) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "s.log")))
    experiment = hb.Experiment.from_optuna(None, old_study())
    experiment.to_optuna(storage, study_name="old")
    sources = (experiment, old_study(), (storage, "old"))
    runs = [made(TransferSampler([source], seed=3), objective, 3) for source in sources]
    assert tried(runs[0]) == tried(runs[1]) == tried(runs[2])


def test_sources_of_one_name_are_told_apart() -> None:
    sampler = TransferSampler([old_study(), old_study(), old_study()], seed=0)
    names = [source.name for program in sampler._suggester.programs for source in program]
    assert names == ["old", "old [2]", "old [3]"]


def test_own_trials_from_before_a_change_are_a_source() -> None:
    study = made(TransferSampler(seed=0, method="random"), old_objective, 10)
    study.sampler = TransferSampler(seed=0)
    study.optimize(objective, n_trials=5)
    assert all(abs(trial.params["x"] - 0.7) < 0.35 for trial in study.trials[11:])
    assert min(trial.value or 0.0 for trial in study.trials[11:]) < 0.05


def test_a_first_trial_that_fails_does_not_break_the_study() -> None:
    def failing(trial: Trial) -> float:
        if trial.number == 0:
            raise ZeroDivisionError
        if trial.number == 1:
            trial.suggest_float("x", 0, 1)
            raise ZeroDivisionError
        return objective(trial)

    study = create_study(sampler=TransferSampler([old_study()], seed=1))
    study.optimize(failing, n_trials=5, catch=ZeroDivisionError)
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.FAIL] * 2 + [TrialState.COMPLETE] * 3
    assert "hetbo:proposal" in study.trials[-1].system_attrs


def test_trials_that_start_together_follow_different_old_trials() -> None:
    old = old_study()
    study = create_study(sampler=TransferSampler([old], seed=1))
    values = [study.ask().suggest_float("x", 0, 1) for _ in range(3)]
    assert values[0] == old.best_params["x"]
    assert len(set(values)) == 3


def test_what_the_range_no_longer_allows_is_not_taken_from_a_source() -> None:
    study = create_study(sampler=TransferSampler([old_study()], seed=1))
    assert 5 <= study.ask().suggest_float("x", 5, 6) <= 6


def test_pending_trials_keep_others_away() -> None:
    study = create_study(sampler=TransferSampler([old_study()], space=SQUARE, seed=1))
    asked = [study.ask(SQUARE) for _ in range(4)]
    points = np.array([[trial.params["x"], trial.params["y"]] for trial in asked])
    distances = np.linalg.norm(points[:, np.newaxis] - points, axis=-1)
    assert distances[np.triu_indices(4, 1)].min() > 0.02


def test_a_proposal_is_published_before_the_objective_asks_for_all_of_it() -> None:
    study = create_study(sampler=TransferSampler(space=SQUARE, seed=1))
    study.ask().suggest_float("x", 0, 1)
    (trial,) = study.trials
    assert trial.params.keys() == {"x"}
    assert trial.system_attrs["hetbo:proposal"].keys() == {"x", "y"}


def test_threads_do_not_repeat_each_other() -> None:
    study = create_study(sampler=TransferSampler([old_study()], seed=1))
    begun = threading.Barrier(2, timeout=60)

    def slow(trial: Trial) -> float:
        value = objective(trial)
        if trial.number < 2:
            begun.wait()
        return value

    study.optimize(slow, n_trials=6, n_jobs=2)
    assert len({repr(params) for params in tried(study)}) == 6
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def test_someone_elses_proposal_during_a_fit_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = TransferSampler([old_study()], space=SQUARE, seed=1)
    study = create_study(sampler=sampler)
    suggest, seen = Suggester.suggest, list[int]()

    def interrupted(*arguments: object, **options: Any) -> object:  # noqa: ANN401
        seen.append(len(options["history"].own))
        if len(seen) == 1:
            monkeypatch.setattr(Suggester, "suggest", suggest)
            monkeypatch.setattr(sampler, "_lock", threading.Lock())
            study.ask(SQUARE)
            monkeypatch.setattr(Suggester, "suggest", interrupted)
        return suggest(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Suggester, "suggest", interrupted)
    study.ask(SQUARE)
    assert seen == [0, 1]


def test_branches_are_suggested_by_themselves_and_the_rest_together() -> None:
    def branching(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if trial.number % 2:
            return x + trial.suggest_float("on a", 0, 1) + (kind == "a")
        return x + trial.suggest_int("on b", 0, 5)

    study = made(TransferSampler(seed=0, method="vanilla"), branching, 8)
    assert study.trials[-1].system_attrs["hetbo:proposal"].keys() == {"x", "kind"}
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def test_an_independent_sampler_can_be_given() -> None:
    class Constant(RandomSampler):
        reseeded = 0

        def sample_independent(self, *_: object) -> float:
            return 0.25

        def reseed_rng(self) -> None:
            self.reseeded += 1

    other = Constant()
    sampler = TransferSampler(independent_sampler=other)
    assert made(sampler, objective, 1).trials[0].params == {"x": 0.25, "y": 0.25}
    sampler.reseed_rng()
    assert other.reseeded == 1


def test_choices_of_all_kinds_are_suggested() -> None:
    choices = [None, True, 2, 2.5, "x", float("nan")]

    def choosing(trial: Trial) -> float:
        return abs(choices.index(trial.suggest_categorical("c", choices)) - 3)

    study = made(TransferSampler(seed=0, method="vanilla"), choosing, 6)
    assert len({repr(params["c"]) for params in tried(study)}) == 6


def test_points_of_a_grid_are_not_repeated() -> None:
    def stepping(trial: Trial) -> float:
        return abs(trial.suggest_float("x", 0, 1, step=0.5) - 0.5) + trial.suggest_int(
            "n", 0, 4, step=2
        )

    study = made(TransferSampler(seed=0, method="vanilla", n_initial=3), stepping, 9)
    assert len({repr(params) for params in tried(study)}) == 9


def test_all_points_of_a_large_grid_differ() -> None:
    def stepping(trial: Trial) -> float:
        return sum(abs(trial.suggest_int(f"n{k}", 0, 40, step=2) - 20) for k in range(3)) / 10

    study = made(TransferSampler(seed=0, method="vanilla", n_initial=3), stepping, 14)
    assert len({repr(params) for params in tried(study)}) == 14


def test_pruned_failed_and_infinite_trials_are_avoided() -> None:
    def crashing(trial: Trial) -> float:
        value = objective(trial)
        if trial.params["x"] < 0.5:
            return value
        if trial.number % 3 == 0:
            raise TrialPruned
        if trial.number % 3 == 1:
            raise ZeroDivisionError
        return float("inf")

    study = create_study(sampler=TransferSampler(seed=0, method="vanilla"))
    study.optimize(crashing, n_trials=20, catch=ZeroDivisionError)
    assert sum(trial.params["x"] < 0.5 for trial in study.trials[10:]) >= 3
    assert study.best_value < 0.08  # the edge is at 0.04


def test_hyperband_works() -> None:
    def stepwise(trial: Trial) -> float:
        value = objective(trial)
        for step in range(3):
            trial.report(value + 1 / (step + 1), step)
            if trial.should_prune():
                raise TrialPruned
        return value

    study = create_study(
        sampler=TransferSampler([old_study()], seed=0, method="random"),
        pruner=HyperbandPruner(max_resource=3),
        study_name="bands",
    )
    study.optimize(stepwise, n_trials=8)
    assert len(study.trials) == 8


def test_several_objectives_are_refused() -> None:
    study = create_study(directions=["minimize", "maximize"], sampler=TransferSampler())
    with refused(hb.OptimizerError, "2 objectives", "NSGAIISampler", "set_constraint"):
        study.ask().suggest_float("x", 0, 1)


def test_a_space_that_the_objective_does_not_follow_is_told() -> None:
    space = {"x": FloatDistribution(0, 2), "y": FloatDistribution(0, 1)}
    sampler = TransferSampler(space=space, seed=0, method="random")
    with pytest.warns(hb.HetboWarning, match="'x' is FloatDistribution.*high=2.0"):
        made(sampler, objective, 1)


def test_options_that_have_no_meaning_are_refused() -> None:
    with refused(hb.OptimizerError, "'best'", "'auto'"):
        TransferSampler(method="best")
    with refused(hb.OptimizerError, "seed=-1"):
        TransferSampler(seed=-1)
    with refused(hb.OptimizerError, "n_initial='3'"):
        TransferSampler(n_initial="3")  # type: ignore[arg-type]
    with refused(hb.DataError, "old.csv", "hb.read_sources('old.csv', value=…, goal=…)"):
        TransferSampler(["old.csv"])
    with refused(hb.OptimizerError, "sources=", "must be a list"):
        TransferSampler(old_study())  # type: ignore[arg-type]
    with refused(hb.OptimizerError, "'x'", "(0, 1)", "distributions"):
        TransferSampler(space={"x": (0, 1)})  # type: ignore[dict-item]
    with refused(hb.MergeError, "'x'", "category"):
        TransferSampler([old_study()], space={"x": CategoricalDistribution(["a", "b"])})
    with pytest.warns(hb.HetboWarning, match="'old' has no complete trial"):
        TransferSampler([old_study(trials=0)])


@pytest.mark.parametrize(
    ("space", "times"), [(None, 1), (hb.Space(kind=hb.Categorical("red", "blue")), 2)]
)
def test_choices_in_another_spelling_are_not_said_at_each_trial(
    space: hb.Space | None, times: int
) -> None:
    """A space that is given is checked when the sampler is made, too."""
    trials = [hb.Trial({"kind": kind}, 1.0) for kind in ("Red", "blue")]
    tuned = hb.Space(kind=hb.Categorical("Red", "blue"))
    old = hb.Experiment("old", tuned, trials, goal="minimize")

    def length(trial: Trial) -> float:
        return len(trial.suggest_categorical("kind", ["red", "blue"]))

    with pytest.warns(hb.HetboWarning) as said:
        made(TransferSampler([old], space=space, method="random", seed=0), length, 4)
    assert len([one for one in said if "'Red' of 'kind' in 'old'" in str(one.message)]) == times


def test_a_long_fit_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    foreseen: list[float] = []

    def seconds_to_fit(*_: object, **__: object) -> float:
        foreseen.append(20.0 * (len(foreseen) + 1))
        return foreseen[-1]

    monkeypatch.setattr("hetbo.methods._long_fits._FEWEST_SLOW", 10)
    monkeypatch.setattr(GPSurrogate, "seconds_to_fit", seconds_to_fit)
    with pytest.warns(hb.HetboWarning) as said:
        made(TransferSampler([old_study()], seed=0, method="common"), objective, 4)
    assert len([one for one in said if "takes about" in str(one.message)]) == 1
    assert len(foreseen) == 1, "the models are built for it: once is enough"


def test_sources_that_may_not_be_meant_are_said_once() -> None:
    elsewhere = hb.Experiment(
        "elsewhere", hb.Space(p=hb.Float(0, 1)), [hb.Trial({"p": 0.1}, 1.0)], goal="minimize"
    )
    against = hb.Experiment(
        "against", hb.Space(x=hb.Float(0, 1)), [hb.Trial({"x": 0.1}, 1.0)], goal="maximize"
    )
    sampler = TransferSampler([elsewhere, against], space=hb.Space(x=hb.Float(0, 1)), seed=0)
    study = create_study(sampler=sampler)
    with pytest.warns(hb.SourceWarning) as said:
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    messages = [str(one.message) for one in said if one.category is hb.SourceWarning]
    assert len(messages) == 2
    assert "'elsewhere' is not used: it shares no parameter" in messages[0]
    assert "'against' was to maximize, that of the target is to minimize" in messages[1]
