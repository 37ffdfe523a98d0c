import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import refused
from hetbo import DataError, Experiment, Float, JointSpace, Space, SpaceError, Trial, TrialState
from hetbo.encoding import Dataset

TARGET, OLD = Space(a=Float(0, 10), b=Float(0, 1)), Space(a=Float(0, 10))
SOURCE = Experiment(
    "old",
    OLD,
    [
        Trial({"a": 0.0}, 10.0, noise=2.0),
        Trial({"a": 10.0}, 14.0),
        Trial({"a": 5.0}, state=TrialState.FAILED),
    ],
    goal="maximize",
)
TRIALS = [
    Trial({"a": 1.0, "b": 0.5}, 3.0),
    Trial({"a": 2.0, "b": 0.5}, state=TrialState.PENDING),
    Trial({"a": 3.0, "b": 0.25}, 5.0),
]


def test_complete_trials_are_encoded_with_the_target_first() -> None:
    data = Dataset.build(JointSpace.merge(TARGET, [SOURCE]), TRIALS, goal="minimize")
    assert_array_equal(data.experiment, [0, 0, 1, 1])
    assert_allclose(data.X, [[0.1, 0.5], [0.3, 0.25], [0.0, np.nan], [1.0, np.nan]])
    assert_array_equal(data.missing, [[False, False], [False, True]])
    assert data.names == ("target", "old")


def test_values_are_scaled_per_experiment_and_larger_is_better() -> None:
    data = Dataset.build(JointSpace.merge(TARGET, [SOURCE]), TRIALS, goal="minimize")
    half = np.sqrt(0.5)
    assert_allclose(data.y, [half, -half, -half, half])
    spread = data.scales[1].spread
    assert_allclose(data.noise, [np.nan, np.nan, (2 / spread) ** 2, np.nan])
    assert_allclose(data.scales[0].unscale(data.y[:2]), [3.0, 5.0])


def test_pooled_values_share_one_scale_whatever_their_goals() -> None:
    joint = JointSpace.merge(TARGET, [SOURCE])
    data = Dataset.build(joint, TRIALS, goal="minimize", scaling="pooled")
    signed = np.array([-3.0, -5.0, 10.0, 14.0])
    assert_allclose(data.y, (signed - signed.mean()) / signed.std(ddof=1))
    assert_allclose(data.scales[0].unscale(data.y[:2]), [3.0, 5.0])
    assert_allclose(data.scales[1].unscale(data.y[2:]), [10.0, 14.0])


def test_compressed_values_are_had_back_on_either_scale() -> None:
    joint = JointSpace.merge(TARGET, [SOURCE])
    for scaling in ("per-experiment", "pooled"):
        data = Dataset.build(joint, TRIALS, goal="minimize", scaling=scaling, compressed=True)
        assert_allclose(data.scales[0].unscale(data.y[:2]), [3.0, 5.0])
        assert_allclose(data.scales[1].unscale(data.y[2:]), [10.0, 14.0])
    # On one scale the median of -3, -5, 10 and 14 is 3.5, so both values of the target are bad.
    compression = data.scales[0].compression
    assert compression is not None
    assert compression == data.scales[1].compression
    assert compression.middle == 3.5
    assert compression.deepest == 8.5


def test_the_target_alone_stays_in_the_same_cube() -> None:
    data = Dataset.build(JointSpace.merge(TARGET, [SOURCE]), TRIALS, goal="minimize")
    alone = data.only_target()
    assert_array_equal(alone.X, data.X[:2])
    assert_array_equal(alone.y, data.y[:2])
    assert alone.encoder is data.encoder


def test_no_trials_at_all() -> None:
    data = Dataset.build(JointSpace.merge(TARGET), goal="minimize")
    assert data.X.shape == (0, 2)
    assert data.y.shape == data.noise.shape == data.experiment.shape == (0,)


def test_what_does_not_fit_is_refused() -> None:
    joint = JointSpace.merge(TARGET)
    with refused(SpaceError, "'a'", "11"):
        Dataset.build(joint, [Trial({"a": 11.0, "b": 0.0}, 1.0)], goal="minimize")
    with pytest.raises(DataError, match="'per-experiment' or 'pooled'"):
        Dataset.build(joint, scaling="together", goal="minimize")  # type: ignore[arg-type]
