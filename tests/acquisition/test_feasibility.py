"""How failures make places less attractive."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import hetbo as hb
from gradients import assert_gradient
from hetbo.acquisition import Feasibility, feasibility_of
from hetbo.encoding import Encoder
from hetbo.experiments import TrialState

Array = npt.NDArray[np.float64]
JOINT = hb.JointSpace.merge(hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1)))


def trial(x: float, y: float, *, failed: bool) -> hb.Trial:
    params = {"x": float(x), "y": float(y)}
    return hb.Trial(params, state=TrialState.FAILED) if failed else hb.Trial(params, 0.0)


def learned(*trials: hb.Trial, seed: int = 0) -> Feasibility:
    found = feasibility_of(trials, Encoder(JOINT), np.random.default_rng(seed))
    assert found is not None
    return found


def chance(feasibility: Feasibility, *points: tuple[float, float]) -> Array:
    return np.exp(feasibility.success(np.array(points))[0])


def halves(count: int = 12) -> list[hb.Trial]:
    """Trials that fail where x is above a half."""
    points = np.random.default_rng(0).random((count, 2))
    return [trial(x, y, failed=x > 0.5) for x, y in points]


def test_nothing_failed_nothing_to_fear() -> None:
    pending = hb.Trial({"x": 0.5, "y": 0.5}, state=TrialState.PENDING)
    trials = [trial(0.1, 0.1, failed=False), pending]
    assert feasibility_of(trials, Encoder(JOINT), np.random.default_rng(0)) is None


def test_failures_count_where_they_are() -> None:
    near, away = chance(learned(trial(0.1, 0.1, failed=True)), (0.1, 0.1), (0.95, 0.95))
    assert near < 0.25
    assert away > 0.95


def test_successes_count_where_they_are() -> None:
    near, away = chance(
        learned(trial(0.1, 0.1, failed=True), trial(0.9, 0.9, failed=False)),
        (0.1, 0.1),
        (0.9, 0.9),
    )
    assert near < 0.25
    assert away > 0.75


def test_more_failures_are_worse_and_successes_mend() -> None:
    def there(*, good: int, bad: int) -> float:
        trials = [trial(0.4, 0.4, failed=k < bad) for k in range(good + bad)]
        return float(chance(learned(*trials), (0.4, 0.4))[0])

    assert there(good=0, bad=3) < there(good=0, bad=1)
    assert there(good=3, bad=1) > 0.7
    assert there(good=0, bad=1) < there(good=1, bad=1) < there(good=3, bad=1)


def test_which_parameter_decides_is_learned() -> None:
    safe, unsafe = chance(learned(*halves()), (0.3, 1.0), (0.7, 0.0))
    assert safe > 0.9
    assert unsafe < 0.1


def test_while_everything_fails_the_neighbourhood_alone_is_shunned() -> None:
    feasibility = learned(
        trial(0.1, 0.1, failed=True), trial(0.2, 0.15, failed=True), trial(0.1, 0.3, failed=True)
    )
    among, beside, away = chance(feasibility, (0.15, 0.15), (0.5, 0.4), (0.9, 0.9))
    assert among < 0.05
    assert 0.2 < beside < away
    assert away > 0.9
    factor, _ = feasibility(np.array([[0.15, 0.15], [0.5, 0.4]]))
    assert_allclose(np.exp(factor), [among, beside])


def test_while_everything_fails_the_parameter_that_hardly_moved_is_suspected() -> None:
    failures = [trial(0.7, 0.1, failed=True), trial(0.72, 0.9, failed=True)]
    moved_x, moved_y = chance(learned(*failures), (0.2, 0.5), (0.71, 0.5))
    assert moved_x > 3 * moved_y
    failures.append(trial(0.69, 0.5, failed=True))
    still_x, still_y = chance(learned(*failures), (0.2, 0.3), (0.71, 0.3))
    assert still_y < 0.1
    assert still_x > 0.6


def test_while_everything_fails_only_what_the_target_tunes_matters() -> None:
    source = hb.Experiment("old", hb.Space(z=hb.Float(0, 1), x=hb.Float(0, 1)), goal="minimize")
    joint = hb.JointSpace.merge(hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1)), [source])
    rng = np.random.default_rng(0)
    trials = [trial(x, y, failed=True) for x, y in rng.random((4, 2))]
    feasibility = feasibility_of(trials, Encoder(joint), rng)
    assert feasibility is not None
    X = rng.random((6, 3))
    assert_gradient(feasibility, X)
    _, gradient = feasibility(X)
    columns = Encoder(joint).columns
    assert (gradient[:, columns.of("z")] == 0).all()
    assert (gradient[:, columns.of("x", "y")] != 0).all()


def test_where_success_is_too_unlikely_comes_last() -> None:
    feasibility = learned(*halves())
    X = np.column_stack([np.linspace(0.02, 0.98, 49), np.full(49, 0.5)])
    log_probability, _ = feasibility.success(X)
    factor, _ = feasibility(X)
    assert 0.45 < feasibility.least <= 0.5
    likely = np.exp(log_probability) > feasibility.least
    assert likely.any()
    assert not likely.all()
    assert_allclose(factor[likely], log_probability[likely])
    short = feasibility.least - np.exp(log_probability[~likely])
    assert_allclose(factor[~likely], log_probability[~likely] - 1000 * short)


def test_if_trials_fail_everywhere_less_is_asked_for() -> None:
    rng = np.random.default_rng(3)
    feasibility = learned(*(trial(*rng.random(2), failed=k % 3 > 0) for k in range(30)))
    assert feasibility.least < 0.35
    log_probability, _ = feasibility.success(rng.random((50, 2)))
    assert np.mean(np.exp(log_probability) > feasibility.least) > 0.5


class Probability:
    """A probability that falls from 0.9 to 0.2 along the first column."""

    def __call__(self, X: Array) -> tuple[Array, Array]:
        p = 0.9 - 0.7 * X[:, 0]
        return np.log(p), np.column_stack([-0.7 / p, np.zeros(len(X))])


@given(st.floats(0.0, 1.0))
def test_its_gradient_is_that_of_the_formula(x: float) -> None:
    _, gradient = Feasibility(Probability())(np.array([[x, 0.3]]))
    p = 0.9 - 0.7 * x
    expected = -0.7 / p - (700 if p < 0.5 else 0)
    assert gradient[0] == pytest.approx([expected, 0.0])


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), count=st.integers(1, 6))
def test_the_chance_is_a_chance(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    trials = [trial(x, y, failed=z > 0.5) for x, y, z in rng.random((count, 3))]
    trials.append(trial(*rng.random(2), failed=True))
    logs, _ = learned(*trials, seed=seed).success(rng.random((8, 2)))
    # Above 0, although as a number it may be too small to be told from 0.
    assert np.isfinite(logs).all()
    assert (logs <= 0).all()
