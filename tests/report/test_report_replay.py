"""The run once more, step by step."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hetbo import Experiment, Int, Optimizer, Space, Trial
from hetbo.acquisition.log_ei import log_expected_improvement
from hetbo.report.replay import chosen_steps, expectations, trust_steps
from hetbo.report.snapshot import Snapshot


def nothing() -> None:
    """Tick without a sound."""


@given(st.integers(0, 1000), st.integers(0, 5000))
def test_steps_go_from_the_first_trial_to_the_last(count: int, more: int) -> None:
    steps = chosen_steps(count, count + more)
    assert steps[0] == 0
    assert steps[-1] == count
    assert steps == sorted(set(steps))
    assert len(steps) <= 41
    if count <= 40 and count + more <= 200:
        assert steps == list(range(count + 1))


def small(goal: str) -> Optimizer:
    """Return a run in a space that can be counted, with a source that is of no use here."""
    space = Space(a=Int(0, 20))
    past = Experiment("past", space, [Trial({"a": a}, float(a % 3)) for a in range(0, 20, 3)])
    optimizer = Optimizer(space, sources=[past], goal=goal, seed=1, n_initial=3)
    for a in (2, 17, 9, 13, 5):
        optimizer.tell({"a": a}, float(np.sin(a / 3) + 0.1 * a))
    return optimizer


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_the_expected_best_is_that_of_the_point_vanilla_would_choose(goal: str) -> None:
    snapshot = Snapshot.of(small(goal))
    (found,) = expectations(snapshot, [4], nothing)
    # The same in the open: all points, BoTorch's posterior, and many draws.
    engine = snapshot.fresh("vanilla")
    fit_rng, _ = np.random.default_rng([*snapshot.seeds, 4]).spawn(2)
    model = engine.fit(snapshot.trials[:4], fit_rng).models["vanilla"]
    left = [{"a": a} for a in range(21) if a not in (2, 17, 9, 13)]
    tried = [trial.params for trial in snapshot.trials[:4]]
    X, known = (torch.from_numpy(engine.encoder.encode(p)) for p in (left, tried))
    with torch.no_grad():
        there = model.posterior(X.unsqueeze(1))
        means, sds = there.mean.flatten().numpy(), there.variance.flatten().sqrt().numpy()
        best_mean = float(model.posterior(known).mean.max())
        chosen = int(log_expected_improvement(means, sds, best_mean)[0].argmax())
        noisy = model.posterior(X[chosen : chosen + 1], observation_noise=True)
        mean, sd = noisy.mean.item(), noisy.variance.sqrt().item()
    values = model.data.scales[0].unscale(np.random.default_rng(0).normal(mean, sd, 400_000))
    pick = np.maximum if goal == "maximize" else np.minimum
    best = float(pick.reduce([trial.value or 0.0 for trial in snapshot.trials[:4]]))
    assert found.trial == 4
    assert found.best == best
    assert found.expected == pytest.approx(pick(values, best).mean(), abs=0.01)
    assert found.expected * engine.goal.sign >= best * engine.goal.sign


def test_nothing_is_expected_before_the_space_is_covered() -> None:
    snapshot = Snapshot.of(small("minimize"))
    found = list(expectations(snapshot, range(6), nothing))
    assert [expectation.trial for expectation in found] == [3, 4]


def test_trust_is_what_explain_said_at_that_time() -> None:
    optimizer = small("minimize")
    ticks: list[int] = []
    steps = list(trust_steps(Snapshot.of(optimizer), range(6), lambda: ticks.append(1)))
    assert [step.trials for step in steps] == list(range(6))
    assert len(ticks) == 6
    assert all(0 <= trust <= 1 for step in steps for trust in step.trust)
    today = optimizer.explain().sources["past"]
    assert steps[-1].trust[0] == pytest.approx(today, abs=0.1)


def test_a_snapshot_fits_what_the_optimizer_fits() -> None:
    optimizer = small("minimize")
    before = optimizer.to_json()
    fitted = Snapshot.of(optimizer).fitted()
    assert fitted is not None
    assert fitted.weights == optimizer.explain().models
    assert optimizer.to_json() == before
    assert Snapshot.of(Optimizer(Space(a=Int(0, 3)), seed=0)).fitted() is None


def test_candidates_are_the_only_points_that_are_chosen() -> None:
    space = Space(a=Int(0, 9))
    optimizer = Optimizer(space, candidates=[{"a": a} for a in (1, 4, 6)], seed=0)
    pool = Snapshot.of(optimizer).engine.pool
    assert pool is not None
    assert len(pool) == 3
