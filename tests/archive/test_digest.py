"""Digests: what they depend on, how well they predict, and the way to disk and back."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from archive_data import random_rows
from hetbo.archive._digest import MOST_EXACT, Digest, SourceRows
from hetbo.archive._gp import Evidence, exact_posterior, most_likely


def test_a_digest_is_the_exact_posterior_mean() -> None:
    rows = random_rows(40)
    own = Evidence(rows.X, rows.y, rows.noise, rows.groups)
    expected, _ = exact_posterior(own, most_likely(own))
    X = np.random.default_rng(1).random((5, 3))
    assert_allclose(Digest.of(rows)(X), expected(X)[0])


def test_more_trials_than_fit_exactly_predict_better() -> None:
    many = random_rows(4 * MOST_EXACT, seed=3)
    few = replace(many, X=many.X[:60], y=many.y[:60], noise=many.noise[:60])
    rng = np.random.default_rng(3)
    rng.random((4 * MOST_EXACT, 3))
    waves = rng.normal(size=3)
    X = np.random.default_rng(1).random((500, 3))
    truth = np.sin(5 * X @ waves)
    wrong = [1 - np.corrcoef(Digest.of(rows)(X), truth)[0, 1] for rows in (many, few)]
    assert wrong[0] < min(0.01, wrong[1])


def test_the_same_trials_give_the_same_digest() -> None:
    first, second = (Digest.of(random_rows(MOST_EXACT + 50)) for _ in range(2))
    for name, array in first.arrays().items():
        assert_array_equal(array, second.arrays()[name])


def test_arrays_give_the_digest_back() -> None:
    digest = Digest.of(random_rows(12))
    back = Digest.from_arrays(digest.arrays())
    X = np.random.default_rng(1).random((5, 3))
    assert_array_equal(back(X), digest(X))
    assert (back.variance, back.noise, back.mean) == (digest.variance, digest.noise, digest.mean)


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": np.zeros((3, 3))},
        {"weights": np.full(12, np.nan)},
        {"inverse_length_scales": np.zeros(3)},
        {"variance_noise_mean": np.array([-1.0, 0.1, 0.0])},
        {"variance_noise_mean": np.array(["a", "b", "c"])},
    ],
)
def test_arrays_of_something_else_are_refused(wrong: dict[str, np.ndarray]) -> None:
    arrays = Digest.of(random_rows(12)).arrays()
    with pytest.raises(ValueError, match=r"no digest|could not convert"):
        Digest.from_arrays({**arrays, **wrong})
    arrays.pop("weights")
    with pytest.raises(ValueError, match="no digest"):
        Digest.from_arrays(arrays)


def test_the_key_is_a_hash_of_all_that_a_digest_depends_on() -> None:
    rows = random_rows(12)
    assert rows.key == random_rows(12).key
    others = [
        replace(rows, X=rows.X + 1e-9),
        replace(rows, y=-rows.y),
        replace(rows, noise=np.full(12, np.nan)),
        replace(rows, groups=np.array([0, 1, 1])),
        SourceRows(rows.X[:11], rows.y[:11], rows.noise[:11], rows.groups),
    ]
    assert len({rows.key, *(other.key for other in others)}) == 6


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_handful_of_trials_and_equal_values_are_digested(count: int) -> None:
    rows = SourceRows(
        np.full((count, 2), 0.5), np.zeros(count), np.full(count, np.nan), np.arange(2)
    )
    assert_allclose(Digest.of(rows)(np.random.default_rng(0).random((4, 2))), 0.0, atol=1e-9)
