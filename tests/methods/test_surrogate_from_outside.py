"""A surrogate that is no Gaussian process of ours is one new file: this one."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_allclose
from optuna.study import create_study
from optuna.trial import Trial as OptunaTrial

import hetbo as hb
from hetbo.encoding import Dataset, OutcomeScale
from hetbo.methods import EnsembleMember, Recipe
from hetbo.models import (
    FittedDefaults,
    FittedSurrogate,
    GPSurrogate,
    LeaveOneOut,
    Moments,
    SourceUse,
    TargetGP,
)
from hetbo.optuna import TransferSampler
from hetbo.report import report_html

Array = npt.NDArray[np.float64]
_OWN_NOISE, _OTHER_NOISE = 1e-3, 0.5
"""The variance of the target's values, and of sources' values taken for values of the target."""


@dataclass(frozen=True)
class RandomFeatures:
    """Bayesian linear regression on random cosines; sources count as noisy trials of the target."""

    count: int = 80

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,  # noqa: ARG002
        warm_start: tuple[float, ...] | None = None,  # noqa: ARG002
    ) -> "FittedFeatures":
        """Draw the features; all else has a closed form."""
        directions = rng.normal(scale=2.0, size=(len(data.encoder.columns), self.count))
        directions[data.missing[0]] = 0.0
        return FittedFeatures(
            data.scales[0],
            directions,
            rng.uniform(0, 2 * np.pi, size=self.count),
            np.nan_to_num(data.X, nan=0.5),
            data.y,
            data.experiment,
            len(data.names),
        )

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class FittedFeatures(FittedDefaults):
    """The regression, given trials."""

    scale: OutcomeScale
    directions: Array
    phases: Array
    X: Array
    y: Array
    experiment: npt.NDArray[np.intp]
    experiments: int

    def _features(self, X: Array) -> tuple[Array, Array]:
        """Return the features, and their slopes along their directions."""
        angle, size = X @ self.directions + self.phases, math.sqrt(2 / len(self.phases))
        return size * np.cos(angle), -size * np.sin(angle)

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """The mean and the covariance of the features' weights."""
        features, _ = self._features(self.X)
        scaled = features / np.where(self.experiment == 0, _OWN_NOISE, _OTHER_NOISE)[:, np.newaxis]
        precision = np.eye(len(self.phases)) + scaled.T @ features
        covariance = np.linalg.inv(precision).astype(np.float64)
        return covariance @ scaled.T @ self.y, covariance

    def __call__(self, X: Array) -> Moments:
        mean, covariance = self._weights
        features, slopes = self._features(X)
        pull = features @ covariance
        sd = np.sqrt((pull * features).sum(1) + 1e-9)
        return Moments(
            features @ mean,
            sd,
            (slopes * mean) @ self.directions.T,
            (slopes * pull) @ self.directions.T / sd[:, np.newaxis],
        )

    def values(self, X: Array) -> tuple[Array, Array]:
        moments = self(X)
        return moments.mean, moments.sd

    @property
    def observed(self) -> Array:
        own: Array = self.y[self.experiment == 0]
        return own

    def leave_one_out(self) -> LeaveOneOut:
        features, _ = self._features(self.X)
        noise = np.where(self.experiment == 0, _OWN_NOISE, _OTHER_NOISE)
        precision = np.linalg.inv(features @ features.T + np.diag(noise))
        own = self.experiment == 0
        variance = 1 / precision.diagonal()[own]
        error = (precision @ self.y)[own] * variance
        return LeaveOneOut.of(self.observed, self.observed - error, variance)

    def condition(self, X: Array, y: Array) -> "FittedFeatures":
        return replace(
            self,
            X=np.concatenate([self.X, X]),
            y=np.concatenate([self.y, y]),
            experiment=np.append(self.experiment, np.zeros(len(y), dtype=np.intp)),
        )

    def sources(self) -> SourceUse:
        share = 1 / (1 + _OTHER_NOISE)
        others = self.experiments - 1
        return SourceUse(np.full(others, share), np.full(others, share))


FEATURES = Recipe(
    {"features": EnsembleMember(RandomFeatures(), scaling="pooled")},
    "regression on random features",
)
MIXED = Recipe(
    {
        "features": EnsembleMember(RandomFeatures(), scaling="pooled"),
        "vanilla": EnsembleMember(GPSurrogate(TargetGP), transfers=False),
    },
    "random features beside vanilla",
)
SPACE = hb.Space(x=hb.Float(0, 1), depth=hb.Int(1, 5), kind=hb.Categorical("a", "b"))


def value(x: float, depth: int, kind: str) -> float:
    return (x - 0.3) ** 2 + 0.05 * abs(depth - 2) + 0.1 * (kind == "b")


def told(tuner: hb.Optimizer, count: int) -> hb.Optimizer:
    for _ in range(count):
        trial = tuner.ask()
        tuner.tell(trial, value(**trial.params))  # type: ignore[arg-type]
    return tuner


def old() -> hb.Experiment:
    points = enumerate(np.random.default_rng(0).random(20).tolist())
    trials = [hb.Trial({"x": x, "depth": i % 5 + 1}, value(x, i % 5 + 1, "a")) for i, x in points]
    return hb.Experiment("old", SPACE.drop("kind"), trials, goal="minimize")


def made(method: Recipe, count: int = 6) -> hb.Optimizer:
    return told(hb.Optimizer(SPACE, sources=[old()], goal="minimize", method=method, seed=0), count)


def fitted(method: Recipe = FEATURES) -> FittedSurrogate:
    found = made(method).fitted()
    assert found is not None
    return found.models["features"]


def test_it_finds_good_parameters() -> None:
    best = made(FEATURES, 8).best
    assert best is not None
    assert best.value is not None
    assert best.value < 0.05


def test_it_goes_on_from_a_file(tmp_path: Path) -> None:
    tuner = made(FEATURES)
    tuner.save(tmp_path / "state.json")
    assert hb.Optimizer.load(tmp_path / "state.json", method=FEATURES).ask(2) == tuner.ask(2)


def test_it_starts_anew_if_it_returned_nothing_to_start_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[int, object]] = []
    fit = RandomFeatures.fit

    def noted(
        self: RandomFeatures,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,
        warm_start: tuple[float, ...] | None = None,
    ) -> "FittedFeatures":
        seen.append((starts, warm_start))
        return fit(self, data, rng=rng)

    monkeypatch.setattr(RandomFeatures, "fit", noted)
    made(FEATURES, 3)
    assert len(seen) >= 3
    assert set(seen) == {(FEATURES.first_starts, None)}


def test_it_can_be_one_of_several_members() -> None:
    weights = made(MIXED).explain().models
    assert set(weights) == {"features", "vanilla"}
    assert sum(weights.values()) == pytest.approx(1.0)


def test_it_explains_itself() -> None:
    found = made(FEATURES).explain()
    assert found.sources == {"old": pytest.approx((1 / 1.5) ** 2)}
    assert "'old' is followed with caution so far; its correlation" in found.sentence
    assert "not known yet" in found.sentence


def test_it_has_a_report() -> None:
    page = report_html(made(MIXED))
    assert "does not learn the values of parameters" in page
    assert "Predictions" in page


def test_an_optuna_study_uses_it() -> None:
    def objective(trial: OptunaTrial) -> float:
        x, depth = trial.suggest_float("x", 0, 1), trial.suggest_int("depth", 1, 5)
        return value(x, depth, trial.suggest_categorical("kind", ["a", "b"]))

    study = create_study(sampler=TransferSampler([old()], space=SPACE, method=FEATURES, seed=0))
    study.optimize(objective, n_trials=8)
    assert study.best_value < 0.05


def test_its_gradients_are_finite_differences() -> None:
    model, X, step = fitted(), np.random.default_rng(1).random((5, 4)), 1e-6
    moments = model(X)
    for column in range(4):
        move = step * np.eye(4)[column]
        above, below = model(X + move), model(X - move)
        numeric = (above.mean - below.mean) / (2 * step)
        assert_allclose(moments.mean_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)
        numeric = (above.sd - below.sd) / (2 * step)
        assert_allclose(moments.sd_gradient[:, column], numeric, rtol=1e-4, atol=1e-6)


def test_believed_values_are_taken_as_measured() -> None:
    X = np.random.default_rng(2).random((2, 4))
    mean, sd = fitted().condition(X, np.array([3.0, -3.0])).values(X)
    assert_allclose(mean, [3.0, -3.0], atol=0.1)
    assert (sd < 0.1).all()


def test_each_trial_is_predicted_from_the_others() -> None:
    model = fitted()
    assert isinstance(model, FittedFeatures)
    found = model.leave_one_out()
    rest = np.arange(len(model.y)) != 2
    without = replace(model, X=model.X[rest], y=model.y[rest], experiment=model.experiment[rest])
    mean, sd = without.values(model.X[2:3])
    assert found.mean[2] == pytest.approx(mean[0], rel=1e-6)
    assert found.sd[2] == pytest.approx(np.sqrt(sd[0] ** 2 + _OWN_NOISE), rel=1e-5)
