"""Integers: the posterior is constant between rounding points."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hetbo import Float, Int, JointSpace, Space
from hetbo.encoding import Dataset, Encoder
from hetbo.models import TargetGP, fit
from hetbo.models._rounding import Rounding
from model_datasets import drawn_trials

SPACE = Space(depth=Int(1, 6), rate=Float(0.0, 1.0), width=Int(4, 400, log=True))


def test_posterior_is_constant_between_rounding_points() -> None:
    data = Dataset.build(
        JointSpace.merge(SPACE), drawn_trials(SPACE, 8, np.random.default_rng(0)), goal="minimize"
    )
    model = fit(TargetGP(data))
    X = torch.full((601, 1, 3), 0.4, dtype=torch.float64)
    X[:, 0, 0] = torch.linspace(0, 1, 601, dtype=torch.float64)
    # One by one: equal rows of one matrix product may differ in their last bit, on some processors.
    mean = torch.stack([model.posterior(x).mean.squeeze() for x in X])
    assert len(set(mean.tolist())) == 6
    assert (mean.diff() != 0).sum() == 5


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_rounding_is_the_encoders_snap(point: list[float]) -> None:
    encoder = Encoder(JointSpace.merge(SPACE))
    X = np.array([point])
    expected = encoder.snap(X)
    expected[:, encoder.columns.of("rate")] = X[:, encoder.columns.of("rate")]
    assert_array_equal(Rounding(encoder)(torch.from_numpy(X)).numpy(), expected)


def test_very_many_integers_are_as_good_as_a_float() -> None:
    encoder = Encoder(JointSpace.merge(Space(n=Int(0, 1_000_000))))
    assert Rounding(encoder).columns == []
    X = np.random.default_rng(0).random((50, 1))
    assert np.abs(encoder.snap(X) - X).max() < 1e-6
