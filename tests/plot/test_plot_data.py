"""What charts show of a run: the numbers and the sentences."""

import numpy as np
import pytest
import torch

from helpers import refused
from hetbo import Experiment, Float, HetboError, Optimizer, Space, Trial, TrialState
from hetbo.errors import FitError
from hetbo.models import Correlation, FittedGP
from hetbo.plot import (
    Drawing,
    NothingToShowError,
    Run,
    correlations,
    effects,
    missing_values,
    predictions,
    trust,
)
from hetbo.plot._correlations import Correlations, correlation_sentence, correlations_of
from hetbo.plot._effects import effects_of
from hetbo.plot._missing_values import learned_of
from hetbo.plot._predictions import predicted_trials
from hetbo.plot._trust import trust_history


def test_it_says_what_explain_says(tuned: Optimizer, run: Run) -> None:
    explanation = tuned.explain()
    assert run.explanation.sentence == explanation.sentence
    history = trust_history(run)
    last = {name: values[-1] for name, values in history.trust.items()}
    assert last == dict(explanation.sources)
    found = correlations_of(run)
    assert found.names == ("target", "past")
    assert found.matrix[0][1] == explanation.correlations["past"]
    assert found.matrix[1][0] == explanation.correlations["past"]
    assert {value.parameter for value in learned_of(run)} == {"kind", "c"}


def test_the_explanation_and_the_chart_agree_on_what_is_known(run: Run) -> None:
    known = sum(value.known for value in learned_of(run))
    assert run.explanation.sentence.count("seems to have been") == known
    assert run.explanation.sentence.count("The trials cannot tell the") == 2 - known
    assert missing_values.drawing(run).sentence == (
        "None of the 2 missing values can be narrowed down yet"
    )


def test_looking_changes_nothing_is_repeatable_and_tells_its_progress(
    tuned: Optimizer, run: Run
) -> None:
    before = tuned.to_json()
    calls: list[tuple[int, int]] = []
    again = Run(tuned, progress=lambda done, total: calls.append((done, total)))
    assert trust_history(again) == trust_history(run)
    assert effects_of(again) == effects_of(run)
    assert predicted_trials(again) == predicted_trials(run)
    assert tuned.to_json() == before
    total = calls[0][1]
    assert calls == [(done, total) for done in range(1, total + 1)]


def test_a_run_that_went_on_is_refused(tuned: Optimizer) -> None:
    optimizer = Optimizer.from_json(tuned.to_json())
    run = Run(optimizer)
    optimizer.ask()
    with refused(HetboError, "asked or told since", "make a new Run"):
        effects(run)


def test_the_best_so_far_is_the_running_minimum(tuned: Optimizer, run: Run) -> None:
    values = [np.inf if trial.value is None else trial.value for trial in tuned.trials]
    assert list(run.best_so_far) == np.minimum.accumulate(values).tolist()
    assert run.best_trial == tuned.best
    assert run.count(TrialState.FAILED) == 1


def test_nothing_is_the_best_before_a_value() -> None:
    optimizer = Optimizer(Space(a=Float(0, 1)), seed=0, goal="minimize")
    optimizer.tell_failure({"a": 0.5})
    optimizer.tell({"a": 0.1}, -1.0)
    assert Run(optimizer).best_so_far == (None, -1.0)


def test_effects_are_the_weighted_posterior_through_the_best_trial(
    tuned: Optimizer, run: Run
) -> None:
    fitted, best = tuned.fitted(), tuned.best
    assert fitted is not None
    assert best is not None
    found = effects_of(run)
    assert {effect.parameter for effect in found} == set(tuned.space)
    sizes = [effect.size for effect in found]
    assert sizes == sorted(sizes, reverse=True)
    for effect in found:
        assert effect.at in effect.places
        params = [{**best.params, effect.parameter: place} for place in effect.places]
        X = torch.from_numpy(np.nan_to_num(tuned.engine.encoder.encode(params)))
        mean = np.zeros(len(params))
        for name, model in fitted.models.items():
            assert isinstance(model, FittedGP)
            scale = model.scale
            with torch.no_grad():
                posterior = model.model.posterior(X)
                mean += fitted.weights[name] * scale.unscale(posterior.mean.flatten().numpy())
        np.testing.assert_allclose(effect.band.middle, mean, rtol=1e-6, atol=1e-6)
        assert np.all(np.array(effect.band.low) < mean)
        assert np.all(np.array(effect.band.high) > mean)


def test_predictions_are_in_the_order_of_trials(tuned: Optimizer, run: Run) -> None:
    found = predicted_trials(run)
    told = {n: t.value for n, t in enumerate(tuned.trials) if t.value is not None}
    assert dict(zip(found.trials, found.observed, strict=True)) == told
    assert len(found.fits) == len(told)
    assert found.band.low < found.band.high


def test_a_model_that_cannot_be_fitted_is_told(
    tuned: Optimizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FitError("no start succeeded")

    monkeypatch.setattr("hetbo.methods.Engine.fit", fails)
    run = Run(tuned)
    sentence = "The models could not be fitted: no start succeeded."
    assert run.explanation.sentence == sentence
    for chart in (trust, correlations, missing_values, effects, predictions):
        assert chart.drawing(run) == Drawing(sentence)


@pytest.mark.parametrize(
    ("correlation", "title"),
    [
        (
            Correlation(0.8, 0.5, 0.9),
            "The target is positively correlated with 'old' (between +0.50 and +0.90)",
        ),
        (
            Correlation(-0.8, -0.9, -0.4),
            "The target is negatively correlated with 'old' (between -0.90 and -0.40)",
        ),
        (
            Correlation(0.1, -0.2, 0.2),
            "Whether the target correlates with 'old' is open (between -0.20 and +0.20)",
        ),
        (
            Correlation(0.8, -0.5, 0.9),
            "How the target correlates with the sources is not known yet",
        ),
    ],
)
def test_the_title_says_which_way_the_target_goes(correlation: Correlation, title: str) -> None:
    itself = Correlation(1.0, 1.0, 1.0)
    found = Correlations(("target", "old"), ((itself, correlation), (correlation, itself)))
    assert correlation_sentence(found) == title


def test_a_source_without_values_is_no_source_to_learn_from() -> None:
    space = Space(a=Float(0, 1))
    optimizer = Optimizer(
        space,
        sources=[Experiment("empty", space, goal="minimize")],
        seed=0,
        n_initial=1,
        goal="minimize",
    )
    for a in (0.1, 0.4, 0.8):
        optimizer.tell({"a": a}, a)
    with refused(NothingToShowError, "No trial of the sources has a value"):
        trust_history(Run(optimizer))


def test_few_values_cannot_be_predicted_from_each_other() -> None:
    space = Space(a=Float(0, 1))
    past = Experiment(
        "past", space, [Trial({"a": 0.1 * n}, n / 3) for n in range(6)], goal="minimize"
    )
    optimizer = Optimizer(space, sources=[past], seed=0, goal="minimize")
    optimizer.tell({"a": 0.2}, 1.0)
    assert predictions.drawing(Run(optimizer)).figure is None
    assert "No value is missing" in missing_values.drawing(Run(optimizer)).sentence
