"""What several models expect to be gained, pooled."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numpy.testing import assert_allclose
from scipy.stats import norm

from gradients import assert_gradient
from hetbo.acquisition import Opinion, PooledLogEI, Predictor
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
        Opinion(Predictor(TargetGP(data)), 0.7, 0.2, unit=3.0),
        Opinion(Predictor(ImputedGP(data, residual=True)), 0.9, 0.8, unit=0.5),
    ]


def drawn(count: int) -> Array:
    return np.random.default_rng(1).random((count, 2))


def improvement(opinion: Opinion, X: Array) -> Array:
    """The expected improvement in units of the outcome, by the textbook's formula."""
    moments = opinion.predictor(X)
    u = (moments.mean - opinion.best) / moments.sd
    return np.asarray(opinion.unit * moments.sd * (norm.pdf(u) + u * norm.cdf(u)))


def test_it_is_the_log_of_the_weighted_power_mean() -> None:
    given_opinions, X = opinions(), drawn(20)
    total = sum(o.weight * improvement(o, X) ** 0.25 for o in given_opinions)
    values, _ = PooledLogEI(given_opinions)(X)
    assert_allclose(values, np.log(total**4), rtol=1e-7)


def test_of_one_model_it_is_its_expected_improvement() -> None:
    (one, _), X = opinions(), drawn(20)
    values, _ = PooledLogEI([replace(one, weight=1.0)])(X)
    assert_allclose(values, np.log(improvement(one, X)), rtol=1e-7)


def test_it_lies_between_what_the_models_expect() -> None:
    given_opinions, X = opinions(), drawn(200)
    logs = np.log([improvement(o, X) for o in given_opinions])
    values, _ = PooledLogEI(given_opinions)(X)
    assert (values > logs.min(axis=0)).all()
    assert (values < logs.max(axis=0)).all()


def test_what_one_model_alone_expects_counts_less_than_its_share() -> None:
    """The other is sure that nothing can be gained."""
    (one, other), X = opinions(), drawn(20)
    values, _ = PooledLogEI([one, replace(other, best=1e4)])(X)
    assert_allclose(values, np.log(improvement(one, X)) + 4 * np.log(one.weight), rtol=1e-7)


class Doubt:
    """A log probability that falls along the first column."""

    def __call__(self, X: Array) -> tuple[Array, Array]:
        return -X[:, 0], np.tile([-1.0, 0.0], (len(X), 1))


def test_its_gradient_is_finite_differences() -> None:
    assert_gradient(PooledLogEI(opinions()), drawn(10))
    assert_gradient(PooledLogEI(opinions(), Doubt()), drawn(10))


def test_values_alone_are_the_same() -> None:
    X = drawn(3000)
    for acquisition in (PooledLogEI(opinions()), PooledLogEI(opinions(), Doubt())):
        assert_allclose(acquisition.values(X), acquisition(X)[0], rtol=1e-10)


def test_the_chance_of_success_is_a_factor() -> None:
    X = drawn(10)
    plain, _ = PooledLogEI(opinions())(X)
    careful, _ = PooledLogEI(opinions(), Doubt())(X)
    assert_allclose(careful, plain + Doubt()(X)[0])
