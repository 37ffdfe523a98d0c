"""Degenerate data is normal data: everything fits and predicts finite values."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hetbo import (
    Categorical,
    Experiment,
    Float,
    Int,
    JointSpace,
    Optimizer,
    Space,
    Trial,
)
from hetbo.encoding import Dataset
from hetbo.models import LearnedNumber, TransferGP, fit, learned_values
from model_datasets import MODELS, drawn_trials, random_dataset

SMALL, LARGE = Space(a=Float(0, 1), b=Float(0, 1)), Space(a=Float(0, 1), c=Float(0, 1))
APART = Space(u=Float(0, 1), v=Float(0, 1))


def trials(space: Space, count: int, value: Callable[[float], float] = float) -> list[Trial]:
    rng = np.random.default_rng(count)
    return [Trial(t.params, value(t.value or 0.0)) for t in drawn_trials(space, count, rng)]


def source(*args: Trial, name: str = "old", space: Space = SMALL) -> Experiment:
    return Experiment(name, space, args, goal="minimize")


def built(*sources: Experiment, target: list[Trial] | None = None) -> Dataset:
    own = trials(LARGE, 5) if target is None else target
    return Dataset.build(JointSpace.merge(LARGE, sources), own, goal="minimize")


CASES: Mapping[str, Callable[[], Dataset]] = {
    "a constant source": lambda: built(source(*trials(SMALL, 6, lambda _: 0.73))),
    "a constant target": lambda: built(
        source(*trials(SMALL, 6)), target=trials(LARGE, 4, lambda _: 2)
    ),
    "one source trial": lambda: built(source(*trials(SMALL, 1))),
    "no source trial": lambda: built(source()),
    "no target trial": lambda: built(source(*trials(SMALL, 6)), target=[]),
    "one target trial": lambda: built(source(*trials(SMALL, 6)), target=trials(LARGE, 1)),
    "nothing at all": lambda: built(source(), target=[]),
    "no source": built,
    "duplicates": lambda: built(source(*trials(SMALL, 3) * 4), target=trials(LARGE, 2) * 4),
    "values of 1e9": lambda: built(source(*trials(SMALL, 6, lambda v: 1e9 * v + 1e12))),
    "values of 1e-9": lambda: built(source(*trials(SMALL, 6, lambda v: 1e-9 * v))),
    "an outlier": lambda: built(source(*trials(SMALL, 5), *trials(SMALL, 1, lambda _: 1e6))),
    "ten sources": lambda: built(*(source(*trials(SMALL, 3), name=f"s{i}") for i in range(10))),
    "nothing shared": lambda: built(source(*trials(APART, 6), space=APART)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", MODELS)
def test_fits_and_predicts(case: str, name: str) -> None:
    assert_usable(fit(MODELS[name](CASES[case]()), starts=2))


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), experiments=st.integers(1, 4), count=st.integers(0, 4))
def test_any_family_fits_and_predicts(name: str, seed: int, experiments: int, count: int) -> None:
    data = random_dataset(seed, experiments=experiments, trials=count, noise=True)
    assert_usable(fit(MODELS[name](data), starts=2))


def assert_usable(model: TransferGP) -> None:
    d = len(model.data.encoder.columns)
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(20, 2, d, dtype=torch.float64, generator=generator)
    posterior = model.posterior(X)
    assert posterior.mean.isfinite().all()
    assert posterior.variance.isfinite().all()
    assert (posterior.variance > 0).all()
    single = model.posterior(X[:, :1])
    assert (single.variance > 0).all()
    assert posterior.rsample(torch.Size([2])).isfinite().all()


def test_a_target_far_narrower_than_its_source_is_fitted() -> None:
    # Squared distances in units of so narrow a range were rounding errors, and no covariance.
    space = Space(n=Int(0, 3), c=Categorical("a", "b"))
    wide = Experiment("wide", Space(n=Int(-(2**52), 2**52)), goal="minimize")
    values = [(3, "a"), (0, "b"), (0, "b"), (1, "b"), (3, "b"), (0, "a"), (1, "b"), (0, "b")]
    own = [
        Trial({"n": n, "c": c}, n, noise=0.0 if i % 2 else 1.0) for i, (n, c) in enumerate(values)
    ]
    for method in ("vanilla", "auto"):
        optimizer = Optimizer(space, sources=[wide], goal="minimize", seed=1, method=method)
        for trial in own:
            optimizer.tell(trial.params, trial.value or 0.0, noise=trial.noise)
        assert space.check(optimizer.ask().params)


def test_without_target_trials_the_sources_predict() -> None:
    rising = [Trial({"a": a, "b": 0.5}, 10 * a) for a in np.linspace(0, 1, 8)]
    data = Dataset.build(
        JointSpace.merge(LARGE, [Experiment("old", SMALL, rising, goal="maximize")]),
        goal="minimize",
    )
    for name in ("imputed, residual", "conditional", "common"):
        model = fit(MODELS[name](data))
        X = torch.full((2, 1, 3), 0.5, dtype=torch.float64)
        X[:, 0, data.encoder.columns.of("a")] = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        low, high = model.posterior(X).mean.flatten().tolist()
        assert high - low > 0.5, name


@pytest.mark.parametrize("case", CASES)
def test_learned_values_of_degenerate_data(case: str) -> None:
    for learned in learned_values(fit(MODELS["imputed"](CASES[case]()), starts=1)):
        assert isinstance(learned, LearnedNumber)
        assert 0 <= learned.low <= learned.estimate <= learned.high <= 1
