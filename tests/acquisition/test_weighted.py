"""The weighted sum of expected improvements, and how failures make places less attractive."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm

from hetbo.acquisition import Acquisition, Feasibility, Opinion, Predictor, WeightedLogEI
from hetbo.models import ImputedGP, TargetGP
from model_datasets import dataset

Array = npt.NDArray[np.float64]
NOWHERE = np.empty((0, 2))


def opinions() -> list[Opinion]:
    data = dataset(
        {"target": ("a", "b"), "source": ("a",)},
        lambda p: float(np.sin(5 * p["a"]) + p["b"]),
        {"target": 6, "source": 8},
    )
    return [
        Opinion(Predictor(TargetGP(data)), 0.7, 0.2),
        Opinion(Predictor(ImputedGP(data, residual=True)), 0.9, 0.8),
    ]


def drawn(count: int) -> Array:
    return np.random.default_rng(1).random((count, 2))


def assert_gradient(acquisition: Acquisition, X: Array) -> None:
    _, gradient = acquisition(X)
    step = 1e-6
    for column in range(X.shape[1]):
        move = step * np.eye(X.shape[1])[column]
        numeric = (acquisition(X + move)[0] - acquisition(X - move)[0]) / (2 * step)
        assert_allclose(gradient[:, column], numeric, rtol=1e-4, atol=1e-6)


def test_it_is_the_log_of_the_weighted_sum() -> None:
    given_opinions, X = opinions(), drawn(20)
    total = np.zeros(20)
    for opinion in given_opinions:
        moments = opinion.predictor(X)
        u = (moments.mean - opinion.best) / moments.sd
        total += opinion.weight * moments.sd * (norm.pdf(u) + u * norm.cdf(u))
    values, _ = WeightedLogEI(given_opinions)(X)
    assert_allclose(values, np.log(total), rtol=1e-7)


def test_its_gradient_is_finite_differences() -> None:
    assert_gradient(WeightedLogEI(opinions()), drawn(10))
    failures = Feasibility(drawn(3), 1.0 - drawn(4), [0, 1])
    assert_gradient(WeightedLogEI(opinions(), failures), drawn(10))


def test_values_alone_are_the_same() -> None:
    failures = Feasibility(drawn(3), 1.0 - drawn(4), [0, 1])
    X = drawn(3000)
    for acquisition in (WeightedLogEI(opinions()), WeightedLogEI(opinions(), failures)):
        assert_allclose(acquisition.values(X), acquisition(X)[0], rtol=1e-10)


def test_the_chance_of_success_is_a_factor() -> None:
    feasibility = Feasibility(NOWHERE, np.array([[0.5, 0.5]]), [0, 1])
    X = drawn(10)
    plain, _ = WeightedLogEI(opinions())(X)
    careful, _ = WeightedLogEI(opinions(), feasibility)(X)
    assert_allclose(careful, plain + feasibility(X)[0])


def chance(succeeded: Array, failed: Array, X: Array) -> Array:
    return np.exp(Feasibility(succeeded, failed, [0, 1])(X)[0])


def test_nothing_failed_nothing_to_fear() -> None:
    assert_allclose(chance(drawn(5), NOWHERE, drawn(10)), 1.0)


def test_failures_count_where_they_are() -> None:
    failed = np.array([[0.1, 0.1]])
    near, away = chance(NOWHERE, failed, np.array([[0.1, 0.1], [0.95, 0.95]]))
    assert near < 0.25
    assert away > 0.95


def test_more_failures_are_worse_and_successes_mend() -> None:
    place = np.array([[0.4, 0.4]])
    once, thrice = place, np.repeat(place, 3, axis=0)
    assert chance(NOWHERE, thrice, place) < chance(NOWHERE, once, place)
    assert chance(thrice, once, place) > 0.7
    assert chance(NOWHERE, once, place) < chance(once, once, place) < chance(thrice, once, place)


@given(seed=st.integers(0, 1000), good=st.integers(0, 4), bad=st.integers(0, 4))
def test_the_chance_is_a_chance(seed: int, good: int, bad: int) -> None:
    rng = np.random.default_rng(seed)
    chances = chance(rng.random((good, 2)), rng.random((bad, 2)), rng.random((8, 2)))
    assert (chances > 0).all()
    assert (chances <= 1 + 1e-12).all()


def test_its_gradient_knows_only_what_the_target_tunes() -> None:
    rng = np.random.default_rng(0)
    feasibility = Feasibility(rng.random((3, 3)), rng.random((4, 3)), [0, 2])
    X = rng.random((6, 3))
    assert_gradient(feasibility, X)
    assert (feasibility(X)[1][:, 1] == 0).all()
