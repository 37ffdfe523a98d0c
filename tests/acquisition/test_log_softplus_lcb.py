"""The log of the softplus of the lower confidence bound."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import hetbo as hb
from hetbo.acquisition._log_softplus_lcb import log_softplus_lcb

NUMBERS = st.floats(-500, 500)


@given(mean=NUMBERS, sd=st.floats(1e-6, 50), best=st.floats(-5, 5))
def test_it_is_the_formula_and_rises_with_the_lower_bound(
    mean: float, sd: float, best: float
) -> None:
    value, by_mean, by_sd = log_softplus_lcb(np.array([mean]), np.array([sd]), best)
    bound = mean - sd - best
    expected = np.log(np.log1p(np.exp(bound))) if -30 < bound < 700 else min(bound, np.inf)
    if bound < 700:
        assert_allclose(value, expected, atol=1e-9)
    assert by_mean[0] > 0
    assert by_sd[0] == -by_mean[0]
    more, _, _ = log_softplus_lcb(np.array([mean + 1]), np.array([sd]), best)
    assert more[0] > value[0]


@given(bound=st.floats(-40, 40))
def test_its_derivative_is_finite_differences(bound: float) -> None:
    step = 1e-6
    _, slope, _ = log_softplus_lcb(np.array([bound]), np.array([0.0]), 0.0)
    up, _, _ = log_softplus_lcb(np.array([bound + step]), np.array([0.0]), 0.0)
    down, _, _ = log_softplus_lcb(np.array([bound - step]), np.array([0.0]), 0.0)
    assert_allclose(slope, (up - down) / (2 * step), rtol=1e-4, atol=1e-8)


def test_a_handful_of_old_runs_is_enough_to_start_near_the_best_of_them() -> None:
    runs = [(0.02, 3, 0.41), (0.0005, 8, 0.52), (0.008, 5, 0.33), (0.05, 4, 0.47), (0.012, 7, 0.36)]
    old = hb.Experiment(
        "old",
        hb.Space(rate=hb.Float(1e-4, 0.1, log=True), depth=hb.Int(2, 12)),
        [hb.Trial({"rate": rate, "depth": depth}, loss) for rate, depth, loss in runs],
        fixed={"booster": "gbtree"},
        goal="minimize",
    )
    space = hb.Space(
        rate=hb.Float(1e-5, 0.1, log=True),
        depth=hb.Int(2, 12),
        booster=hb.Categorical("gbtree", "dart"),
    )
    for seed in range(4):
        first = hb.Optimizer(space, sources=[old], seed=seed, goal="minimize").ask().params
        assert 0.002 < float(str(first["rate"])) < 0.03
        assert 3 <= int(str(first["depth"])) <= 7
        assert first["booster"] == "gbtree"
