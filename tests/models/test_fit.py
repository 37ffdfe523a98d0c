"""The fit: against BoTorch's on the same model, its laws, its failures."""

import logging
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from gpytorch.mlls import ExactMarginalLogLikelihood
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo import Experiment, FitError, JointSpace, Space
from hetbo._arrays import FloatArray
from hetbo.encoding import Dataset
from hetbo.models import (
    ConditionalGP,
    ImputedGP,
    MarginalLikelihood,
    NotPositiveDefinite,
    TargetGP,
    TransferGP,
    fit,
    maximize,
)
from hetbo.models._fit import explore
from model_datasets import MODELS, PARAMETERS, dataset, drawn_trials, random_dataset

cases = pytest.mark.parametrize("name", MODELS)


def wave(p: Mapping[str, float]) -> float:
    return math.sin(6 * p["a"]) + p["b"] * p["c"]


WAVES = dataset(
    {"target": ("a", "b", "c"), "source": ("a", "b")},
    wave,
    {"target": 12, "source": 15},
)


def log_posterior(model: TransferGP) -> float:
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    mll.train()
    value = mll(model(*model.train_inputs), model.train_targets, *model.train_inputs)
    model.eval()
    return float(value.detach()) * len(model.train_targets)


@pytest.mark.parametrize("name", ["conditional, residual", "imputed, residual", "common", "target"])
def test_reaches_what_botorchs_fit_reaches(name: str) -> None:
    theirs, ours = MODELS[name](WAVES), fit(MODELS[name](WAVES))
    fit_gpytorch_mll(
        ExactMarginalLogLikelihood(theirs.likelihood, theirs),
        optimizer_kwargs={"options": {"maxiter": 150}},
    )
    assert log_posterior(ours) >= log_posterior(theirs) - 1e-2


@cases
def test_report_says_what_happened(name: str) -> None:
    model = fit(MODELS[name](WAVES), starts=3)
    report = model.fit_report
    assert report is not None
    assert report.map_value == pytest.approx(log_posterior(model), abs=1e-6)
    assert report.map_value == max(report.start_values)
    assert report.starts == len(report.start_values) == 3
    assert report.evaluations > 3
    assert report.seconds > 0
    assert report.failures == ()
    assert not model.training


@cases
def test_fit_is_a_stationary_point_inside_its_bounds(name: str) -> None:
    model = fit(MODELS[name](WAVES))
    likelihood = MarginalLikelihood(model)
    z = likelihood.vector.read()
    value, gradient = likelihood(z)
    low, high = likelihood.vector.bounds
    pushed = ((z <= low + 1e-6) & (gradient < 0)) | ((z >= high - 1e-6) & (gradient > 0))
    assert np.abs(gradient[~pushed]).max(initial=0.0) < 0.1
    assert value == pytest.approx(log_posterior(model), abs=1e-6)


def test_same_generator_same_fit() -> None:
    one, two = (fit(ImputedGP(WAVES), rng=np.random.default_rng(5)).state_dict() for _ in range(2))
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_fit_leaves_global_state_alone() -> None:
    numpy_state, torch_state = np.random.get_state(legacy=False), torch.get_rng_state()  # noqa: NPY002
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    fit(ImputedGP(WAVES))
    assert repr(numpy_state) == repr(np.random.get_state(legacy=False))  # noqa: NPY002
    assert torch.equal(torch_state, torch.get_rng_state())
    assert (threads, dtype) == (torch.get_num_threads(), torch.get_default_dtype())


def test_warm_start_saves_evaluations_and_is_no_worse() -> None:
    first = fit(ImputedGP(WAVES, residual=True)).fit_report
    assert first is not None
    cold = fit(ImputedGP(WAVES, residual=True), starts=1).fit_report
    warm = fit(ImputedGP(WAVES, residual=True), starts=1, warm_start=first.parameters).fit_report
    assert cold is not None
    assert warm is not None
    assert warm.evaluations < cold.evaluations
    assert warm.map_value >= cold.map_value - 1e-3


def test_warm_start_from_another_kind_of_model_is_ignored() -> None:
    cold = fit(ConditionalGP(WAVES), starts=1)
    warm = fit(ConditionalGP(WAVES), starts=1, warm_start=[0.0, 0.0])
    assert cold.fit_report is not None
    assert warm.fit_report is not None
    assert warm.fit_report.map_value == cold.fit_report.map_value


def predictions(model: TransferGP) -> FloatArray:
    """Means for some points of the target."""
    encoder = model.data.encoder
    grid = drawn_trials(encoder.joint.target.space, 4, np.random.default_rng(1))
    X = torch.from_numpy(np.nan_to_num(encoder.encode([trial.params for trial in grid])))
    return np.asarray(model.posterior(X).mean.detach().numpy())


@cases
@settings(max_examples=3)
@given(seed=st.integers(0, 1000))
def test_order_of_sources_does_not_change_predictions(name: str, seed: int) -> None:
    joint = random_dataset(seed, experiments=3, trials=5).encoder.joint
    space, sources = joint.target.space, joint.sources
    trials = drawn_trials(space, 5, np.random.default_rng(seed))
    forwards, backwards = (
        predictions(
            fit(
                MODELS[name](Dataset.build(JointSpace.merge(space, order), trials, goal="minimize"))
            )
        )
        for order in (sources, sources[::-1])
    )
    assert_allclose(forwards, backwards, rtol=0, atol=0)


def test_a_failing_start_is_tried_with_larger_diagonals(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    evaluate = MarginalLikelihood.evaluate

    def fragile(self: MarginalLikelihood, z: FloatArray) -> object:
        if self.jitter < 1e-6:
            raise NotPositiveDefinite
        return evaluate(self, z)

    monkeypatch.setattr(MarginalLikelihood, "evaluate", fragile)
    with caplog.at_level(logging.INFO, logger="hetbo"):
        model = fit(TargetGP(WAVES), starts=1)
    assert model.fit_report is not None
    assert [f.split(" on ")[0][-5:] for f in model.fit_report.failures] == ["ith 0", "1e-08"]
    assert "not positive definite" in caplog.text


def test_parameters_that_cannot_be_polished_stay_as_they_were_found(
    caplog: pytest.LogCaptureFixture,
) -> None:
    searched: list[tuple[float, FloatArray]] = []

    def kept(likelihood: MarginalLikelihood, start: FloatArray) -> tuple[float, FloatArray]:
        searched.append(explore(likelihood, start))
        return searched[-1]

    def failing(*_: object) -> tuple[float, FloatArray]:
        raise NotPositiveDefinite

    with caplog.at_level(logging.WARNING, logger="hetbo"):
        report = fit(TargetGP(WAVES), starts=2, search=kept, last_search=failing).fit_report
    assert report is not None
    assert "not polished" in caplog.text
    assert report.map_value == max(value for value, _ in searched)


def test_the_best_start_is_polished_with_its_own_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = MarginalLikelihood.evaluate
    seen: list[float] = []

    def first_start_fragile(self: MarginalLikelihood, z: FloatArray) -> object:
        seen.append(self.jitter)
        if self.jitter < 1e-6 and 1e-6 not in seen:
            raise NotPositiveDefinite
        return evaluate(self, z)

    def worse_later(likelihood: MarginalLikelihood, start: FloatArray, **options: Any) -> object:  # noqa: ANN401
        value, z = maximize(likelihood, start, **options)
        return (value if likelihood.jitter == 1e-6 else -1e9), z

    monkeypatch.setattr(MarginalLikelihood, "evaluate", first_start_fragile)
    monkeypatch.setattr("hetbo.models._fit.maximize", worse_later)
    fit(TargetGP(WAVES), starts=2)
    assert 0.0 in seen[seen.index(1e-6) :]
    assert seen[-1] == 1e-6


def test_a_fit_that_fails_for_good_says_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise NotPositiveDefinite

    monkeypatch.setattr(MarginalLikelihood, "evaluate", broken)
    with pytest.raises(FitError, match=r"'target', 'source' .* none of \d starts .* 0\.0001"):
        fit(ImputedGP(WAVES))


def test_data_that_is_not_finite_names_its_experiment() -> None:
    space = Space.from_mapping({"rate": PARAMETERS["rate"]})
    old = Experiment(
        "old", space, drawn_trials(space, 3, np.random.default_rng(0)), goal="minimize"
    )
    data = Dataset.build(JointSpace.merge(space, [old]), goal="minimize")
    data.y[1] = np.nan
    with pytest.raises(FitError, match="'old' has 1 trials that are not finite"):
        fit(ImputedGP(data))


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(
        FitError, match="unknown settings 'papers'; expected one of 'default', 'one scale'"
    ):
        ImputedGP(WAVES, settings="papers")
