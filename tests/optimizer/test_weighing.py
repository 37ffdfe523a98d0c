"""How far models are trusted."""

import math

import numpy as np
import pytest
import torch

import hetbo as hb
from hetbo.encoding import Dataset
from hetbo.methods import METHODS, EnsembleMember, Recipe
from hetbo.methods._weighing import shares_of
from hetbo.models import FittedGP, GPSurrogate, TargetGP

JOINT = hb.JointSpace.merge(hb.Space(x=hb.Float(0.0, 1.0)))


ALONE = GPSurrogate(TargetGP)


def model(count: int) -> FittedGP:
    x = np.random.default_rng(0).random(count).tolist()
    trials = [hb.Trial({"x": value}, math.sin(6 * value)) for value in x]
    return FittedGP(TargetGP(Dataset.build(JOINT, trials, goal="minimize")))


def noisy(count: int) -> FittedGP:
    """A model that takes the outcomes for noise."""
    made = model(count)
    with torch.no_grad():
        made.model.likelihood.noise_covar.raw_noise.fill_(4.0)
    return made


def recipe(**members: EnsembleMember) -> Recipe:
    return Recipe(members, "of this test")


def test_a_single_model_is_trusted_alone() -> None:
    assert shares_of({"vanilla": model(3)}, METHODS["vanilla"]) == {"vanilla": 1.0}


def test_before_any_trial_it_is_the_first_trust() -> None:
    one = model(0)
    told = recipe(a=EnsembleMember(ALONE, trust=0.2), b=EnsembleMember(ALONE, trust=0.6))
    assert shares_of({"a": one, "b": one}, told) == pytest.approx({"a": 0.25, "b": 0.75})


def test_better_predictions_raise_the_share() -> None:
    good, bad = model(12), noisy(12)
    difference = float(
        good.leave_one_out().log_density.sum() - bad.leave_one_out().log_density.sum()
    )
    shares = shares_of(
        {"good": good, "bad": bad},
        recipe(good=EnsembleMember(ALONE), bad=EnsembleMember(ALONE)),
    )
    assert difference > 1
    assert math.log(shares["good"] / shares["bad"]) == pytest.approx(difference * 12 / 17 / 4)


def test_densities_are_those_of_the_values_in_their_own_units() -> None:
    values = [-30.0, 0.0, 1.0, 1.5, 2.0, 2.5]
    trials = [hb.Trial({"x": i / 5}, value) for i, value in enumerate(values)]
    plain, squeezed = (
        FittedGP(TargetGP(Dataset.build(JOINT, trials, goal="maximize", compressed=s)))
        for s in (False, True)
    )
    logs = []
    for one in (plain, squeezed):
        found, scale = one.leave_one_out(), one.scale
        step = 1e-6
        slopes = (scale.scale(np.array(values) + step) - scale.scale(np.array(values) - step)) / 2
        logs.append(float((found.log_density + np.log(slopes / step)).sum()))
    shares = shares_of(
        {"a": plain, "b": squeezed}, recipe(a=EnsembleMember(ALONE), b=EnsembleMember(ALONE))
    )
    assert math.log(shares["a"] / shares["b"]) == pytest.approx(
        (logs[0] - logs[1]) * 6 / 11 / 4, rel=1e-4
    )


def test_a_least_share_is_kept() -> None:
    good, bad = model(12), noisy(12)
    told = recipe(good=EnsembleMember(ALONE), bad=EnsembleMember(ALONE, least=0.1))
    shares = shares_of({"good": good, "bad": bad}, told)
    assert shares["bad"] == pytest.approx(0.1 / 1.1, rel=0.05)
    assert sum(shares.values()) == pytest.approx(1.0)
