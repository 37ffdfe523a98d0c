"""How far models are trusted."""

import math

import numpy as np
import pytest
import torch

import hetbo as hb
from hetbo.encoding import Dataset
from hetbo.methods import METHODS, Recipe, Voice
from hetbo.models import TargetGP, TransferGP
from hetbo.models.leave_one_out import leave_one_out
from hetbo.weighing import shares_of

JOINT = hb.JointSpace.merge(hb.Space(x=hb.Float(0.0, 1.0)))


def model(count: int) -> TransferGP:
    x = np.random.default_rng(0).random(count).tolist()
    trials = [hb.Trial({"x": value}, math.sin(6 * value)) for value in x]
    return TargetGP(Dataset.build(JOINT, trials))


def noisy(count: int) -> TransferGP:
    """A model that takes the outcomes for noise."""
    made = model(count)
    with torch.no_grad():
        made.likelihood.noise_covar.raw_noise.fill_(4.0)
    return made


def recipe(**voices: Voice) -> Recipe:
    return Recipe(voices, "of this test")


def test_a_single_model_is_trusted_alone() -> None:
    assert shares_of({"vanilla": model(3)}, METHODS["vanilla"]) == {"vanilla": 1.0}


def test_before_any_trial_it_is_the_first_trust() -> None:
    one = model(0)
    told = recipe(a=Voice(TargetGP, trust=0.2), b=Voice(TargetGP, trust=0.6))
    assert shares_of({"a": one, "b": one}, told) == pytest.approx({"a": 0.25, "b": 0.75})


def test_better_predictions_raise_the_share() -> None:
    good, bad = model(12), noisy(12)
    difference = float(leave_one_out(good).log_density.sum() - leave_one_out(bad).log_density.sum())
    shares = shares_of(
        {"good": good, "bad": bad}, recipe(good=Voice(TargetGP), bad=Voice(TargetGP))
    )
    assert difference > 1
    assert math.log(shares["good"] / shares["bad"]) == pytest.approx(difference * 12 / 17 / 4)


def test_densities_are_those_of_the_values_in_their_own_units() -> None:
    values = [-30.0, 0.0, 1.0, 1.5, 2.0, 2.5]
    trials = [hb.Trial({"x": i / 5}, value) for i, value in enumerate(values)]
    plain, soft = (
        TargetGP(Dataset.build(JOINT, trials, goal="maximize", softened=s)) for s in (False, True)
    )
    logs = []
    for one in (plain, soft):
        found, scale = leave_one_out(one), one.data.scales[0]
        step = 1e-6
        slopes = (scale.scale(np.array(values) + step) - scale.scale(np.array(values) - step)) / 2
        logs.append(float((found.log_density + np.log(slopes / step)).sum()))
    shares = shares_of({"a": plain, "b": soft}, recipe(a=Voice(TargetGP), b=Voice(TargetGP)))
    assert math.log(shares["a"] / shares["b"]) == pytest.approx(
        (logs[0] - logs[1]) * 6 / 11 / 4, rel=1e-4
    )


def test_a_least_share_is_kept() -> None:
    good, bad = model(12), noisy(12)
    told = recipe(good=Voice(TargetGP), bad=Voice(TargetGP, least=0.1))
    shares = shares_of({"good": good, "bad": bad}, told)
    assert shares["bad"] == pytest.approx(0.1 / 1.1, rel=0.05)
    assert sum(shares.values()) == pytest.approx(1.0)
