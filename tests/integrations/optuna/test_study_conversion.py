"""Experiments as Optuna studies, and back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.exceptions import TrialPruned
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study, create_study
from optuna.trial import Trial as OptunaTrial
from optuna.trial import TrialState as OptunaState
from optuna.trial import create_trial

import hetbo as hb
from helpers import refused
from hetbo.integrations.optuna._studies import experiments_in
from hetbo.spaces import Value
from strategies import experiments

X = FloatDistribution(0, 1)
CHOICES: tuple[Value, ...] = (None, True, 1, 0.5, "1", "True", False, "ü\u202e")


def written(experiment: hb.Experiment) -> str:
    """Return an experiment as a text, since Python calls 1, 1.0 and True equal."""
    return json.dumps(experiment.to_json())


def study_of(*trials: tuple[dict[str, object], dict[str, BaseDistribution], float]) -> Study:
    study = create_study(study_name="old")
    for params, distributions, value in trials:
        study.add_trial(create_trial(params=params, distributions=distributions, value=value))
    return study


@pytest.fixture(params=["memory", "sqlite", "journal"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStorage]:
    match request.param:
        case "memory":
            yield InMemoryStorage()
        case "journal":
            yield JournalStorage(JournalFileBackend(str(tmp_path / "study.log")))
        case _:
            database = RDBStorage(f"sqlite:///{tmp_path / 'study.db'}")
            yield database
            database.remove_session()
            database.engine.dispose()


@given(experiments())
def test_an_experiment_comes_back_exactly(experiment: hb.Experiment) -> None:
    study = experiment.to_optuna(None)
    assert written(hb.Experiment.from_optuna(None, study)) == written(experiment)


@settings(max_examples=10)
@given(several=st.lists(experiments(), min_size=1, max_size=3))
def test_an_experiment_comes_back_exactly_from_a_file(
    several: list[hb.Experiment], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "studies.log"
    for number, experiment in enumerate(several):
        storage = JournalStorage(JournalFileBackend(str(path)))
        experiment.to_optuna(storage, study_name=f"study {number}")
    for number, experiment in enumerate(several):
        storage = JournalStorage(JournalFileBackend(str(path)))
        read = hb.Experiment.from_optuna(storage, f"study {number}")
        assert written(read) == written(experiment)


def test_every_kind_of_value_survives_every_storage(storage: BaseStorage) -> None:
    space = hb.Space.from_mapping(
        {
            "größe": hb.Float(1e-300, 0.1, log=True),
            "n": hb.Int(-(2**53), 2**53),
            "choice": hb.Categorical(*CHOICES),
            "one": hb.Categorical("only"),
        }
    )
    params: dict[str, Value] = {"größe": 0.1 / 3, "n": 2**53 - 1, "choice": None, "one": "only"}
    trials = [
        hb.Trial({**params, "choice": choice}, 0.1 + 0.2, noise=number / 7)
        for number, choice in enumerate(CHOICES)
    ]
    trials += [hb.Trial(params, state="failed"), hb.Trial(params), hb.Trial(params, -1e-300)]
    known: dict[str, Value] = {"a": 1, "b": True, "c": None, "d": "x", "e": 0.1}
    experiment = hb.Experiment("last year", space, trials, goal="maximize", fixed=known)
    study = experiment.to_optuna(storage, study_name="s")
    assert written(hb.Experiment.from_optuna(storage, "s")) == written(experiment)
    assert study.direction.name == "MAXIMIZE"
    assert study.best_value == pytest.approx(0.3)


def test_a_pending_trial_can_be_told_in_optuna() -> None:
    experiment = hb.Experiment(
        "e", hb.Space(x=hb.Float(0, 1)), [hb.Trial({"x": 0.5})], goal="minimize"
    )
    study = experiment.to_optuna(None)
    study.tell(0, 2.0)
    assert hb.Experiment.from_optuna(None, study).trials == (hb.Trial({"x": 0.5}, 2.0),)


def test_a_written_study_that_went_on_elsewhere_is_read_as_it_is_now() -> None:
    experiment = hb.Experiment(
        "e", hb.Space(x=hb.Float(0, 1)), [hb.Trial({"x": 0.5}, 1.0)], goal="minimize"
    )
    study = experiment.to_optuna(None)
    wider = FloatDistribution(0, 2)
    study.add_trial(create_trial(params={"x": 1.5}, distributions={"x": wider}, value=0.0))
    assert hb.Experiment.from_optuna(None, study).space == hb.Space(x=hb.Float(0, 2))


def test_the_states_of_a_plain_study() -> None:
    study = create_study(study_name="old", direction="maximize")

    def objective(trial: OptunaTrial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 1:
            trial.report(x, 1)
            raise TrialPruned
        if trial.number == 2:
            raise ZeroDivisionError
        return float("inf") if trial.number == 3 else float("nan") if trial.number == 4 else 7.0

    study.optimize(objective, n_trials=5, catch=ZeroDivisionError)
    study.ask({"x": X})
    study.enqueue_trial({"x": 0.5})
    read = hb.Experiment.from_optuna(None, study)
    states = [trial.state.value for trial in read.trials]
    assert states == ["complete", "failed", "failed", "failed", "failed", "pending"]
    assert read.goal is hb.Goal.MAXIMIZE
    assert read.name == "old"


def test_names_fixed_values_and_noise_can_be_given() -> None:
    study = create_study()
    study.add_trial(
        create_trial(params={"x": 0.5}, distributions={"x": X}, value=1, user_attrs={"sd": 0.1})
    )
    read = hb.Experiment.from_optuna(None, study, name="mine", fixed={"depth": 6}, noise="sd")
    assert read.name == "mine"
    assert read.fixed == {"depth": 6}
    assert read.trials == (hb.Trial({"x": 0.5}, 1.0, noise=0.1),)


def test_ranges_become_their_hull_and_single_values_fixed() -> None:
    steps, more = IntDistribution(0, 8, step=4), IntDistribution(10, 20)
    single = IntDistribution(3, 3)
    category = CategoricalDistribution(["a"])
    study = study_of(
        ({"x": 0.5, "n": 4, "s": 3, "c": "a"}, {"x": X, "n": steps, "s": single, "c": category}, 1),
        (
            {"x": 5.0, "n": 20, "s": 3, "c": "a"},
            {
                "x": FloatDistribution(2, 5),
                "n": more,
                "s": single,
                "c": category,
            },
            2,
        ),
    )
    read = hb.Experiment.from_optuna(None, study)
    assert read.space == hb.Space(x=hb.Float(0, 5), n=hb.Int(0, 20))
    assert read.fixed == {"s": 3, "c": "a"}


@pytest.mark.filterwarnings("ignore:Fixed parameter x:UserWarning")  # Optuna's, which is right
def test_a_value_that_was_enqueued_outside_of_its_range_widens_it() -> None:
    study = create_study()
    study.enqueue_trial({"x": 3.0})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    assert hb.Experiment.from_optuna(None, study).space == hb.Space(x=hb.Float(0, 3))


def test_one_of_several_spaces_is_chosen_by_its_parameters() -> None:
    study = study_of(
        ({"x": 0.5}, {"x": X}, 1.0),
        ({"x": 0.1, "y": 0.2}, {"x": X, "y": X}, 2.0),
        ({"x": 0.3}, {"x": X}, 3.0),
    )
    with refused(hb.DataError, "old", "2 different sets", "params=", "['x', 'y']"):
        hb.Experiment.from_optuna(None, study)
    read = hb.Experiment.from_optuna(None, study, params=["x"])
    assert [trial.value for trial in read.trials] == [1.0, 3.0]
    with refused(hb.DataError, "old", "'z'"):
        hb.Experiment.from_optuna(None, study, params=["z"])


def test_trials_that_stopped_too_early_are_left_out_with_a_warning() -> None:
    study = study_of(({"x": 0.5, "y": 0.5}, {"x": X, "y": X}, 1.0))
    failed = OptunaState.FAIL
    study.add_trial(create_trial(params={"x": 0.5}, distributions={"x": X}, state=failed))
    with pytest.warns(hb.DataWarning, match="old: 1 trials that stopped"):
        read = hb.Experiment.from_optuna(None, study)
    assert len(read.trials) == 1


def test_what_cannot_be_read_or_written_is_refused(tmp_path: Path) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "s.log")))
    study = create_study(storage=storage, study_name="empty")
    with refused(hb.DataError, "'nope'", "'empty'"):
        hb.Experiment.from_optuna(storage, "nope")
    with refused(hb.DataError, "'empty'", "storage=None"):
        hb.Experiment.from_optuna(None, "empty")
    with refused(hb.DataError, "storage=None"):
        hb.Experiment.from_optuna(storage, study)
    with refused(hb.DataError, "empty", "no trials"):
        hb.Experiment.from_optuna(storage, "empty")
    with refused(hb.DataError, "2 objectives"):
        hb.Experiment.from_optuna(None, create_study(directions=["minimize", "maximize"]))
    missing = tmp_path / "missing.db"
    with refused(hb.DataError, "no file", "missing.db"):
        hb.Experiment.from_optuna(f"sqlite:///{missing}", "s")
    assert not missing.exists()
    with refused(hb.DataError, "'old.db'", "not the URL"):
        hb.Experiment.from_optuna("old.db", "s")
    (tmp_path / "text.db").write_text("no database " * 100)
    with refused(hb.DataError, "cannot open", "text.db"):
        hb.Experiment.from_optuna(f"sqlite:///{tmp_path / 'text.db'}", "s")
    experiment = hb.Experiment("empty", hb.Space(x=hb.Float(0, 1)), goal="minimize")
    with refused(hb.DataError, "'empty'", "study_name="):
        experiment.to_optuna(storage)


def test_control_characters_of_a_study_are_escaped() -> None:
    study = create_study(study_name="two\nlines")
    for choice in ("a\nb", "c"):
        study.add_trial(
            create_trial(
                params={"x": choice, "only": "d\ne"},
                distributions={
                    "x": CategoricalDistribution(["a\nb", "c"]),
                    "only": CategoricalDistribution(["d\ne"]),
                },
                value=1.0,
            )
        )
    read = hb.Experiment.from_optuna(None, study)
    assert read.name == "two\\nlines"
    assert read.space == hb.Space(x=hb.Categorical("'a\\nb'", "c"))
    assert read.fixed == {"only": "'d\\ne'"}
    assert [trial.params["x"] for trial in read.trials] == ["'a\\nb'", "c"]
    assert [experiment.name for experiment in experiments_in(study)] == ["two\\nlines"]


@pytest.mark.parametrize("missing", [None, 2])
def test_a_database_holds_what_optuna_itself_would_have_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int | None
) -> None:
    space = hb.Space(
        x=hb.Float(0, 1), n=hb.Int(1, 8, log=True), c=hb.Categorical(*CHOICES[:1], *CHOICES[3:5])
    )
    params: list[dict[str, Value]] = [
        {"x": 0.25, "n": 3, "c": None},
        {"x": 1.0, "n": 8, "c": 0.5},
        {"x": 0.5, "n": 1, "c": "1"},
    ]
    trials = [
        hb.Trial(params[0], -1.5, noise=0.25),
        hb.Trial(params[1], state="failed"),
        hb.Trial(params[2]),
        hb.Trial(params[2], 1.7976931348623157e308),
    ]
    experiment = hb.Experiment("old", space, trials[:missing], goal="maximize")
    whole, one_by_one = (f"sqlite:///{tmp_path}/{name}.db" for name in ("whole", "one"))
    first = experiment.to_optuna(whole)
    with monkeypatch.context() as patch:
        patch.setattr("hetbo.integrations.optuna._database_rows._KNOWN_SCHEMA", -1)
        second = experiment.to_optuna(one_by_one)
        slow = hb.Experiment.from_optuna(whole, "old")
    for ours, theirs in zip(first.get_trials(), second.get_trials(), strict=True):
        assert ours.datetime_start is not None
        for name in ("number", "state", "values", "params", "distributions", "user_attrs"):
            assert getattr(ours, name) == getattr(theirs, name)
        finished = ours.state.is_finished()
        assert (ours.datetime_complete is not None) is finished
        assert (theirs.datetime_complete is not None) is finished
        assert theirs.datetime_start is not None
        assert abs((ours.datetime_start - theirs.datetime_start).total_seconds()) < 60
    assert slow == hb.Experiment.from_optuna(whole, "old") == experiment
    assert first.ask().number == len(experiment.trials)  # it can be gone on with
    with refused(hb.DataError, "'old'", "already"):
        experiment.to_optuna(whole)


def test_a_study_that_would_fill_the_disk_is_refused(tmp_path: Path) -> None:
    choices = [f"c{n}" for n in range(50_000)]
    trials = [hb.Trial({"k": choice}, 1.0) for choice in choices]
    space = hb.Space(k=hb.Categorical(*choices))
    experiment = hb.Experiment("old", space, trials, goal="minimize")
    with refused(hb.DataError, "old", "GB", "group the 50,000 choices of 'k'", "leave it out"):
        experiment.to_optuna(f"sqlite:///{tmp_path}/study.db")
    fewer = hb.Experiment("old", space, trials[:20], goal="minimize")
    assert hb.Experiment.from_optuna(None, fewer.to_optuna(None)) == fewer
