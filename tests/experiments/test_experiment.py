import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from helpers import pickled, refused
from hetbo import Categorical, DataError, Experiment, Float, Int, Space, SpaceError, Trial
from hetbo.experiments import GoalName
from hetbo.spaces import Value
from strategies import experiments

SPACE = Space(x=Float(0, 1), depth=Int(1, 9))


def trial(x: float, value: float | None = None, *, state: str | None = None) -> Trial:
    return Trial({"x": x, "depth": 3}, value, state=state)


def experiment(*trials: Trial, goal: GoalName = "minimize", **fixed: Value) -> Experiment:
    return Experiment("runs", SPACE, trials, goal=goal, fixed=fixed)


def exactly(given_: Experiment) -> str:
    """Return all there is to an experiment; unlike ==, it tells 1, 1.0 and True apart."""
    return json.dumps(given_.to_json())


def test_trials_are_stored_as_the_space_stores_them() -> None:
    given_ = experiment(Trial({"depth": np.int64(3), "x": 1}, 0.5))  # type: ignore[dict-item]
    assert repr(dict(given_.trials[0].params)) == "{'x': 1.0, 'depth': 3}"


@pytest.mark.parametrize(
    ("params", "parts"),
    [
        ({"x": 2.0, "depth": 3}, ["runs, trial 2", "'x'", "2.0", "above high=1.0"]),
        ({"x": 0.5}, ["runs, trial 2", "'depth'", "no value"]),
        ({"x": 0.5, "depth": 3, "y": 1}, ["runs, trial 2", "'y'", "unknown parameter"]),
    ],
)
def test_a_trial_that_does_not_fit_is_refused(params: dict[str, Value], parts: list[str]) -> None:
    with refused(DataError, *parts):
        experiment(trial(0.5, 1.0), Trial(params, 1.0))


@pytest.mark.parametrize("name", ["", " ", None])
def test_an_experiment_needs_a_name(name: object) -> None:
    with refused(DataError, "name", repr(name)):
        Experiment(name, SPACE, goal="minimize")  # type: ignore[arg-type]


def test_complete_trials_are_those_with_a_value() -> None:
    given_ = experiment(trial(0.1, 2.0), trial(0.2), trial(0.3, state="failed"), trial(0.4, 1.0))
    assert [t.params["x"] for t in given_.complete] == [0.1, 0.4]


@pytest.mark.parametrize(
    ("goal", "values", "best"),
    [
        ("minimize", [2.0, -1.0, 3.0], -1.0),
        ("maximize", [2.0, -1.0, 3.0], 3.0),
        ("maximize", [-2.0, -1.0], -1.0),
        ("minimize", [0.0, 1.0], 0.0),
        ("minimize", [], None),
    ],
)
def test_the_best_trial_follows_the_goal(
    goal: GoalName, values: list[float], best: float | None
) -> None:
    given_ = experiment(trial(0.9), trial(0.8, state="failed"), *(trial(0.5, v) for v in values))
    found = Experiment("runs", SPACE, given_.trials, goal=goal).best
    assert (None if found is None else found.value) == best


def test_the_first_of_equally_good_trials_is_the_best() -> None:
    assert experiment(trial(0.1, 1.0), trial(0.2, 1.0)).best == trial(0.1, 1.0)


def test_fixed_values_are_plain() -> None:
    given_ = experiment(width=np.int64(3), booster=None)  # type: ignore[arg-type]
    assert repr(dict(given_.fixed)) == "{'width': 3, 'booster': None}"


@pytest.mark.parametrize(
    ("fixed", "parts"),
    [
        ({"x": 0.5}, ["runs", "'x'", "tuned"]),
        ({"w": math.nan}, ["runs", "'w'", "nan"]),
        ({"w": [1]}, ["runs", "'w'", "[1]"]),
        ({"": 1}, ["runs", "''", "name"]),
        ({3: 1}, ["runs", "3", "name"]),
    ],
)
def test_what_cannot_be_fixed_is_refused(fixed: dict[str, Value], parts: list[str]) -> None:
    with refused(DataError, *parts):
        Experiment("runs", SPACE, fixed=fixed, goal="minimize")


def test_the_goal_is_never_guessed(tmp_path: Path) -> None:
    rows = [{"x": 0.1, "loss": 1.0}, {"x": 0.2, "loss": 2.0}]
    path = tmp_path / "runs.csv"
    path.write_text("x,loss\n0.1,1.0\n0.2,2.0\n")
    with pytest.raises(TypeError, match="'goal'"):
        Experiment("runs", SPACE)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'goal'"):
        Experiment.from_records(rows, value="loss")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'goal'"):
        Experiment.from_dataframe(pd.DataFrame(rows), value="loss")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'goal'"):
        Experiment.from_csv(path, value="loss")  # type: ignore[call-arg]


def test_a_misspelt_goal_is_an_error_for_type_checkers_too() -> None:
    with refused(DataError, "'minimise'", "'minimize'", "'maximize'"):
        Experiment("runs", SPACE, goal="minimise")  # type: ignore[arg-type]


def test_an_experiment_is_frozen() -> None:
    given_ = experiment(width=3)
    with pytest.raises(AttributeError):
        given_.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        given_.fixed["width"] = 4  # type: ignore[index]


def test_rename_reaches_space_trials_and_fixed_values() -> None:
    renamed = experiment(trial(0.5, 1.0), w=3).rename({"x": "lr", "w": "width"})
    assert renamed.space.names == ("lr", "depth")
    assert renamed.trials == (Trial({"lr": 0.5, "depth": 3}, 1.0),)
    assert renamed.fixed == {"width": 3}


def test_rename_can_swap_names() -> None:
    assert experiment(w=3).rename({"x": "w", "w": "x"}).fixed == {"x": 3}


def test_rename_refuses_what_would_lose_something() -> None:
    with refused(SpaceError, "'width'", "unknown parameter"):
        experiment().rename({"width": "w"})
    with refused(SpaceError, "two parameters", "'depth'"):
        experiment().rename({"x": "depth"})
    with refused(SpaceError, "two fixed parameters", "'v'"):
        experiment(w=3, v=4).rename({"w": "v"})
    with refused(DataError, "'w'", "tuned"):
        experiment(w=3).rename({"x": "w"})


def test_drop_forgets_a_parameter() -> None:
    dropped = experiment(trial(0.5, 1.0), w=3).drop("x", "w")
    assert dropped == Experiment(
        "runs", Space(depth=Int(1, 9)), [Trial({"depth": 3}, 1.0)], goal="minimize"
    )


def test_drop_refuses_unknown_names_and_to_drop_everything() -> None:
    with refused(SpaceError, "'width'", "unknown parameter"):
        experiment().drop("width")
    with refused(SpaceError, "at least one parameter"):
        experiment().drop("x", "depth")


@given(experiments())
def test_an_experiment_survives_json_copying_and_another_process(given_: Experiment) -> None:
    through_json = Experiment.from_json(json.loads(json.dumps(given_.to_json())))
    for same in (through_json, copy.copy(given_), copy.deepcopy(given_), pickled(given_)):
        assert same == given_
        assert exactly(same) == exactly(given_)


@given(given_=experiments())
def test_a_saved_experiment_is_loaded_exactly(
    tmp_path_factory: pytest.TempPathFactory, given_: Experiment
) -> None:
    path = tmp_path_factory.getbasetemp() / "saved.json"
    given_.save(path)
    assert exactly(Experiment.load(path)) == exactly(given_)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"version": 2}, ["version 1", "not 2"]),
        ({"version": None}, ["version 1", "not None"]),
        ({"format": "hetbo-study"}, ["not a hetbo experiment"]),
        ({"trials": {}}, ["not a hetbo experiment"]),
        ({"name": 3}, ["not a hetbo experiment"]),
        ({"goal": "best"}, ["goal='best'"]),
        ({"space": []}, ["at least one parameter"]),
        ({"trials": [{"params": {}, "state": "failed"}]}, ["trial 1", "'x'", "no value"]),
        ({"trials": [{"params": {"x": [1], "depth": 1}, "state": "failed"}]}, ["trial 1", "[1]"]),
        ({"fixed": {"x": 1}}, ["'x'", "tuned"]),
    ],
)
def test_json_that_describes_no_experiment_is_refused(
    tmp_path: Path, change: dict[str, object], parts: list[str]
) -> None:
    path = tmp_path / "changed.json"
    path.write_text(json.dumps({**experiment().to_json(), **change}), encoding="utf-8")
    with refused(DataError, "changed.json", *parts):
        Experiment.load(path)


@pytest.mark.parametrize("key", experiment().to_json())
def test_json_without_one_of_its_keys_is_refused(key: str) -> None:
    data = experiment().to_json()
    del data[key]
    with refused(DataError, "not a hetbo experiment"):
        Experiment.from_json(data)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b'{"value": ' + b"9" * 10_000 + b"}", id="endless number"),
        pytest.param(pickle.dumps({"format": "hetbo-experiment"}), id="pickle"),
    ],
)
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with refused(DataError, "broken.json", "not a JSON file"):
        Experiment.load(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused(DataError, "missing.json", "No such file"):
        Experiment.load(tmp_path / "missing.json")


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    data = experiment(trial(0.5, 1.0)).to_json()
    data["trials"][0]["value"] = math.nan
    path = tmp_path / "nan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with refused(DataError, "nan.json", "value=nan"):
        Experiment.load(path)


def test_a_dataframe_has_a_row_for_each_trial() -> None:
    space = Space(x=Float(0, 1), kind=Categorical("a", None))
    given_ = Experiment(
        "runs",
        space,
        [Trial({"x": 0.5, "kind": "a"}, 1.0, noise=0.1), Trial({"x": 1, "kind": None})],
        goal="minimize",
    )
    frame = given_.to_dataframe()
    assert list(frame.columns) == ["x", "kind", "value", "noise", "state"]
    assert frame["value"].tolist()[0] == 1.0
    assert frame[["value", "noise"]].isna().to_numpy().tolist() == [[False] * 2, [True] * 2]
    assert frame["state"].tolist() == ["complete", "pending"]


def test_a_dataframe_without_trials_has_all_columns() -> None:
    frame = experiment().to_dataframe()
    assert list(frame.columns) == ["x", "depth", "value", "noise", "state"]
    assert len(frame) == 0


def test_a_dataframe_can_be_read_back() -> None:
    given_ = experiment(trial(0.5, 1.0), trial(0.25, state="failed"))
    frame = given_.to_dataframe()
    again = Experiment.from_dataframe(
        frame, value="value", drop=["noise", "state"], name="runs", space=SPACE, goal="minimize"
    )
    assert again == given_
    pd.testing.assert_frame_equal(again.to_dataframe(), frame)


def test_a_dataframe_with_two_columns_of_one_name_is_refused() -> None:
    clash = Experiment("runs", Space(state=Categorical("on", "off")), goal="minimize")
    with refused(DataError, "runs", "'state'", "rename"):
        clash.to_dataframe()


def test_the_repr_tells_what_there_is() -> None:
    given_ = experiment(trial(0.5, 0.25), trial(0.5, state="failed"), trial(0.1, 3.0), booster="a")
    assert repr(given_) == (
        "Experiment 'runs': minimize, 3 trials (2 complete, 1 failed), best 0.25\n"
        "  x: Float(0.0, 1.0)\n"
        "  depth: Int(1, 9)\n"
        "  booster: fixed at 'a'"
    )
    assert repr(experiment()).startswith("Experiment 'runs': minimize, 0 trials\n")


@pytest.mark.parametrize("text", ["a\nb", "a\0", "\x1b[2J", "a\u2028b", "\udc80"])
def test_control_characters_are_refused(text: str) -> None:
    space = Space(x=Float(0, 1))
    with refused(DataError, "name", repr(text), "control character"):
        Experiment(text, space, goal="minimize")
    with refused(DataError, "old", "name", repr(text), "control character"):
        Experiment("old", space, goal="minimize", fixed={text: 1})
    with refused(DataError, "old", "'y'", repr(text), "control character"):
        Experiment("old", space, goal="minimize", fixed={"y": text})
