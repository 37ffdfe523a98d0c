"""What several models expect to be gained, pooled."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numpy.testing import assert_allclose
from scipy.stats import norm

from gradients import assert_gradient
from hetbo.acquisition import MemberAcquisition, PooledLogEI
from hetbo.models import FittedGP, ImputedGP, TargetGP
from model_datasets import dataset

Array = npt.NDArray[np.float64]


def members() -> list[MemberAcquisition]:
    data = dataset(
        {"target": ("a", "b"), "source": ("a",)},
        lambda p: float(np.sin(5 * p["a"]) + p["b"]),
        {"target": 6, "source": 8},
    )
    return [
        MemberAcquisition(FittedGP(TargetGP(data)), 0.7, 0.2, unit=3.0),
        MemberAcquisition(FittedGP(ImputedGP(data, residual=True)), 0.9, 0.8, unit=0.5),
    ]


def drawn(count: int) -> Array:
    return np.random.default_rng(1).random((count, 2))


def improvement(member: MemberAcquisition, X: Array) -> Array:
    """The expected improvement in units of the outcome, by the textbook's formula."""
    moments = member.predictor(X)
    u = (moments.mean - member.best) / moments.sd
    return np.asarray(member.unit * moments.sd * (norm.pdf(u) + u * norm.cdf(u)))


def test_it_is_the_log_of_the_weighted_power_mean() -> None:
    pooled, X = members(), drawn(20)
    total = sum(m.weight * improvement(m, X) ** 0.25 for m in pooled)
    values, _ = PooledLogEI(pooled)(X)
    assert_allclose(values, np.log(total**4), rtol=1e-7)


def test_of_one_model_it_is_its_expected_improvement() -> None:
    (one, _), X = members(), drawn(20)
    values, _ = PooledLogEI([replace(one, weight=1.0)])(X)
    assert_allclose(values, np.log(improvement(one, X)), rtol=1e-7)


def test_it_lies_between_what_the_models_expect() -> None:
    pooled, X = members(), drawn(200)
    logs = np.log([improvement(m, X) for m in pooled])
    values, _ = PooledLogEI(pooled)(X)
    assert (values > logs.min(axis=0)).all()
    assert (values < logs.max(axis=0)).all()


def test_what_one_model_alone_expects_counts_less_than_its_share() -> None:
    """The other is sure that nothing can be gained."""
    (one, other), X = members(), drawn(20)
    values, _ = PooledLogEI([one, replace(other, best=1e4)])(X)
    assert_allclose(values, np.log(improvement(one, X)) + 4 * np.log(one.weight), rtol=1e-7)


class Doubt:
    """A log probability that falls along the first column."""

    def __call__(self, X: Array) -> tuple[Array, Array]:
        return -X[:, 0], np.tile([-1.0, 0.0], (len(X), 1))


def test_its_gradient_is_finite_differences() -> None:
    assert_gradient(PooledLogEI(members()), drawn(10))
    assert_gradient(PooledLogEI(members(), Doubt()), drawn(10))


def test_values_alone_are_the_same() -> None:
    X = drawn(3000)
    for acquisition in (PooledLogEI(members()), PooledLogEI(members(), Doubt())):
        assert_allclose(acquisition.values(X), acquisition(X)[0], rtol=1e-10)


def test_the_chance_of_success_is_a_factor() -> None:
    X = drawn(10)
    plain, _ = PooledLogEI(members())(X)
    careful, _ = PooledLogEI(members(), Doubt())(X)
    assert_allclose(careful, plain + Doubt()(X)[0])
