"""Sources that may not be meant as they are, and what is no source at all."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from hetbo import (
    DataError,
    Experiment,
    Float,
    HetboWarning,
    JointSpace,
    Optimizer,
    OptimizerError,
    SourceWarning,
    Space,
    Trial,
)
from hetbo.encoding import Dataset
from hetbo.experiments import Goal
from hetbo.joint._notes import notes_on
from hetbo.methods import METHODS
from hetbo.models import GPSurrogate, TargetGP, fit
from hetbo.models._fit import seconds_to_fit

SPACE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))
ELSEWHERE = Space(p=Float(0.0, 1.0), q=Float(0.0, 1.0))


def experiment(
    name: str, space: Space, *, goal: Goal = Goal.MINIMIZE, count: int = 12, **fixed: float
) -> Experiment:
    rng = np.random.default_rng(1)
    trials = [
        Trial(dict(zip(space, point, strict=True)), float(point[0]))
        for point in rng.random((count, len(space))).tolist()
    ]
    return Experiment(name, space, trials, goal=goal, fixed=fixed)


@pytest.mark.filterwarnings("ignore::hetbo.SourceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_source_that_shares_no_parameter_changes_nothing(method: str) -> None:
    def params(sources: list[Experiment]) -> list[object]:
        tuner = Optimizer(
            SPACE, sources=sources, goal="minimize", method=method, seed=1, n_initial=2
        )
        for x in (0.1, 0.8, 0.4):
            tuner.tell({"x": x, "y": 1 - x}, x)
        return [dict(tuner.ask().params)]

    elsewhere = experiment("elsewhere", ELSEWHERE)
    found, expected = params([elsewhere]), params([])
    if method in {"auto", "vanilla", "random"}:
        assert found == expected
    told = Optimizer(SPACE, sources=[elsewhere], goal="minimize", method=method, seed=1)
    told.tell({"x": 0.3, "y": 0.4}, 0.3)
    explanation = told.explain()
    assert explanation.sources.get("elsewhere", 0.0) == 0.0
    assert "elsewhere" not in explanation.correlations
    if METHODS[method].members:
        assert "'elsewhere' is not used: it shares no parameter" in explanation.sentence
        assert list(explanation.dropped_sources) == ["elsewhere"]


def test_it_is_said_when_it_is_given() -> None:
    with pytest.warns(SourceWarning, match="'elsewhere' is not used: it shares no parameter"):
        Optimizer(SPACE, sources=[experiment("elsewhere", ELSEWHERE)], goal="minimize")


def test_a_good_source_beside_it_is_used_as_if_it_were_alone() -> None:
    good = experiment("good", SPACE)
    with pytest.warns(SourceWarning, match="elsewhere"):
        both = Optimizer(
            SPACE, sources=[good, experiment("elsewhere", ELSEWHERE)], goal="minimize", seed=2
        )
    both.tell({"x": 0.5, "y": 0.5}, 0.5)
    explanation = both.explain()
    assert explanation.sources["good"] > 0.3
    assert explanation.sources["elsewhere"] == 0.0


def test_a_known_fixed_value_is_something_shared() -> None:
    source = experiment("fixed", ELSEWHERE, x=0.3)
    with pytest.warns(SourceWarning, match="'fixed' tuned no parameter that is tuned now"):
        optimizer = Optimizer(SPACE, sources=[source], goal="minimize")
    assert not optimizer.engine.dropped_sources


def test_opposite_goals_are_said() -> None:
    source = experiment("yields", SPACE, goal=Goal.MAXIMIZE)
    said = "The goal of 'yields' was to maximize, that of the target is to minimize"
    with pytest.warns(SourceWarning, match=said):
        optimizer = Optimizer(SPACE, sources=[source], goal="minimize", seed=0)
    assert said in optimizer.explain().sentence


def test_without_a_goal_opposite_sources_are_said() -> None:
    up, down = experiment("up", SPACE, goal=Goal.MAXIMIZE), experiment("down", SPACE)
    (note,) = notes_on(SPACE, None, {}, [up, down])
    assert note.startswith("The goals of 'up' and 'down' are opposite")
    assert notes_on(SPACE, None, {}, [up]) == []


@pytest.mark.parametrize(
    ("sources", "parts"),
    [
        (experiment("old", SPACE), ["sources=['old']", "list"]),
        ([{"x": 1.0, "loss": 2.0}], ["{'x': 1.0, 'loss': 2.0}", "Experiment.from_records"]),
        (3, ["sources=3", "list"]),
    ],
)
def test_what_is_no_source_is_refused(sources: object, parts: list[str]) -> None:
    with refused(OptimizerError, *parts):
        Optimizer(SPACE, sources=sources, goal="minimize")  # type: ignore[arg-type]


def test_the_goal_is_never_guessed() -> None:
    with pytest.raises(TypeError, match="'goal'"):
        Optimizer(SPACE)  # type: ignore[call-arg]
    with refused(DataError, "'maximise'", "'maximize'"):
        Optimizer(SPACE, goal="maximise")  # type: ignore[arg-type]


def test_a_long_fit_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetbo.methods._long_fits._FEWEST_SLOW", 10)
    monkeypatch.setattr(GPSurrogate, "seconds_to_fit", lambda *_, **__: 200.0)
    tuner = Optimizer(SPACE, sources=[experiment("old", SPACE)], goal="minimize", seed=0)
    with pytest.warns(HetboWarning, match=r"12 trials takes about 7 min.* give fewer old trials"):
        tuner.tell(tuner.ask(), 1.0)
    tuner.ask()


def test_the_time_of_a_fit_is_foreseen() -> None:
    rng = np.random.default_rng(0)
    trials = [Trial({"x": x, "y": y}, x + y * y) for x, y in rng.random((200, 2)).tolist()]
    model = TargetGP(Dataset.build(JointSpace.merge(SPACE), trials, goal="minimize"))
    foreseen = seconds_to_fit(model, starts=4)
    report = fit(model, starts=4).fit_report
    assert report is not None
    # The machine is shared: an order of magnitude is what can be promised.
    assert 0.1 < foreseen / report.seconds < 10


def test_places_that_say_their_own_goals_are_sources(tmp_path: Path) -> None:
    trials = [Trial({"x": 0.1 * k, "y": 0.2}, 0.3 * k) for k in range(4)]
    old = Experiment("old", SPACE, trials, goal="maximize")
    old.save(tmp_path / "old.json")
    (tmp_path / "runs.csv").write_text("x,y,loss\n0.1,0.2,3\n0.2,0.3,4\n", encoding="utf-8")

    def names(sources: Iterable[Experiment | str | Path] | str | Path) -> list[str]:
        optimizer = Optimizer(SPACE, sources=sources, goal="maximize", seed=0)
        return [source.name for source in optimizer.engine.joint.sources]

    for place in (tmp_path / "old.json", str(tmp_path / "*.json")):
        assert names(place) == names([place]) == ["old"]
        assert names([old, place]) == ["old", "old [2]"]
    table = str(tmp_path / "runs.csv")
    call = f"hb.read_sources({table!r}, value=…, goal=…)"
    several: list[list[Experiment | str | Path]] = [[table], [old, tmp_path / "runs.csv"]]
    for sources in (table, *several):
        with refused(DataError, "runs.csv", call):
            names(sources)
    with refused(DataError, "old.csv", "No such file"):
        names("old.csv")
    with refused(OptimizerError, "sources={'a': 1}", "must be a list"):
        names({"a": 1})
