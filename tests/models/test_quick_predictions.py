"""The quick predictions against those of the models, and their gradients."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model_datasets import MODELS, random_dataset
from model_laws import (
    check_gradients_of_predictions,
    check_predictions,
    points_of,
    with_random_parameters,
)

cases = pytest.mark.parametrize("name", MODELS)


@cases
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_predictions_are_the_models(name: str, seed: int, noise: bool) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(seed, noise=noise)), seed)
    check_predictions(model, points_of(model, 6, seed))


@cases
def test_gradients_are_finite_differences(name: str) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(2)), 2)
    check_gradients_of_predictions(model, points_of(model, 5))


@cases
def test_conditioned_models_are_predicted_as_well(name: str) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(1)), 1)
    new = torch.from_numpy(points_of(model, 2, 5))
    more = model.condition_on_observations(new, torch.tensor([[0.3], [-0.2]], dtype=new.dtype))
    check_predictions(more, points_of(model, 4))
