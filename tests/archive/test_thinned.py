"""A part of the old trials: which ones, and what it is for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import hetbo as hb
from archive_data import NAMES, SPACE, data_of, source
from hetbo.archive import Thinned
from hetbo.archive._thinned import thinned
from hetbo.models import GPSurrogate, ImputedGP
from hetbo.test_functions import hartmann


@settings(max_examples=30, deadline=None)
@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    own=st.integers(0, 5),
    most=st.integers(1, 90),
)
def test_each_source_has_an_equal_part(counts: list[int], own: int, most: int) -> None:
    data = data_of([source(m, trials=n) for m, n in enumerate(counts)], own)
    part = thinned(data, most)
    kept = np.bincount(part.experiment, minlength=len(counts) + 1)
    assert kept[0] == own
    assert kept[1:].sum() == min(sum(counts), most)
    level = kept[1:].max()
    # Whoever has fewer than the largest part, but for rounding, is there whole.
    assert all(k == n or k >= level - 1 for k, n in zip(kept[1:], counts, strict=True))
    assert part.scales == data.scales
    rows = {(*x, y) for x, y in zip(np.nan_to_num(data.X).tolist(), data.y.tolist(), strict=True)}
    assert all(
        (*x, y) in rows
        for x, y in zip(np.nan_to_num(part.X).tolist(), part.y.tolist(), strict=True)
    )
    assert (np.diff(part.experiment) >= 0).all()


def test_half_of_a_part_is_the_best_trials() -> None:
    data = data_of([source(0, trials=40)], 3)
    part = thinned(data, 20)
    old, kept = np.sort(data.y[data.experiment == 1]), np.sort(part.y[part.experiment == 1])
    assert_array_equal(kept[-10:], old[-10:])
    assert kept[:10].min() < np.median(old)


def test_what_is_small_is_seen_whole() -> None:
    data = data_of([source(0, trials=12), source(1, trials=8)], 4)
    assert thinned(data, 20) is data
    surrogate = GPSurrogate(ImputedGP)
    whole = surrogate.fit(data, rng=np.random.default_rng(0), starts=1)
    part = Thinned(surrogate, 20).fit(data, rng=np.random.default_rng(0), starts=1)
    X = np.random.default_rng(1).random((5, 6))
    for one, other in zip(part.values(X), whole.values(X), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("trials", [160, 300])
def test_a_large_source_tells_where_it_held_what_it_did_not_tune(trials: int) -> None:
    rng = np.random.default_rng(0)
    space = SPACE.drop("x5", "x6")
    old = [
        hb.Trial(dict(zip(space, x, strict=True)), hartmann(np.array([*x, 0.0, 0.0])))
        for x in rng.random((trials, 4)).tolist()
    ]
    past = hb.Experiment("past", space, old, goal="maximize")
    optimizer = hb.Optimizer(SPACE, sources=[past], goal="maximize", seed=0)
    for x in rng.random((5, 6)):
        optimizer.tell(dict(zip(NAMES, x.tolist(), strict=True)), hartmann(x))
    best = 0.0
    for _ in range(10):
        suggestion = optimizer.ask()
        x = np.array([suggestion.params[name] for name in NAMES], dtype=np.float64)
        best = max(best, hartmann(x))
        optimizer.tell(suggestion, hartmann(x))
    assert best > 2.8
    assert "imputation, one scale" in optimizer.explain().models
