"""Missing values: given, fixed by the user, learned, and how sure one can be of them."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch

from hetbo import Categorical, Experiment, Float, JointSpace, Space, SpaceError, Trial
from hetbo.encoding import Dataset
from hetbo.models import (
    ConditionalGP,
    ImputedGP,
    LearnedChoice,
    LearnedNumber,
    fit,
    learned_values,
)
from hetbo.test_functions import hartmann
from model_datasets import dataset

SEEDS = range(20)


def ripple(p: Mapping[str, float]) -> float:
    """A smooth function to which the missing parameter `c` matters much."""
    return math.sin(4 * p["a"] + 3 * p["c"]) + 2 * (p["b"] - p["c"]) ** 2


def hartmann_of(p: Mapping[str, float]) -> float:
    return hartmann(np.array([p[f"x{i}"] for i in range(1, 7)]))


def numbers(data: Dataset, seed: int) -> list[LearnedNumber]:
    model = fit(ImputedGP(data), rng=np.random.default_rng(seed))
    return [value for value in learned_values(model) if isinstance(value, LearnedNumber)]


@pytest.mark.long
@pytest.mark.parametrize("truth", [0.0, 0.3, 0.8])
def test_a_value_that_matters_is_recovered_and_its_interval_is_honest(truth: float) -> None:
    families = {"target": ("a", "b", "c"), "source": ("a", "b")}
    sizes = {"target": 20, "source": 30}
    learned = [
        numbers(dataset(families, ripple, sizes, seed=seed, elsewhere=truth), seed)[0]
        for seed in SEEDS
    ]
    assert sum(abs(value.estimate - truth) < 0.1 for value in learned) >= 16
    assert sum(value.low <= truth <= value.high for value in learned) >= 17
    assert np.mean([value.high - value.low for value in learned]) < 0.5


@pytest.mark.long
@pytest.mark.parametrize("truth", [0.0, 0.3, 0.8])
def test_intervals_are_honest_where_the_value_can_hardly_be_known(truth: float) -> None:
    names = tuple(f"x{i}" for i in range(1, 7))
    families = {"target": names, "source": names[:4]}
    sizes = {"target": 20, "source": 30}
    learned = [
        value
        for seed in SEEDS
        for value in numbers(
            dataset(families, hartmann_of, sizes, seed=seed, elsewhere=truth), seed
        )
    ]
    covered = sum(value.low <= truth <= value.high for value in learned)
    assert covered >= 0.85 * len(learned)
    assert all(value.density.min() >= 0 for value in learned)


def test_a_missing_category_is_recovered() -> None:
    rng = np.random.default_rng(0)
    shift = {"left": 0.0, "right": 2.0, "up": 4.0}

    def value(a: float, kind: str) -> float:
        return math.sin(5 * a + shift[kind])

    target = Space(a=Float(0, 1), kind=Categorical(*shift))
    source = Space(a=Float(0, 1))
    old = Experiment(
        "old", source, [Trial({"a": a}, value(a, "right")) for a in rng.random(15)], goal="minimize"
    )
    trials = [
        Trial({"a": a, "kind": kind}, value(a, kind))
        for a, kind in zip(rng.random(18), list(shift) * 6, strict=True)
    ]
    data = Dataset.build(JointSpace.merge(target, [old]), trials, goal="minimize")
    model = fit(ImputedGP(data))
    (learned,) = learned_values(model)
    assert isinstance(learned, LearnedChoice)
    assert learned.estimate == "right"
    assert dict(learned.probabilities)["right"] > 0.9
    shares = model.imputation.table()[1, data.encoder.columns.of("kind")]
    assert float(shares.sum().detach()) == pytest.approx(1.0)


def test_fixed_values_are_used_and_not_learned() -> None:
    target, source = Space(a=Float(0, 1), c=Float(0, 10)), Space(a=Float(0, 1))
    trials = [Trial({"a": 0.1 * i}, float(i)) for i in range(5)]
    old = Experiment("old", source, trials, fixed={"c": 7.5}, goal="minimize")
    model = fit(ImputedGP(Dataset.build(JointSpace.merge(target, [old]), goal="minimize")))
    assert model.imputation.gaps == ()
    assert learned_values(model) == ()
    assert (model.train_inputs[0][:, 1] == 0.75).all()


def test_imputation_can_be_held_at_given_values() -> None:
    target, source = Space(a=Float(0, 1), c=Float(1, 100, log=True)), Space(a=Float(0, 1))
    old = Experiment(
        "old", source, [Trial({"a": 0.1 * i}, float(i)) for i in range(5)], goal="minimize"
    )
    data = Dataset.build(JointSpace.merge(target, [old]), goal="minimize")
    centre = ImputedGP(data, learned=False)
    assert centre.imputation.table()[1].tolist() == [0.0, 0.5]
    given = fit(ImputedGP(data, learned=False, start={"old": {"c": 10.0}}))
    assert given.imputation.table()[1].tolist() == [0.0, 0.5]
    elsewhere = ImputedGP(data, learned=False, start={"old": {"c": 100.0}})
    assert elsewhere.imputation.table()[1].tolist() == [0.0, 1.0]
    assert learned_values(given) == ()
    with pytest.raises(SpaceError, match="'old' does not miss the parameter 'a'"):
        ImputedGP(data, start={"old": {"a": 0.5}})
    with pytest.raises(SpaceError, match="above high"):
        ImputedGP(data, start={"old": {"c": 500.0}})


def test_learned_values_stay_in_their_range_and_the_model_as_it_is() -> None:
    families = {"target": ("a", "b", "c"), "source": ("a", "b")}
    data = dataset(families, ripple, {"target": 10, "source": 10}, elsewhere=1.0)
    model = fit(ImputedGP(data, residual=True))
    before = {key: value.clone() for key, value in model.state_dict().items()}
    (learned,) = learned_values(model)
    assert isinstance(learned, LearnedNumber)
    assert 0 <= learned.low <= learned.estimate <= learned.high <= 1
    assert np.trapezoid(learned.density, learned.positions) == pytest.approx(1.0)
    after = model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_a_conditional_model_learns_no_values() -> None:
    data = dataset(
        {"target": ("a", "c"), "source": ("a",)}, lambda p: p["a"], {"target": 4, "source": 4}
    )
    assert learned_values(fit(ConditionalGP(data))) == ()
