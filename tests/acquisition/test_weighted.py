"""The weighted sum of expected improvements."""

import numpy as np
import numpy.typing as npt
from numpy.testing import assert_allclose
from scipy.stats import norm

from gradients import assert_gradient
from hetbo.acquisition import Opinion, Predictor, WeightedLogEI
from hetbo.models import ImputedGP, TargetGP
from model_datasets import dataset

Array = npt.NDArray[np.float64]


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


def test_it_is_the_log_of_the_weighted_sum() -> None:
    given_opinions, X = opinions(), drawn(20)
    total = np.zeros(20)
    for opinion in given_opinions:
        moments = opinion.predictor(X)
        u = (moments.mean - opinion.best) / moments.sd
        total += opinion.weight * moments.sd * (norm.pdf(u) + u * norm.cdf(u))
    values, _ = WeightedLogEI(given_opinions)(X)
    assert_allclose(values, np.log(total), rtol=1e-7)


class Doubt:
    """A log probability that falls along the first column."""

    def __call__(self, X: Array) -> tuple[Array, Array]:
        return -X[:, 0], np.tile([-1.0, 0.0], (len(X), 1))


def test_its_gradient_is_finite_differences() -> None:
    assert_gradient(WeightedLogEI(opinions()), drawn(10))
    assert_gradient(WeightedLogEI(opinions(), Doubt()), drawn(10))


def test_values_alone_are_the_same() -> None:
    X = drawn(3000)
    for acquisition in (WeightedLogEI(opinions()), WeightedLogEI(opinions(), Doubt())):
        assert_allclose(acquisition.values(X), acquisition(X)[0], rtol=1e-10)


def test_the_chance_of_success_is_a_factor() -> None:
    X = drawn(10)
    plain, _ = WeightedLogEI(opinions())(X)
    careful, _ = WeightedLogEI(opinions(), Doubt())(X)
    assert_allclose(careful, plain + Doubt()(X)[0])
