"""The paper's models in its settings: the laws of all models, and what is theirs alone."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo import Float, JointSpace, Space, Trial
from hetbo.encoding import Dataset
from hetbo.models import TransferGP, TransferKernel, fit
from hetbo_bench.paper.models import (
    PaperCommonGP,
    PaperConditionalGP,
    PaperImputedGP,
    PaperTargetGP,
)
from hetbo_bench.paper.presence import PresenceBlockKernel
from model_datasets import random_dataset
from model_laws import (
    check_gradient,
    check_gradients_of_predictions,
    check_log_posterior,
    check_predictions,
    points_of,
    with_random_parameters,
)

MODELS: Mapping[str, Callable[[Dataset], TransferGP]] = {
    "target": PaperTargetGP,
    "common": PaperCommonGP,
    "conditional": PaperConditionalGP,
    "presence": lambda data: PaperConditionalGP(data, presence=True),
    "fixed": lambda data: PaperImputedGP(data, learned=False),
    "learned": PaperImputedGP,
}
cases = pytest.mark.parametrize("name", MODELS)


@cases
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_the_log_posterior_is_gpytorchs(name: str, seed: int) -> None:
    check_log_posterior(MODELS[name](random_dataset(seed)), seed)
    check_gradient(MODELS[name](random_dataset(seed)), seed)


@cases
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_quick_predictions_are_the_posteriors(name: str, seed: int) -> None:
    model = with_random_parameters(MODELS[name](random_dataset(seed)), seed)
    X = points_of(model, 5, seed)
    check_predictions(model, X)
    check_gradients_of_predictions(model, X)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_presence_adds_which_blocks_two_experiments_have(seed: int, experiments: int) -> None:
    data = random_dataset(seed, experiments=experiments, trials=3)
    model = with_random_parameters(PaperConditionalGP(data, presence=True), seed)
    shared = model.covar_module.shared
    assert isinstance(shared, PresenceBlockKernel)
    B, scales = (t.detach().numpy() for t in (shared.task.matrix, shared.raw_marks))
    blocks = data.encoder.joint.blocks
    marks = np.array([[i in b.experiments for b in blocks] for i in range(experiments)], float)
    inputs = model.imputation(model.train_inputs[0])
    terms = TransferKernel(shared, None).terms()
    whole = model.covar_module.forward(inputs, inputs).detach().numpy()
    rest = np.zeros_like(whole)
    for factor, kernel in terms[1:]:
        spread = factor.detach().numpy()[np.ix_(data.experiment, data.experiment)]
        rest += spread * kernel.forward(inputs, inputs).detach().numpy()
    added = np.array(
        [
            [
                B[i, j] * math.exp(-0.5 * (((marks[i] - marks[j]) / scales) ** 2).sum())
                for j in data.experiment
            ]
            for i in data.experiment
        ]
    )
    assert_allclose(whole - rest, added, rtol=1e-9, atol=1e-12)


def test_a_fit_starts_as_published() -> None:
    model = PaperImputedGP(random_dataset(3))
    z = model.parameter_vector().read()
    slots = model.parameter_vector().slots
    assert (z[slots["length scales 0"].where] == 0.0).all()  # the logarithm of 1
    assert_allclose(z[slots["noise"].where], math.log(0.01))
    assert (z[slots["values"].where] == 0.0).all()
    first, other = (model.parameter_vector().first(np.random.default_rng(seed)) for seed in (0, 1))
    drawn = {name for name, slot in slots.items() if (first != other)[slot.where].any()}
    assert drawn == {"factor", "own"}


def test_without_sources_the_variance_stays_at_one() -> None:
    model = fit(PaperTargetGP(random_dataset(1)), starts=1)
    assert model.covar_module.shared.task.matrix.item() == 1.0


def test_a_fit_ends_at_a_tenth_of_what_was_tried() -> None:
    """A wave with four periods wants a length-scale shorter than that."""
    space = Space(a=Float(0, 1), b=Float(0, 1))
    trials = [
        Trial({"a": a / 2, "b": 0.5}, np.sin(8 * np.pi * a)) for a in np.linspace(0, 1, 61).tolist()
    ]
    data = Dataset.build(JointSpace.merge(space), trials, scaling="pooled", goal="minimize")
    (block,) = fit(PaperTargetGP(data)).covar_module.shared.blocks
    assert float(block.lengthscale[0].detach()) == pytest.approx(0.1)
    assert block.widths.tolist() == [0.5, 1.0]
