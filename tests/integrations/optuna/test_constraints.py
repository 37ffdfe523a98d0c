"""The probability that constraints are kept."""

import math

import numpy as np
import pytest
from optuna.study import create_study
from optuna.trial import Trial as OptunaTrial

import hetbo as hb
from hetbo.acquisition._constraints import AllOf, Constraints, ProbabilityAbove
from hetbo.optuna import TransferSampler

SPACE = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
POINTS = np.random.default_rng(0).random((12, 2))
TRIALS = [hb.Trial({"x": float(x), "y": float(y)}, 0.0) for x, y in POINTS]
VALUES = [{"sum": float(x + y - 0.8), "x": float(x - 2)} for x, y in POINTS]
ENCODER = hb.Encoder(hb.JointSpace.merge(SPACE))


def fitted() -> Constraints:
    return Constraints.fit(VALUES, ENCODER, TRIALS, np.random.default_rng(0))


def test_trials_that_broke_a_constraint_are_known() -> None:
    assert fitted().kept.tolist() == [one["sum"] <= 0 for one in VALUES]


def test_only_constraints_that_were_broken_have_a_model() -> None:
    assert len(fitted().log_probabilities) == 1


def test_the_probability_is_high_where_a_constraint_is_kept() -> None:
    (kept,) = fitted().log_probabilities
    log_probability, _ = kept(np.array([[0.1, 0.1], [0.4, 0.4], [0.9, 0.9]]))
    assert np.exp(log_probability[0]) > 0.99
    assert 0.05 < np.exp(log_probability[1]) < 0.95
    assert np.exp(log_probability[2]) < 0.01


def test_the_probability_is_that_of_a_normal_variable() -> None:
    (kept,) = fitted().log_probabilities
    assert isinstance(kept, ProbabilityAbove)
    X = np.array([[0.3, 0.45], [0.6, 0.1]])
    moments = kept.predictor(X)
    for k in range(2):
        z = (moments.mean[k] - kept.threshold) / moments.sd[k]
        assert math.exp(kept(X)[0][k]) == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)))


def test_gradients_are_those_of_finite_differences() -> None:
    (kept,) = fitted().log_probabilities
    several = AllOf([kept, kept])
    X, step = np.random.default_rng(1).random((5, 2)), 1e-6
    value, gradient = several(X)
    assert value == pytest.approx(2 * kept(X)[0])
    for column in range(2):
        shift = np.eye(2)[column] * step
        rise = (several(X + shift)[0] - several(X - shift)[0]) / (2 * step)
        assert gradient[:, column] == pytest.approx(rise, rel=1e-3, abs=1e-4)


def test_without_constraints_everything_is_allowed() -> None:
    free = Constraints.fit((), ENCODER, TRIALS, np.random.default_rng(0))
    assert free.kept.all()
    assert free.combined_with(None) is None


def test_infinite_values_count_as_far_off() -> None:
    values = [{"c": math.inf if x > 0.5 else -math.inf} for x, _ in POINTS]
    (kept,) = Constraints.fit(values, ENCODER, TRIALS, np.random.default_rng(0)).log_probabilities
    log_probability, _ = kept(np.array([[0.2, 0.5], [0.8, 0.5]]))
    assert log_probability[0] > log_probability[1]


def test_the_best_on_the_edge_is_found() -> None:
    def objective(trial: OptunaTrial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("sum", x + y - 0.8)
        return -x - y

    study = create_study(sampler=TransferSampler(seed=0, method="vanilla"))
    study.optimize(objective, n_trials=15)
    late = [trial.constraints["sum"] for trial in study.trials[10:]]
    assert max(late) < 0.1
    assert study.best_value < -0.78


def test_something_allowed_is_found_where_little_is() -> None:
    def objective(trial: OptunaTrial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("corner", max(x, y) - 0.3)
        return -x - y

    study = create_study(sampler=TransferSampler(seed=0, method="vanilla"))
    study.optimize(objective, n_trials=15)
    assert any(trial.constraints["corner"] <= 0 for trial in study.trials)
