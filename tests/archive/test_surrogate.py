"""The archive as a surrogate: laws, the protocol, and its place in `auto`."""

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import hetbo as hb
from archive_data import NAMES, SPACE, data_of, source, target_trials
from hetbo import Experiment, Goal, Trial
from hetbo._arrays import FloatArray
from hetbo.archive import ArchiveSurrogate, FittedArchive
from hetbo.archive import _surrogate as surrogate_module
from hetbo.archive._archive import best_and_latest
from hetbo.methods import METHODS, Sizes
from hetbo.models import CORRELATIONS
from hetbo.test_functions import HARTMANN_OPTIMUM, hartmann


def fitted(sources: list[Experiment], trials: int = 8, seed: int = 0) -> FittedArchive:
    model = ArchiveSurrogate().fit(data_of(sources, trials, seed), rng=np.random.default_rng(0))
    assert isinstance(model, FittedArchive)
    return model


def points(count: int = 20) -> FloatArray:
    return np.random.default_rng(1).random((count, 6))


def changed(experiment: Experiment, *, factor: float = 1.0, shift: float = 0.0) -> Experiment:
    """The experiment with other units, or with the opposite goal where the factor is negative."""
    trials = [replace(t, value=factor * (t.value or 0.0) + shift) for t in experiment.trials]
    goal = Goal.MAXIMIZE if factor > 0 else Goal.MINIMIZE
    return Experiment(experiment.name, experiment.space, trials, goal=goal)


def assert_same_predictions(first: FittedArchive, second: FittedArchive, atol: float) -> None:
    for one, other in zip(first.values(points()), second.values(points()), strict=True):
        assert_allclose(one, other, atol=atol)


@pytest.mark.parametrize("known", [None, 1e-6])
@pytest.mark.parametrize("trials", [0, 1, 12])
def test_trials_without_noise_show_none(trials: int, known: float | None) -> None:
    data = data_of([source(number) for number in range(4)], trials, 0)
    if known is not None:
        noise = np.where(data.experiment == 0, known, data.noise)
        data = replace(data, noise=noise)
    model = ArchiveSurrogate().fit(data, rng=np.random.default_rng(0))
    assert model.noise_shown == 0.0


def test_the_first_trials_do_not_go_where_the_sources_are_worst() -> None:
    rng = np.random.default_rng(0)
    space = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
    points = rng.random((400, 2)).tolist()
    trials = [Trial({"x": x, "y": y}, (x - 0.3) ** 2 + (y - 0.4) ** 2) for x, y in points]
    old = Experiment("old", space, trials, goal="minimize")
    new = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1), z=hb.Float(0, 1))
    for seed in range(3):
        optimizer = hb.Optimizer(new, sources=[old], goal="minimize", seed=seed)
        for _ in range(3):
            trial = optimizer.ask()
            x, y, z = (float(str(trial.params[name])) for name in "xyz")
            assert max(abs(x - 0.3), abs(y - 0.4)) < 0.25
            optimizer.tell(trial, (x - 0.3) ** 2 + (y - 0.4) ** 2 + 0.3 * (z - 0.7) ** 2 + 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_parameter_that_no_source_has_is_searched(seed: int) -> None:
    best = {"a": 0.3, "b": 0.6, "c": 0.2, "d": 0.8}

    def value(params: Mapping[str, hb.spaces.Value]) -> float:
        return sum((float(params.get(name, 0.5) or 0.0) - at) ** 2 for name, at in best.items())

    points = np.random.default_rng(0).random((160, 3)).tolist()
    rows = [dict(zip("abc", point, strict=True)) for point in points]
    old_space = hb.Space(a=hb.Float(0, 1), b=hb.Float(0, 1), c=hb.Float(0, 1))
    old = Experiment("old", old_space, [Trial(row, value(row)) for row in rows], goal="minimize")
    space = old_space.replace(d=hb.Float(0, 1))
    optimizer = hb.Optimizer(space, sources=[old], goal="minimize", seed=seed)
    for _ in range(15):
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params))
    assert optimizer.best is not None
    assert value(optimizer.best.params) < 0.005


def test_trials_with_noise_show_it() -> None:
    data = data_of([source(number) for number in range(4)], 60, 0)
    noisy = data.y + np.where(
        data.experiment == 0, np.random.default_rng(1).normal(size=len(data.y)), 0.0
    )
    model = ArchiveSurrogate().fit(replace(data, y=noisy), rng=np.random.default_rng(0))
    assert model.noise_shown > 0.1


@settings(max_examples=6)
@given(seed=st.integers(0, 100), factor=st.sampled_from([1e-6, 1e3, -1.0, -7e5]))
def test_units_and_goals_of_sources_make_no_difference(seed: int, factor: float) -> None:
    sources = [source(number, seed=seed) for number in range(6)]
    others = [changed(s, factor=factor, shift=3 * factor) for s in sources]
    assert_same_predictions(fitted(sources, seed=seed), fitted(others, seed=seed), 1e-3)


@settings(max_examples=6)
@given(seed=st.integers(0, 100))
def test_the_order_of_sources_makes_no_difference(seed: int) -> None:
    sources = [source(number, seed=seed) for number in range(7)]
    order = np.random.default_rng(seed).permutation(7).tolist()
    assert_same_predictions(
        fitted(sources, seed=seed), fitted([sources[i] for i in order], seed=seed), 1e-12
    )
    # Not even by their names, on which the order of columns depends.
    renamed = [
        Experiment(f"{9 - i}", s.space, s.trials, goal="maximize") for i, s in enumerate(sources)
    ]
    joint = fitted(renamed, seed=seed)
    assert_same_predictions(fitted(sources, seed=seed), joint, 1e-3)


def test_sources_that_a_step_leaves_out_are_judged_like_the_others() -> None:
    sources = [source(number, related=number < 4) for number in range(30)]
    model = fitted(sources, trials=25)
    assert 0 < len(model.kept) < 30
    expected = model.values(model.archive.cover)[0]
    found = [np.corrcoef(expected, f)[0, 1] for f in model.archive.functions.T]
    used = model.sources()
    assert_allclose(used.correlations, found, atol=1e-9)
    assert (used.signal > 0).all()


def test_related_sources_are_told_from_unrelated_ones() -> None:
    sources = [source(number, trials=40, related=number % 5 == 0) for number in range(30)]
    related = np.arange(30) % 5 == 0
    model = fitted(sources, trials=30)
    weights = np.zeros(30)
    weights[model.kept] = np.abs(model._posterior.source_weights)
    assert weights[related].mean() > 3 * weights[~related].mean()


def test_what_the_trials_tell_of_a_source() -> None:
    model = fitted([source(number) for number in range(6)], trials=10)
    found = model.correlation(0, 3)
    assert_allclose(found.density.sum(), 1.0)
    assert found.density.shape == CORRELATIONS.shape
    assert found.estimate == model.sources().correlations[2]
    before = fitted([source(1), source(2)], trials=0)
    for density in (model.correlation(1, 2), before.correlation(0, 1)):
        assert_allclose(density.density, 1 / len(CORRELATIONS))


def test_many_own_trials_are_seen_in_part_and_predicted_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surrogate_module, "_MOST_OWN", 12)
    model = fitted([source(number) for number in range(4)], trials=20)
    assert len(model.evidence.y) == 12
    found = model.leave_one_out()
    assert len(found.observed) == len(model.observed) == 20
    assert np.isfinite(found.log_density).all()
    assert (found.sd > 0).all()


def test_the_best_and_the_latest_trials() -> None:
    y = np.array([5.0, 1.0, 9.0, 2.0, 7.0, 3.0, 0.0, 4.0])
    assert best_and_latest(y, 4).tolist() == [2, 4, 6, 7]
    assert best_and_latest(y, 8).tolist() == list(range(8))


def test_at_least_one_source_is_kept_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surrogate_module, "_MOST_POINTS", 25)
    model = fitted([source(number) for number in range(5)])
    assert len(model.kept) == 1


def test_without_sources_the_targets_own_trials_are_left() -> None:
    model = ArchiveSurrogate().fit(data_of([], 9), rng=np.random.default_rng(0))
    assert np.isfinite(model.values(points())[0]).all()


def test_an_engine_prepares_what_depends_on_sources_alone() -> None:
    told: list[tuple[int, int]] = []
    sources = [source(number, seed=5) for number in range(7)]
    optimizer = hb.Optimizer(SPACE, sources=sources, goal="maximize", seed=1)
    optimizer.engine.prepare(progress=lambda *counts: told.append(counts))
    assert told == [(done, 7) for done in range(8)]
    told.clear()
    few = hb.Optimizer(SPACE, sources=sources[:2], goal="maximize", seed=1)
    few.engine.prepare(progress=lambda *counts: told.append(counts))
    assert not told


def test_preparing_digests_ahead() -> None:
    told: list[tuple[int, int]] = []
    data = data_of([source(number, seed=77) for number in range(3)], 0)
    ArchiveSurrogate().prepare(data, progress=lambda *counts: told.append(counts))
    assert told[-1] == (3, 3)
    told.clear()
    ArchiveSurrogate().prepare(data, progress=lambda *counts: told.append(counts))
    assert not told


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (Sizes(5, 150, 30), {"imputation, one scale", "imputation with residual"}),
        (Sizes(6, 60, 30), {"archive"}),
        (Sizes(5, 151, 200), {"archive", "imputation, one scale"}),
        (Sizes(1, 10_000, 30), {"archive", "imputation, one scale"}),
        (Sizes(6, 10_000, 30), {"archive"}),
        (Sizes(1, 30, 201), {"archive"}),
    ],
)
def test_what_transfers_in_auto_depends_on_sizes(sizes: Sizes, expected: set[str]) -> None:
    members = METHODS["auto"].members
    serving = {name for name, member in members.items() if member.serves(sizes)}
    transferring = {name for name in serving if members[name].transfers}
    assert transferring == expected
    alone = "vanilla, many trials" if sizes.own > 200 else "vanilla"
    assert serving - transferring == {alone}


def test_auto_with_an_archive_finds_the_hill() -> None:
    sources = [source(number, related=number % 3 > 0, trials=30) for number in range(40)]
    optimizer = hb.Optimizer(SPACE, sources=sources, goal="maximize", seed=1)
    best = -np.inf
    for _ in range(6):
        suggestion = optimizer.ask()
        x = np.array([suggestion.params[name] for name in NAMES], dtype=np.float64)
        optimizer.tell(suggestion, hartmann(x))
        best = max(best, hartmann(x))
    assert best > 0.75 * HARTMANN_OPTIMUM
    explanation = optimizer.explain()
    assert explanation.models["archive"] > 0.5
    assert "Of the other sources" in explanation.sentence
    assert len(explanation.sources) == 40
    batch = optimizer.ask(3)
    assert len({tuple(s.params.values()) for s in batch}) == 3


def test_a_saved_optimizer_goes_on_the_same() -> None:
    sources = [source(number) for number in range(8)]
    optimizer = hb.Optimizer(SPACE, sources=sources, goal="maximize", seed=1)
    for trial in target_trials(3):
        optimizer.tell(trial.params, trial.value or 0.0)
    optimizer.tell(optimizer.ask(), 0.5)
    again = hb.Optimizer.from_json(optimizer.to_json())
    assert again.ask().params == optimizer.ask().params


def test_time_grows_slowly_with_old_trials() -> None:
    """Ten times the trials of one source: the digest has no more points."""
    rng = np.random.default_rng(0)

    def large(count: int) -> Experiment:
        X = rng.random((count, 6))
        trials = [Trial(dict(zip(NAMES, x.tolist(), strict=True)), hartmann(x)) for x in X]
        return Experiment("large", SPACE, trials, goal="maximize")

    seconds = []
    for count in (600, 6000):
        data = data_of([large(count)], 10)
        surrogate = ArchiveSurrogate()
        surrogate.prepare(data)
        began = time.process_time()
        for _ in range(3):
            model = surrogate.fit(data, rng=rng)
            model.values(points(1000))
        seconds.append(time.process_time() - began)
    assert seconds[1] < 3 * seconds[0] + 0.1
