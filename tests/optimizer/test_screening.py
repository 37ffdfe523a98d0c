"""Sources whose own values look like noise, and what becomes of them."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import hetbo as hb
from hetbo.experiments import TrialState
from hetbo.methods._screening import is_noise
from hetbo.spaces import Value

pytestmark = pytest.mark.filterwarnings("ignore:.*look like noise")

OLD = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1), kind=hb.Categorical("a", "b"))
NEW = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1), z=hb.Float(0, 1))


def bowl(params: Mapping[str, Value]) -> float:
    x, y = params["x"], params["y"]
    assert isinstance(x, float)
    assert isinstance(y, float)
    return (x - 0.7) ** 2 + (y - 0.3) ** 2 + 0.2 * (params.get("kind") == "b")


def experiment(
    seed: int, *, count: int = 30, name: str = "old", goal: hb.Goal = hb.Goal.MINIMIZE
) -> hb.Experiment:
    rng = np.random.default_rng(seed)
    trials = []
    for x, y, kind in rng.random((count, 3)).tolist():
        params: dict[str, Value] = {"x": x, "y": y, "kind": "a" if kind < 0.5 else "b"}
        trials.append(hb.Trial(params, bowl(params) * -goal.sign + 0.01 * rng.standard_normal()))
    return hb.Experiment(name, OLD, trials, goal=goal)


def values_of(source: hb.Experiment) -> list[float]:
    return [t.value for t in source.complete if t.value is not None]


def shuffled(source: hb.Experiment, seed: int) -> hb.Experiment:
    values = np.random.default_rng(seed).permutation(values_of(source)).tolist()
    trials = [replace(t, value=v) for t, v in zip(source.trials, values, strict=True)]
    return hb.Experiment(source.name, source.space, trials, goal=source.goal)


def test_a_shape_is_told_from_noise() -> None:
    sources = [experiment(seed) for seed in range(8)]
    assert not any(map(is_noise, sources))
    assert sum(is_noise(shuffled(source, 1)) for source in sources) >= 7


def test_the_goal_does_not_matter() -> None:
    source = experiment(1, goal=hb.Goal.MAXIMIZE)
    assert not is_noise(source)
    assert is_noise(shuffled(source, 1))


def test_who_is_left_out_is_said_once() -> None:
    noise = shuffled(experiment(5, name="mixed up"), 1)
    with pytest.warns(hb.HetboWarning, match="'mixed up' is not used: its values look like noise"):
        assert is_noise(noise)
    assert is_noise(noise)


def test_each_of_many_sources_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []

    def has_a_shape(*source: object) -> bool:
        judged.append(source)
        return False

    monkeypatch.setattr("hetbo.methods._screening._FEWEST", 1)
    monkeypatch.setattr("hetbo.methods._screening._ranks_like_chance", has_a_shape)
    sources = [experiment(7, count=2, name=f"old {i}") for i in range(200)]
    for _ in range(2):
        assert not any(map(is_noise, sources))
    assert len(judged) == 200


def test_a_weak_shape_needs_more_trials() -> None:
    def noisy(seed: int, count: int) -> hb.Experiment:
        source = experiment(seed, count=count)
        values = values_of(source) + 0.3 * np.random.default_rng(50 + seed).standard_normal(count)
        trials = [replace(t, value=v) for t, v in zip(source.trials, values, strict=True)]
        return hb.Experiment("old", OLD, trials, goal="minimize")

    assert any(is_noise(noisy(seed, 30)) for seed in (2, 3))
    assert not any(is_noise(noisy(seed, 100)) for seed in (2, 3))


def test_few_trials_cannot_be_judged() -> None:
    assert not is_noise(shuffled(experiment(0, count=29), 1))


def test_trials_without_a_value_do_not_count() -> None:
    source = shuffled(experiment(0), 1)
    failed = [hb.Trial(t.params, state=TrialState.FAILED) for t in source.trials[:11]]
    assert is_noise(source)
    assert not is_noise(hb.Experiment("old", OLD, [*failed, *source.trials[11:]], goal="minimize"))


def test_one_value_throughout_is_no_noise() -> None:
    trials = [replace(t, value=1.0) for t in experiment(0).trials]
    assert not is_noise(hb.Experiment("old", OLD, trials, goal="minimize"))


def suggestions(method: str, sources: list[hb.Experiment], trials: int) -> list[object]:
    optimizer = hb.Optimizer(NEW, sources=sources, method=method, seed=3, goal="minimize")
    found: list[object] = []
    for _ in range(trials):
        suggestion = optimizer.ask()
        found.append(suggestion.params)
        optimizer.tell(suggestion, bowl(suggestion.params))
    return found


def test_noise_alone_is_like_no_sources() -> None:
    noise = shuffled(experiment(0), 1)
    assert suggestions("auto", [noise], 8) == suggestions("auto", [], 8)


def test_noise_beside_a_good_source() -> None:
    sources = [experiment(1, name="good"), shuffled(experiment(0, name="noise"), 1)]
    optimizer = hb.Optimizer(NEW, sources=sources, seed=0, goal="minimize")
    for point in np.random.default_rng(2).random((8, 3)).tolist():
        params = dict(zip(NEW, point, strict=True))
        optimizer.tell(params, bowl(params))
    found = optimizer.explain()
    assert list(found.dropped_sources) == ["noise"]
    assert found.sources["noise"] == 0.0
    assert list(found.correlations) == ["good"]
    assert found.sources["good"] > 0.3
    assert "'noise' is not used: its values look like noise" in found.sentence
    assert {value.experiment for value in found.learned} == {"good", "target"}


def test_who_names_a_method_gets_it() -> None:
    noise = shuffled(experiment(0), 1)
    optimizer = hb.Optimizer(
        NEW, sources=[noise], method="learned-imputation", seed=0, goal="minimize"
    )
    assert optimizer.explain().dropped_sources == {}


def test_before_the_first_trial_it_is_said() -> None:
    optimizer = hb.Optimizer(NEW, sources=[shuffled(experiment(0), 1)], seed=0, goal="minimize")
    found = optimizer.explain()
    assert list(found.dropped_sources) == ["old"]
    assert "the space is being covered. 'old' is not used" in found.sentence
