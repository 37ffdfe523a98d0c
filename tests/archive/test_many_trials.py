"""The target's own trials by inducing points, against the exact posterior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hetbo as hb
from archive_data import SPACE, data_of, target_trials
from hetbo.archive import ManyTrials
from hetbo.archive._gp import Evidence, exact_posterior
from hetbo.archive._many_trials import FittedManyTrials
from hetbo.models import GPSurrogate, TargetGP


def fitted(trials: int) -> FittedManyTrials:
    return ManyTrials().fit(data_of([], trials), rng=np.random.default_rng(0))


def test_with_as_many_inducing_points_as_trials_it_is_exact() -> None:
    model = fitted(120)
    own = model.own
    evidence = Evidence(own.X[:, model.columns], own.y, own.noise, model.groups)
    exact, left_out = exact_posterior(evidence, model.z)
    X = np.random.default_rng(1).random((7, 6))
    mean, sd = model.values(X)
    expected, variance = exact(X[:, model.columns])
    assert_allclose(mean, expected, atol=1e-3)
    assert_allclose(sd, np.sqrt(variance), atol=1e-3)
    found = model.leave_one_out()
    assert_allclose(found.mean, left_out.mean, atol=2e-2)


def test_it_predicts_about_as_well_as_the_exact_model() -> None:
    data = data_of([], 400)
    X = np.random.default_rng(5).random((400, 6))
    exact = GPSurrogate(TargetGP).fit(data, rng=np.random.default_rng(0), starts=1)
    sparse = ManyTrials().fit(data, rng=np.random.default_rng(0))
    apart = np.abs(sparse.values(X)[0] - exact.values(X)[0])
    assert apart.mean() < 0.2 * exact.values(X)[0].std()
    densities = [m.leave_one_out().log_density.sum() for m in (exact, sparse)]
    assert densities[1] > densities[0] - 0.25 * 400


def test_gradients_and_conditioning() -> None:
    model = fitted(250)
    X = np.random.default_rng(1).random((4, 6))
    moments = model(X)
    for c, h in enumerate(1e-6 * np.eye(6)):
        above, below = model(X + h), model(X - h)
        mean, sd = (above.mean - below.mean) / 2e-6, (above.sd - below.sd) / 2e-6
        assert_allclose(moments.mean_gradient[:, c], mean, rtol=1e-3, atol=1e-4)
        assert_allclose(moments.sd_gradient[:, c], sd, rtol=1e-2, atol=1e-3)
    conditioned = model.condition(X, moments.mean)
    assert_allclose(conditioned.values(X)[0], moments.mean, atol=0.05)
    assert (conditioned.values(X)[1] < moments.sd + 1e-6).all()
    assert not model.sources().correlations.any()


@pytest.mark.parametrize("method", ["auto", "vanilla"])
def test_a_search_goes_on_with_many_trials(method: str) -> None:
    optimizer = hb.Optimizer(SPACE, goal="maximize", method=method, seed=1)
    for trial in target_trials(210):
        optimizer.tell(trial.params, trial.value or 0.0)
    best = optimizer.best
    assert best is not None
    suggestion = optimizer.ask()
    assert set(optimizer.explain().models) == {"vanilla, many trials"}
    assert SPACE.check(suggestion.params) == suggestion.params
