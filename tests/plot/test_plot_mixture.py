"""Several models' predictions as one band."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from hetbo import Goal
from hetbo.encoding._outcomes import OutcomeScale
from hetbo.plot._mixture import mixed

PLAIN = OutcomeScale(0.0, 1.0, 1)
numbers = st.floats(-5, 5)


@given(st.lists(st.tuples(numbers, st.floats(0.01, 3), st.floats(0.01, 1)), min_size=1, max_size=4))
def test_the_band_holds_95_percent(parts: list[tuple[float, float, float]]) -> None:
    total = sum(weight for *_, weight in parts)
    weights = [weight / total for *_, weight in parts]
    band = mixed(
        [np.array([m]) for m, _, _ in parts],
        [np.array([s]) for _, s, _ in parts],
        weights,
        [PLAIN] * len(parts),
    )

    def below(x: float) -> float:
        cases = zip(parts, weights, strict=True)
        return float(sum(w * norm.cdf(x, m, s) for (m, s, _), w in cases))

    assert below(band.low[0]) == pytest.approx(0.025, abs=1e-6)
    assert below(band.high[0]) == pytest.approx(0.975, abs=1e-6)
    assert band.middle[0] == pytest.approx(
        sum(w * m for (m, *_), w in zip(parts, weights, strict=True))
    )


def test_a_goal_to_minimise_turns_the_band_round() -> None:
    scale = OutcomeScale.fit([10.0, 20.0, 30.0], Goal.MINIMIZE)
    band = mixed([np.array([1.0, 0.0])], [np.array([0.5, 0.1])], [1.0], [scale])
    assert band.middle == pytest.approx((10.0, 20.0))
    assert band.low == pytest.approx((10 - 1.959964 * 5, 20 - 1.959964))
    assert band.high == pytest.approx((10 + 1.959964 * 5, 20 + 1.959964))


def test_models_may_see_values_on_scales_of_their_own() -> None:
    scales = [OutcomeScale(2.0, 3.0, 1), OutcomeScale(-1.0, 0.5, -1)]
    same = [np.array([1.0]), np.array([-12.0])]  # 5 in natural units, for both
    band = mixed(same, [np.array([1 / 3]), np.array([2.0])], [0.4, 0.6], scales)
    assert band.middle == pytest.approx((5.0,))
    assert band.low == pytest.approx((5 - 1.959964,))


def test_compressed_scales_give_the_band_of_what_they_unscale() -> None:
    scale = OutcomeScale.fit([-40.0, 0.0, 1.0, 2.0, 3.0], Goal.MAXIMIZE, compressed=True)
    mean, sd = np.array([-0.8, 0.9]), np.array([0.3, 0.1])
    band = mixed([mean], [sd], [1.0], [scale])
    assert band.middle == pytest.approx(scale.unscale(mean).tolist())
    assert band.low == pytest.approx(scale.unscale(mean - 1.959964 * sd).tolist(), rel=1e-5)
    assert band.high == pytest.approx(scale.unscale(mean + 1.959964 * sd).tolist(), rel=1e-5)
