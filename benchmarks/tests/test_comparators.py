"""Methods of other papers as surrogates: their formulas, written out, and what all must offer."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

import hetbo as hb
from hetbo.encoding import Dataset
from hetbo.methods import EnsembleMember, Recipe
from hetbo.models import LeaveOneOut, Surrogate, TargetGP, fit
from hetbo_bench.comparators import base
from hetbo_bench.comparators.ablr import ABLR, FittedABLR, log_evidence
from hetbo_bench.comparators.base import FittedComparator, FittedPrior, Sources, Trials, target_gp
from hetbo_bench.comparators.gps import GPs, Kernel
from hetbo_bench.comparators.hierarchical import FittedHierarchy, Hierarchical
from hetbo_bench.comparators.rgpe import RGPE, FittedMixture, ranking_weights
from hetbo_bench.comparators.scaml import FittedScaML, ScaML
from hetbo_bench.comparators.tst import TST, discordant_shares
from hetbo_bench.methods import BENCHED

Array = NDArray[np.float64]

SURROGATES: Mapping[str, Surrogate] = {
    "rgpe": RGPE(),
    "tst": TST(),
    "hierarchical": Hierarchical(),
    "scaml": ScaML(),
    "ablr": ABLR(),
}
SPACE = hb.Space(x=hb.Float(0, 1), depth=hb.Int(1, 5), kind=hb.Categorical("a", "b"))
SPACES = {
    "old": SPACE.drop("kind"),
    "other": hb.Space(x=hb.Float(0, 1), extra=hb.Float(0, 1)),
    "empty": SPACE,
}


def value(params: Mapping[str, object]) -> float:
    x, depth = cast("float", params.get("x", 0.5)), cast("int", params.get("depth", 3))
    bad = 0.1 * (params.get("kind") == "b") + 0.2 * cast("float", params.get("extra", 0.0))
    return (x - 0.3) ** 2 + 0.05 * abs(depth - 2) + bad


def sources(count: int = 20) -> list[hb.Experiment]:
    made = []
    for name, space in SPACES.items():
        rows = [
            t.params
            for t in hb.Optimizer(space, goal="minimize", method="random", seed=3).ask(count)
        ]
        trials = [] if name == "empty" else [hb.Trial(row, value(row)) for row in rows]
        made.append(hb.Experiment(name, space, trials, goal="minimize"))
    return made


def dataset(count: int = 6, old: list[hb.Experiment] | None = None) -> Dataset:
    tuner = hb.Optimizer(SPACE, goal="minimize", method="random", seed=0)
    trials = [hb.Trial(t.params, value(t.params)) for t in tuner.ask(count)] if count else []
    joint = hb.JointSpace.merge(SPACE, sources() if old is None else old)
    return Dataset.build(joint, trials, goal="minimize")


def fitted(name: str, data: Dataset | None = None) -> FittedComparator:
    found = SURROGATES[name].fit(data or dataset(), rng=np.random.default_rng(0))
    assert isinstance(found, FittedComparator)
    return found


def trials_of(data: Dataset, name: str) -> Trials:
    return Trials.of(data, data.names.index(name))


def points(data: Dataset, count: int = 5, seed: int = 1) -> Array:
    return np.random.default_rng(seed).random((count, len(data.encoder.columns)))


def squared_exponential(A: Array, B: Array, inverse: Array, variance: float) -> Array:
    found = np.empty((len(A), len(B)))
    for i, j in itertools.product(range(len(A)), range(len(B))):
        found[i, j] = variance * math.exp(-0.5 * sum(((A[i] - B[j]) * inverse) ** 2))
    return found


def kernel_of(kernel: Kernel, at: int | None = None) -> tuple[Array, float]:
    if at is None:
        return kernel.inverse.numpy(), float(kernel.variance)
    return kernel.inverse[at].numpy(), float(kernel.variance[at])


def conditioned(prior: Array, cross: Array, gram: Array, y: Array) -> tuple[Array, Array]:
    """Return the mean and the covariance of a Gaussian process, written out."""
    solved = np.linalg.solve(gram, cross.T)
    return solved.T @ y, prior - cross @ solved


# The processes of single experiments.


def test_processes_are_the_written_out_ones() -> None:
    data = dataset()
    gps, X = Sources.of(data).gps, points(data)
    mean, variance = gps.posterior(torch.from_numpy(X))
    covariance = gps.covariance(torch.from_numpy(X), torch.from_numpy(X))
    for at, name in enumerate(("old", "other")):
        own = trials_of(data, name)
        rows, inverse, scale = own.X.numpy(), *kernel_of(gps.kernel, at)
        gram = squared_exponential(rows, rows, inverse, scale) + 1
        gram += float(gps.noise[at]) * np.eye(len(rows))
        cross = squared_exponential(X, rows, inverse, scale) + 1
        prior = squared_exponential(X, X, inverse, scale) + 1
        oracle, spread = conditioned(prior, cross, gram, own.y.numpy())
        assert_allclose(mean[at].numpy(), oracle, atol=1e-7)
        assert_allclose(covariance[at].numpy(), spread, atol=1e-7)
        assert_allclose(variance[at].numpy(), spread.diagonal(), atol=1e-7)


def test_a_process_depends_on_what_its_source_tuned() -> None:
    data = dataset()
    gps = Sources.of(data).gps
    columns = data.encoder.columns
    used = (gps.kernel.inverse > 0).numpy()
    assert np.flatnonzero(used[0]).tolist() == sorted(columns.of("x", "depth"))
    assert np.flatnonzero(used[1]).tolist() == sorted(columns.of("x", "extra"))


def test_parameters_are_the_most_likely_ones() -> None:
    own = trials_of(dataset(), "old")
    gp = target_gp(own)

    def log_posterior(log_lengths: Array, log_variance: float, log_noise: float) -> float:
        rows, inverse = own.X.numpy(), np.zeros(own.X.shape[1])
        inverse[own.uses.numpy()] = np.exp(-log_lengths)
        gram = squared_exponential(rows, rows, inverse, math.exp(log_variance)) + 1
        gram += math.exp(log_noise) * np.eye(len(rows))
        found = stats.multivariate_normal(np.zeros(len(rows)), gram).logpdf(own.y.numpy())
        location = math.sqrt(2) + 0.5 * math.log(len(log_lengths))
        for logs, middle, scale in (
            (log_lengths, location, math.sqrt(3)),
            (log_variance, 0.0, 0.5),
            (log_noise, -4.0, 1.0),
        ):
            density = stats.lognorm.logpdf(np.exp(logs), scale, scale=math.exp(middle))
            found += float(np.sum(density))
        return float(found)

    best = (
        -np.log(gp.kernel.inverse[0].numpy()[own.uses.numpy()]),
        math.log(gp.kernel.variance[0]),
        math.log(gp.noise[0]),
    )
    at_best = log_posterior(*best)
    for step in (-0.05, 0.05):
        assert log_posterior(best[0] + step * np.array([1.0, 0.0]), *best[1:]) < at_best
        assert log_posterior(best[0] + step * np.array([0.0, 1.0]), *best[1:]) < at_best
        assert log_posterior(best[0], best[1] + step, best[2]) < at_best
    at_bound = best[2] < math.log(1.1e-4)
    assert at_bound or log_posterior(*best[:2], best[2] - 0.05) < at_best
    assert log_posterior(*best[:2], best[2] + 0.05) < at_best


def test_processes_predict_what_hetbos_do() -> None:
    rng = np.random.default_rng(0)
    space = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))
    rows = [{"x": float(a), "y": float(b)} for a, b in rng.random((30, 2))]
    trials = [hb.Trial(r, math.sin(5 * r["x"]) + r["y"] ** 2) for r in rows]
    data = Dataset.build(hb.JointSpace.merge(space), trials, goal="maximize")
    X = rng.random((50, 2))
    ours = target_gp(Trials.of(data, 0)).posterior(torch.from_numpy(X))[0][0].numpy()
    theirs = fit(TargetGP(data)).posterior(torch.from_numpy(X)).mean.squeeze(-1).detach().numpy()
    assert_allclose(ours, theirs, atol=0.05)


def test_the_same_sources_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Sources.of(dataset(3)).gps
    monkeypatch.setattr(GPs, "fit", None)
    assert Sources.of(dataset(5)).gps is first


def test_large_sources_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_MOST_TRIALS", 7)
    gps = Sources.of(dataset()).gps
    assert gps.X.shape[:2] == (2, 7)


# RGPE.


def test_weights_are_the_shares_of_draws_that_misrank_least() -> None:
    rng, n, draws = np.random.default_rng(0), 5, 40
    y = rng.normal(size=n)
    mean = np.array([y + rng.normal(scale=0.5, size=n) for _ in range(3)])
    root = rng.normal(scale=0.2, size=(3, n, n))
    covariance = root @ root.transpose(0, 2, 1) + 0.05 * np.eye(n)
    alone = LeaveOneOut(y, y + rng.normal(scale=0.3, size=n), np.full(n, 0.5), np.zeros(n))
    found = ranking_weights(mean, covariance, alone, draws, np.random.default_rng(1))
    same = np.random.default_rng(1)
    z, z_alone = same.standard_normal((3, n, draws)), same.standard_normal((draws, n))
    factors = np.linalg.cholesky(covariance + 1e-8 * np.eye(n))
    losses = np.zeros((4, draws))
    for draw in range(draws):
        for j, k in itertools.permutations(range(n), 2):
            for i in range(3):
                f = mean[i] + factors[i] @ z[i, :, draw]
                losses[i, draw] += (f[j] < f[k]) != (y[j] < y[k])
            own = alone.mean[j] + alone.sd[j] * z_alone[draw, j]
            losses[3, draw] += (own < y[k]) != (y[j] < y[k])
    for i in range(3):
        if np.median(losses[i]) > np.quantile(losses[3], 0.95):
            losses[i] = np.inf
    shares = np.zeros(4)
    for draw in range(draws):
        best = np.flatnonzero(losses[:, draw] == losses[:, draw].min())
        shares[best] += 1 / len(best) / draws
    assert_allclose(found, shares)


@given(st.integers(0, 6), st.integers(0, 4), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_weights_add_up_to_one(trials: int, experiments: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=trials)
    alone = LeaveOneOut(y, rng.normal(size=trials), np.ones(trials), np.zeros(trials))
    covariance = np.tile(np.eye(trials), (experiments, 1, 1))
    mean = rng.normal(size=(experiments, trials))
    weights = ranking_weights(mean, covariance, alone, 16, rng)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()


def test_sources_that_mislead_are_dropped() -> None:
    rng, n = np.random.default_rng(0), 12
    y = rng.normal(size=n)
    sure = np.tile(1e-6 * np.eye(n), (2, 1, 1))
    alone = LeaveOneOut(y, y + rng.normal(scale=0.5, size=n), np.full(n, 0.5), np.zeros(n))
    weights = ranking_weights(np.array([y, -y]), sure, alone, 200, rng)
    assert weights[0] > 0.95
    assert weights[1] == 0.0


@pytest.mark.parametrize("name", ["rgpe", "tst"])
def test_a_mixture_is_the_weighted_sum_of_its_processes(name: str) -> None:
    data = dataset()
    model, X = fitted(name, data), points(data)
    assert isinstance(model, FittedMixture)
    within = torch.from_numpy(X.copy())
    within[:, ~Trials.of(data, 0).uses] = 0.5
    parts = [(*model.used.gps.posterior(within),), model.own.posterior(within)]
    means, variances = (np.concatenate([part[i].numpy() for part in parts]) for i in (0, 1))
    weights = np.append(model.weights, model.own_weight)
    mean, sd = model.values(X)
    assert_allclose(mean, weights @ means)
    expected = weights**2 @ variances if name == "rgpe" else variances[-1]
    assert_allclose(sd**2, expected, atol=1e-9)


# TST.


@given(st.integers(2, 8), st.integers(0, 1000))
def test_discordant_shares_are_kendalls(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    means, y = rng.normal(size=(3, count)), rng.normal(size=count)
    tau = [stats.kendalltau(own, y).statistic for own in means]
    assert_allclose(discordant_shares(means, y), (1 - np.array(tau)) / 2, atol=1e-12)


def test_two_stage_weights_are_epanechnikovs() -> None:
    data, wide = dataset(), 0.6
    model = TST(wide).fit(data, rng=np.random.default_rng(0))
    means = model.used.gps.posterior(model.target.X)[0].numpy()
    shares = discordant_shares(means, model.observed)
    kernel = [0.75 * (1 - (r / wide) ** 2) if r <= wide else 0.0 for r in shares]
    assert_allclose(model.weights, np.array(kernel) / (sum(kernel) + 0.75))
    assert model.own_weight + model.weights.sum() == pytest.approx(1.0)


def test_without_pairs_every_source_counts_as_the_target_does() -> None:
    model = fitted("tst", dataset(1))
    assert isinstance(model, FittedMixture)
    assert_allclose(model.weights, 1 / 3)


# ScaML-GP.


def test_scaml_is_the_joint_process_of_a_weighted_sum() -> None:
    """Given all trials at once: those of `f_s` and those of `Σ w_s f_s + δ`."""
    data = dataset()
    model, X = fitted("scaml", data), points(data)
    assert isinstance(model, FittedScaML)
    X[:, ~model.target.uses.numpy()] = 0.5
    weights, gps = model.weights.numpy(), model.used.gps
    experiments = [trials_of(data, "old"), trials_of(data, "other")]
    own = model.target.X.numpy()

    def of_source(at: int, A: Array, B: Array) -> Array:
        return squared_exponential(A, B, *kernel_of(gps.kernel, at)) + 1

    def of_target(A: Array, B: Array) -> Array:
        found = squared_exponential(A, B, *kernel_of(model.kernel))
        for at, weight in enumerate(weights):
            found += weight**2 * of_source(at, A, B)
        return found

    rows = [trials.X.numpy() for trials in experiments]
    ends = np.cumsum([0, *map(len, rows), len(own)])
    gram = np.zeros((ends[-1], ends[-1]))
    cross = np.zeros((len(X), ends[-1]))
    for at in range(2):
        part = slice(ends[at], ends[at + 1])
        gram[part, part] = of_source(at, rows[at], rows[at])
        gram[part, part] += float(gps.noise[at]) * np.eye(len(rows[at]))
        gram[part, ends[2] :] = weights[at] * of_source(at, rows[at], own)
        gram[ends[2] :, part] = gram[part, ends[2] :].T
        cross[:, part] = weights[at] * of_source(at, X, rows[at])
    gram[ends[2] :, ends[2] :] = of_target(own, own) + float(model.noise) * np.eye(len(own))
    cross[:, ends[2] :] = of_target(X, own)
    y = np.concatenate([*(trials.y.numpy() for trials in experiments), model.observed])
    mean, covariance = conditioned(of_target(X, X), cross, gram, y)
    found, sd = model.values(X)
    assert_allclose(found, mean, atol=1e-5)
    assert_allclose(sd**2, covariance.diagonal(), atol=1e-5)


def test_without_trials_scaml_is_the_mean_of_the_sources() -> None:
    data = dataset(0)
    model, X = fitted("scaml", data), points(data)
    assert isinstance(model, FittedScaML)
    X[:, ~model.target.uses.numpy()] = 0.5
    means = model.used.gps.posterior(torch.from_numpy(X))[0].numpy()
    assert_allclose(model.values(X)[0], means.mean(axis=0))


# The hierarchical process.


def test_the_hierarchy_is_the_joint_process_of_its_sums() -> None:
    data = dataset()
    model, X = fitted("hierarchical", data), points(data)
    assert isinstance(model, FittedHierarchy)
    X[:, ~model.target.uses.numpy()] = 0.5
    kernels = (*model.chain.kernels, model.kernel)
    trials = (*model.chain.trials, model.target)
    noises = (*model.chain.noises, model.noise)
    assert len(kernels) == 3
    rows = np.concatenate([own.X.numpy() for own in trials])
    level = np.repeat(np.arange(3), [len(own.y) for own in trials])

    def prior(A: Array, first: NDArray[np.intp], B: Array, second: NDArray[np.intp]) -> Array:
        found = np.zeros((len(A), len(B)))
        for at, kernel in enumerate(kernels):
            both = (first[:, np.newaxis] >= at) & (second >= at)
            found += both * (squared_exponential(A, B, *kernel_of(kernel)) + 1)
        return found

    top = np.full(len(X), 2)
    gram = prior(rows, level, rows, level) + np.diag(np.array([*map(float, noises)])[level])
    y = np.concatenate([own.y.numpy() for own in trials])
    mean, covariance = conditioned(prior(X, top, X, top), prior(X, top, rows, level), gram, y)
    found, sd = model.values(X)
    assert_allclose(found, mean, atol=1e-5)
    assert_allclose(sd**2, covariance.diagonal(), atol=1e-5)


def test_the_hierarchy_takes_the_sources_that_rank_best() -> None:
    data = dataset()
    model = Hierarchical(most=1).fit(data, rng=np.random.default_rng(0))
    means = model.used.gps.posterior(model.target.X)[0].numpy()
    assert model.taken == (int(discordant_shares(means, model.observed).argmin()),)
    assert np.count_nonzero(model.sources().correlations) == 1


# ABLR.


def test_the_evidence_is_that_of_a_normal_distribution() -> None:
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(2, 6, 4)), rng.normal(size=(2, 6))
    features[1, 4:], y[1, 4:] = 0.0, 0.0
    alpha, beta = np.array([0.7, 2.0]), np.array([5.0, 1.5])
    tensors = [torch.from_numpy(array) for array in (features, y, alpha, beta)]
    found = log_evidence(tensors[0], tensors[1], torch.tensor([6, 4]), *tensors[2:])
    for at, count in enumerate((6, 4)):
        own = features[at, :count]
        covariance = np.eye(count) / beta[at] + own @ own.T / alpha[at]
        oracle = stats.multivariate_normal(np.zeros(count), covariance).logpdf(y[at, :count])
        assert float(found[at]) == pytest.approx(oracle)


def test_ablr_is_the_process_of_its_features() -> None:
    data = dataset()
    model, X = fitted("ablr", data), points(data)
    assert isinstance(model, FittedABLR)
    _, covariance = model.trials_covariance()
    both = model.extended_target(X, np.zeros(len(X)))
    _, alpha, beta = model._trained
    together = replace(model, target=both).trials_covariance()[1].numpy()
    together -= np.eye(len(together)) / float(beta[0])
    n = len(model.observed)
    mean, spread = conditioned(
        together[n:, n:], together[n:, :n], covariance.numpy(), model.observed
    )
    found, sd = model.values(X)
    assert float(alpha[0]) > 0
    assert_allclose(found, mean, atol=1e-6)
    assert_allclose(sd**2, spread.diagonal(), atol=1e-6)


def test_ablr_goes_on_from_where_it_was() -> None:
    model = fitted("ablr")
    again = ABLR().fit(dataset(8), rng=np.random.default_rng(5), warm_start=model.warm_start)
    other = ABLR().fit(dataset(8), rng=np.random.default_rng(6), warm_start=model.warm_start)
    assert again.warm_start == other.warm_start


# What all must offer.


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("count", [0, 1, 6])
def test_gradients_are_finite_differences(name: str, count: int) -> None:
    data = dataset(count)
    model, X, step = fitted(name, data), points(data), 1e-6
    moments = model(X)
    mean, sd = model.values(X)
    assert_allclose(moments.mean, mean)
    assert_allclose(moments.sd, sd)
    for column, uses in enumerate(model.target.uses.tolist()):
        move = step * np.eye(X.shape[1])[column]
        (above, sd_above), (below, sd_below) = model.values(X + move), model.values(X - move)
        slope, sd_slope = (above - below) / (2 * step), (sd_above - sd_below) / (2 * step)
        assert_allclose(moments.mean_gradient[:, column], slope, rtol=1e-3, atol=1e-5)
        assert_allclose(moments.sd_gradient[:, column], sd_slope, rtol=1e-3, atol=1e-4)
        assert uses or not slope.any()


@pytest.mark.parametrize("name", SURROGATES)
def test_many_points_are_predicted_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataset()
    model, X = fitted(name, data), points(data, 7)
    whole = model.values(X)
    monkeypatch.setattr(base, "_AT_ONCE", 3)
    assert_allclose(model.values(X), whole, atol=1e-12)


@pytest.mark.parametrize("name", SURROGATES)
def test_what_the_target_lacks_stands_at_its_centre(name: str) -> None:
    data = dataset()
    model, X = fitted(name, data), points(data)
    column = data.encoder.columns.of("extra")
    assert not model.target.uses[column].any()
    X[:, column] = 0.9
    moved = X.copy()
    moved[:, column] = 0.1
    assert_allclose(model.values(X)[0], model.values(moved)[0])


@pytest.mark.parametrize("name", SURROGATES)
def test_believed_values_pull_predictions(name: str) -> None:
    data = dataset()
    model, X = fitted(name, data), points(data, 1)
    far = model.values(X)[0] + 3.0
    mean, sd = model.condition(X, far).values(X)
    assert (mean > model.values(X)[0]).all()
    assert (sd <= model.values(X)[1] + 1e-9).all()


def noise_of(model: FittedComparator) -> float:
    if isinstance(model, FittedABLR):
        return 1 / float(model._trained[2][0])
    assert isinstance(model, FittedPrior)
    return float(model.noise)


@pytest.mark.parametrize("name", ["scaml", "hierarchical", "ablr"])
def test_each_trial_is_predicted_from_the_others(name: str) -> None:
    model = fitted(name)
    found = model.leave_one_out()
    own, rest = model.target, np.arange(6) != 2
    fewer = Trials(own.X[rest], own.y[rest], own.uses)
    mean, sd = replace(model, target=fewer).values(own.X.numpy()[2:3])
    assert found.mean[2] == pytest.approx(mean[0], abs=1e-5)
    noise = found.sd[2] ** 2 - sd[0] ** 2
    assert noise == pytest.approx(noise_of(model), rel=1e-3, abs=1e-7)
    density = stats.norm(found.mean, found.sd).logpdf(found.observed)
    assert_allclose(found.log_density, density)


@pytest.mark.parametrize("name", SURROGATES)
def test_sources_without_trials_have_no_weight(name: str) -> None:
    data = dataset()
    use = fitted(name, data).sources()
    assert use.correlations.shape == use.signal.shape == (3,)
    assert use.correlations[data.names.index("empty") - 1] == 0.0
    assert (np.abs(use.correlations) <= 1.0).all()


@pytest.mark.parametrize("name", SURROGATES)
def test_a_method_finds_good_parameters_and_repeats_itself(name: str) -> None:
    recipe = BENCHED[name]
    assert isinstance(recipe, Recipe)

    def told(count: int) -> hb.Optimizer:
        tuner = hb.Optimizer(SPACE, sources=sources(), goal="minimize", method=recipe, seed=0)
        for _ in range(count):
            trial = tuner.ask()
            tuner.tell(trial, value(trial.params))
        return tuner

    first = told(7)
    assert first.best is not None
    assert first.best.value is not None
    assert first.best.value < 0.06
    assert told(2).trials == first.trials[:2]
    assert set(first.explain().sources) == set(SPACES)


@pytest.mark.parametrize("name", SURROGATES)
def test_methods_do_without_sources_and_ask_for_several(name: str) -> None:
    recipe = Recipe({name: EnsembleMember(SURROGATES[name])}, "")
    tuner = hb.Optimizer(SPACE, goal="minimize", method=recipe, seed=0)
    for _ in range(7):
        trial = tuner.ask()
        tuner.tell(trial, value(trial.params))
    assert len({tuple(s.params.values()) for s in tuner.ask(3)}) == 3
