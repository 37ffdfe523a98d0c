"""The view model: what a report is made of."""

import numpy as np
import pytest
import torch

from hetbo import Experiment, Float, Optimizer, Space, Trial, TrialState
from hetbo.errors import FitError
from hetbo.report import words
from hetbo.report.building import view_of
from hetbo.report.findings import Correlations
from hetbo.report.replay import TrustStep
from hetbo.report.snapshot import Snapshot
from hetbo.report.view import Absent, TrustHistory, View


def test_it_says_what_explain_says(tuned: Optimizer, view: View) -> None:
    explanation = tuned.explain()
    assert view.explanation.sentence == explanation.sentence
    assert isinstance(view.trust, TrustHistory)
    assert dict(zip(view.trust.names, view.trust.steps[-1].trust, strict=True)) == dict(
        explanation.sources
    )
    assert isinstance(view.correlations, Correlations)
    assert view.correlations.names == ("target", "past")
    assert view.correlations.matrix[0][1] == pytest.approx(explanation.correlations["past"])
    assert view.correlations.matrix[1][0] == pytest.approx(explanation.correlations["past"])
    assert not isinstance(view.learned, Absent)
    assert {value.parameter for value in view.learned} == {"kind", "c"}


def test_looking_changes_nothing_is_repeatable_and_tells_its_progress(
    tuned: Optimizer, view: View
) -> None:
    before = tuned.to_json()
    calls: list[tuple[int, int]] = []
    again = view_of(tuned, title="", progress=lambda done, total: calls.append((done, total)))
    assert tuned.to_json() == before
    assert again.run == view.run
    assert again.trust == view.trust
    assert again.effects == view.effects
    assert again.left_out == view.left_out
    total = calls[0][1]
    assert calls == [(done, total) for done in range(1, total + 1)]


def test_the_best_so_far_is_the_running_minimum(tuned: Optimizer, view: View) -> None:
    values = [np.inf if trial.value is None else trial.value for trial in tuned.trials]
    assert list(view.run.best_so_far) == np.minimum.accumulate(values).tolist()
    assert view.run.best_trial == tuned.best
    assert view.run.count(TrialState.FAILED) == 1


def test_nothing_is_the_best_before_a_value() -> None:
    optimizer = Optimizer(Space(a=Float(0, 1)), seed=0)
    optimizer.tell_failure({"a": 0.5})
    optimizer.tell({"a": 0.1}, -1.0)
    assert view_of(optimizer, title="").run.best_so_far == (None, -1.0)


def test_effects_are_the_weighted_posterior_through_the_best_trial(
    tuned: Optimizer, view: View
) -> None:
    snapshot = Snapshot.of(tuned)
    fitted, best = snapshot.fitted(), tuned.best
    assert fitted is not None
    assert best is not None
    assert not isinstance(view.effects, Absent)
    assert {effect.parameter for effect in view.effects} == set(tuned.space)
    sizes = [effect.size for effect in view.effects]
    assert sizes == sorted(sizes, reverse=True)
    for effect in view.effects:
        assert effect.at in effect.places
        params = [{**best.params, effect.parameter: place} for place in effect.places]
        X = torch.from_numpy(np.nan_to_num(snapshot.engine.encoder.encode(params)))
        mean = np.zeros(len(params))
        for name, model in fitted.models.items():
            scale = model.data.scales[0]
            with torch.no_grad():
                posterior = model.posterior(X)
                mean += fitted.weights[name] * scale.unscale(posterior.mean.flatten().numpy())
        np.testing.assert_allclose(effect.band.middle, mean, rtol=1e-6, atol=1e-6)
        assert np.all(np.array(effect.band.low) < mean)
        assert np.all(np.array(effect.band.high) > mean)


def test_left_out_predictions_are_in_the_order_of_trials(tuned: Optimizer, view: View) -> None:
    assert not isinstance(view.left_out, Absent)
    told = {n: t.value for n, t in enumerate(tuned.trials) if t.value is not None}
    assert dict(zip(view.left_out.trials, view.left_out.observed, strict=True)) == told
    assert 0 <= view.left_out.inside <= len(told)
    assert view.left_out.band.low < view.left_out.band.high


def test_a_model_that_cannot_be_fitted_is_told(
    tuned: Optimizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FitError("no start succeeded")

    monkeypatch.setattr("hetbo.engine.fit", fails)
    view = view_of(tuned, title="")
    assert view.explanation.sentence == "The models could not be fitted: no start succeeded."
    for part in (view.trust, view.correlations, view.learned, view.effects, view.left_out):
        assert part == Absent(view.explanation.sentence)


def history(*trust: float) -> TrustHistory:
    return TrustHistory(("old",), tuple(TrustStep(2 * n, (t,)) for n, t in enumerate(trust)))


@pytest.mark.parametrize(
    ("trust", "title"),
    [
        ((0.1, 0.5, 0.8, 0.9), "'old' is followed closely from 4 trials on"),
        ((0.9, 0.1, 0.8, 0.8), "'old' is followed closely from 4 trials on"),
        ((0.8, 0.8), "'old' is followed closely throughout"),
        ((0.8, 0.2), "'old' hardly counts from 2 trials on"),
        ((0.5,), "'old' is followed with caution"),
    ],
)
def test_the_title_says_since_when_a_source_is_trusted(
    trust: tuple[float, ...], title: str
) -> None:
    assert words.trust_title(history(*trust)) == title


def test_many_sources_are_summed_up() -> None:
    several = TrustHistory(("a", "b", "c", "d"), (TrustStep(0, (0.1, 0.9, 0.5, 0.2)),))
    assert words.trust_title(several) == (
        "'b' is followed closely; 'c' is followed with caution; "
        "2 others are trusted no more than that"
    )


@pytest.mark.parametrize(
    ("correlation", "title"),
    [
        (0.8, "The target goes along with 'old' (+0.80)"),
        (-0.8, "The target runs against 'old' (-0.80)"),
        (0.1, "The target goes along with no source (at most +0.10)"),
    ],
)
def test_the_title_says_which_way_the_target_goes(correlation: float, title: str) -> None:
    found = Correlations(("target", "old"), ((1.0, correlation), (correlation, 1.0)))
    assert words.correlation_title(found) == title


def test_the_comparison_counts_the_trials_that_did_better_than_expected(view: View) -> None:
    assert not isinstance(view.run.expectations, Absent)
    told = [e for e in view.run.expectations if e.trial < 9]
    # The goal is to minimise.
    ahead = sum((view.run.best_so_far[e.trial] or 0.0) < e.expected for e in told)
    assert told
    assert f"After {ahead} of {len(told)} compared trials" in words.comparison(view.run)


def test_a_source_without_values_is_no_source_to_learn_from() -> None:
    space = Space(a=Float(0, 1))
    optimizer = Optimizer(space, sources=[Experiment("empty", space)], seed=0, n_initial=1)
    for a in (0.1, 0.4, 0.8):
        optimizer.tell({"a": a}, a)
    view = view_of(optimizer, title="")
    assert isinstance(view.trust, Absent)
    assert "No trial of the sources has a value" in view.trust.reason


def test_few_values_cannot_be_predicted_from_each_other() -> None:
    space = Space(a=Float(0, 1))
    past = Experiment("past", space, [Trial({"a": 0.1 * n}, n / 3) for n in range(6)])
    optimizer = Optimizer(space, sources=[past], seed=0)
    optimizer.tell({"a": 0.2}, 1.0)
    view = view_of(optimizer, title="")
    assert isinstance(view.left_out, Absent)
    assert isinstance(view.learned, Absent)
    assert "No value is missing" in view.learned.reason
