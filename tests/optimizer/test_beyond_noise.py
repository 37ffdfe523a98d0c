"""In a pool whose values have noise, `auto` looks for improvements that stand out of it."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import norm

import hetbo as hb
from hetbo.experiments import Goal
from hetbo.methods import METHODS, Engine
from hetbo.models import FittedGP, TransferGP

SPACE = hb.Space(x=hb.Float(0.0, 1.0), y=hb.Float(0.0, 1.0))
POOL = np.random.default_rng(7).random((200, 2))
COUNT = 40
"""So many trials that noise is told from shape."""


def trials(*, noise: float, known: float | None = None) -> list[hb.Trial]:
    """A hill with noise, measured at the first points of the pool."""
    rng = np.random.default_rng(3)
    return [
        hb.Trial(
            {"x": x, "y": y},
            -8 * ((x - 0.5) ** 2 + (y - 0.5) ** 2) + noise * rng.normal(),
            noise=known,
        )
        for x, y in POOL[:COUNT].tolist()
    ]


def engine(beyond_noise: float, pool: npt.NDArray[np.float64] | None = POOL) -> Engine:
    recipe = replace(METHODS["vanilla"], beyond_noise=beyond_noise)
    joint = hb.JointSpace.merge(SPACE)
    candidates = None if pool is None else [dict(zip(SPACE, x, strict=True)) for x in pool.tolist()]
    return Engine(recipe, joint, Goal.MAXIMIZE, n_initial=5, candidates=candidates)


def fitted(told: list[hb.Trial]) -> TransferGP:
    rng, _, _ = np.random.default_rng(0).spawn(3)
    made = engine(0.0).fit(told, rng).models["vanilla"]
    assert isinstance(made, FittedGP)
    return made.model


def textbook_choice(told: list[hb.Trial], beyond_noise: float) -> npt.NDArray[np.float64]:
    """The point of highest expected improvement over the best mean plus some noise."""
    model = fitted(told)
    posterior = model.posterior(torch.from_numpy(POOL).unsqueeze(-2))
    mean = posterior.mean.detach().numpy().ravel()
    sd = posterior.variance.detach().numpy().ravel() ** 0.5
    assumed = np.exp(-4.0 - 2.0**2)  # the mode of a log-normal distribution
    noise = max(float(model.likelihood.noise[0].detach()) - assumed, 0.0)
    u = (mean - mean[: len(told)].max() - beyond_noise * noise**0.5) / sd
    gain = sd * (norm.pdf(u) + u * norm.cdf(u))
    gain[: len(told)] = 0.0
    chosen: npt.NDArray[np.float64] = POOL[gain.argmax()]
    return chosen


@pytest.mark.parametrize("beyond_noise", [0.0, 2.0, 6.0])
def test_the_improvement_counts_from_beyond_the_noise(beyond_noise: float) -> None:
    told = trials(noise=0.5)
    chosen = engine(beyond_noise).suggest(told, 1, np.random.default_rng(0), order=COUNT)
    (point,) = chosen.points
    assert point.tolist() == textbook_choice(told, beyond_noise).tolist()


def test_it_makes_the_search_bolder() -> None:
    told = trials(noise=0.5)
    model = fitted(told)
    points = [textbook_choice(told, beyond_noise) for beyond_noise in (0.0, 2.0, 6.0)]
    sds = [
        float(model.posterior(torch.from_numpy(x).reshape(1, 2)).variance.detach()) ** 0.5
        for x in points
    ]
    assert sds == sorted(sds)
    assert sds[-1] > sds[0]


def test_without_noise_the_smallest_improvement_counts() -> None:
    told = trials(noise=0.0)
    points = [
        engine(beyond_noise).suggest(told, 1, np.random.default_rng(0), order=COUNT).points[0]
        for beyond_noise in (0.0, 6.0)
    ]
    assert points[0].tolist() == points[1].tolist()


def test_without_a_pool_the_best_place_is_not_left() -> None:
    told = trials(noise=0.5)
    points = [
        engine(beyond_noise, None).suggest(told, 1, np.random.default_rng(0), order=COUNT).points[0]
        for beyond_noise in (0.0, 6.0)
    ]
    assert points[0].tolist() == points[1].tolist()


def test_noise_that_is_known_counts() -> None:
    learned, known = fitted(trials(noise=0.5)), fitted(trials(noise=0.5, known=0.5))
    spread = known.data.scales[0].spread
    assert known.target_noise == pytest.approx((0.5 / spread) ** 2)
    assert learned.target_noise == pytest.approx(float(learned.likelihood.noise[0].detach()))


def test_without_trials_it_is_what_was_assumed() -> None:
    source = hb.Experiment("old", SPACE, trials(noise=0.5), goal="maximize")
    joint = hb.JointSpace.merge(SPACE, [source])
    found = Engine(METHODS["auto"], joint, Goal.MAXIMIZE, n_initial=5).fit(
        [], np.random.default_rng(0)
    )
    for fitted in found.models.values():
        assert isinstance(fitted, FittedGP)
        model = fitted.model
        assert model.target_noise == pytest.approx(float(model.likelihood.noise[0].detach()))


def test_only_auto_does() -> None:
    assert [name for name, recipe in METHODS.items() if recipe.beyond_noise] == ["auto"]
