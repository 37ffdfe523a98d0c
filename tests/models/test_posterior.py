"""The posterior against textbook formulas, plain BoTorch, and BoTorch's acquisition functions."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.models import MultiTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hetbo.models import DEFAULT, ConditionalGP, ImputedGP, TransferGP
from hetbo.models._task_covariance import SMALLEST_TASK_VARIANCE
from model_datasets import MODELS, dataset, random_dataset
from model_laws import with_random_parameters

cases = pytest.mark.parametrize("name", MODELS)


def drawn_model(name: str, seed: int = 0, *, noise: bool = False) -> TransferGP:
    """A model with random likely parameters."""
    return with_random_parameters(MODELS[name](random_dataset(seed, noise=noise)), seed)


def points(model: TransferGP, *shape: int) -> torch.Tensor:
    columns = len(model.data.encoder.columns)
    generator = torch.Generator().manual_seed(1)
    return torch.rand(*shape, columns, dtype=torch.float64, generator=generator)


@cases
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), noise=st.booleans())
def test_posterior_is_the_textbooks(name: str, seed: int, noise: bool) -> None:
    model = drawn_model(name, seed, noise=noise)
    X = points(model, 6)
    inputs = model.train_inputs[0]
    own = torch.cat([X, torch.zeros(6, 1), -torch.ones(6, 1)], dim=-1)
    own = torch.cat([model.rounding(X), own[:, -2:]], dim=-1)
    model.train()
    prior = model.forward(torch.cat([inputs, own]))
    K = prior.covariance_matrix.detach().numpy()
    mean = prior.mean.detach().numpy()
    n = len(inputs)
    learned = model.likelihood.noise.detach().numpy()
    of = inputs[:, -2].long().numpy() if len(learned) > 1 else np.zeros(n, dtype=int)
    known = inputs[:, -1].numpy()
    variances = np.where(known >= 0, known, learned[of])
    K_nn, K_xn, K_xx = K[:n, :n] + np.diag(variances), K[n:, :n], K[n:, n:]
    centred = model.train_targets.numpy() - mean[:n]
    posterior = model.posterior(X)
    assert_allclose(
        posterior.mean.squeeze(-1).numpy(),
        mean[n:] + K_xn @ np.linalg.solve(K_nn, centred),
        rtol=1e-7,
        atol=1e-8,
    )
    assert_allclose(
        posterior.distribution.covariance_matrix.numpy(),
        K_xx - K_xn @ np.linalg.solve(K_nn, K_xn.T),
        rtol=1e-7,
        atol=1e-8,
    )


@cases
def test_posterior_is_gpytorchs_own(name: str) -> None:
    model = drawn_model(name)
    X = points(model, 4, 3)
    fast = model.posterior(X)
    with torch.no_grad():
        slow = model(model._inputs(X))
    assert_allclose(fast.mean.squeeze(-1).numpy(), slow.mean.numpy(), atol=1e-8)
    assert_allclose(
        fast.distribution.covariance_matrix.numpy(), slow.covariance_matrix.numpy(), atol=1e-8
    )


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # linear_operator's own
@pytest.mark.parametrize("model_class", [ConditionalGP, ImputedGP])
def test_identical_spaces_give_botorchs_multi_task_gp(
    model_class: type[ConditionalGP | ImputedGP],
) -> None:
    data = dataset(
        {"target": ("a", "b"), "one": ("a", "b"), "two": ("a", "b")},
        lambda p: np.sin(5 * p["a"]) + p["b"] ** 2,
        {"target": 6, "one": 9, "two": 8},
    )
    ours = model_class(data, settings=replace(DEFAULT, task_rank=3))
    experiment = torch.from_numpy(data.experiment).to(torch.float64).unsqueeze(-1)
    theirs = MultiTaskGP(
        torch.cat([torch.from_numpy(data.X), experiment], dim=-1),
        torch.from_numpy(data.y).unsqueeze(-1),
        task_feature=-1,
        output_tasks=[0],
        outcome_transform=None,
    )
    scales = torch.tensor([0.3, 0.7], dtype=torch.float64)
    base, task = theirs.covar_module.kernels
    base.lengthscale = scales
    theirs.likelihood.noise = torch.tensor([0.01, 0.02, 0.03], dtype=torch.float64)
    with torch.no_grad():
        ours.covar_module.shared.blocks[0].raw_lengthscale.copy_(scales)
        shared = ours.covar_module.shared.task
        own = torch.full_like(shared.raw_own, SMALLEST_TASK_VARIANCE)
        matrix = task.covar_matrix.to_dense() - torch.diag(own)
        shared.factor.copy_(torch.linalg.cholesky(matrix))
        shared.raw_own.copy_(own)
        ours.likelihood.noise_covar.raw_noise.copy_(theirs.likelihood.noise.flatten())
        for index, mean in enumerate(theirs.mean_module.base_means):
            mean.constant.fill_(0.1 * index)
            ours.mean_module.constants[index] = 0.1 * index
    X = torch.rand(7, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    a, b = ours.posterior(X), theirs.posterior(torch.cat([X, torch.zeros(7, 2, 1)], dim=-1))
    assert_allclose(a.mean.detach().numpy(), b.mean.detach().numpy(), atol=1e-6)
    assert_allclose(
        a.distribution.covariance_matrix.detach().numpy(),
        b.distribution.covariance_matrix.detach().numpy(),
        atol=1e-6,
    )


@cases
def test_gradients_of_the_posterior(name: str) -> None:
    model = drawn_model(name)
    X = points(model, 3, 2).requires_grad_()
    free = [c for c in range(X.shape[-1]) if c not in model.rounding.columns]

    def moments(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        posterior = model.posterior(X)
        return posterior.mean, posterior.distribution.covariance_matrix

    def of_free(Z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return moments(X.detach().index_copy(-1, torch.tensor(free), Z))

    if free:
        Z = X.detach()[..., free].requires_grad_()
        assert torch.autograd.gradcheck(of_free, (Z,), atol=1e-5)
    torch.autograd.backward(moments(X)[0].sum())
    assert X.grad is not None
    assert X.grad[..., model.rounding.columns].abs().max() == 0 if model.rounding.columns else True


@cases
def test_batches_agree_with_single_points(name: str) -> None:
    model = drawn_model(name)
    X = points(model, 2, 3, 1)
    batched = model.posterior(X)
    assert batched.mean.shape == (2, 3, 1, 1)
    for i in range(2):
        for j in range(3):
            single = model.posterior(X[i, j])
            assert_allclose(batched.mean[i, j].numpy(), single.mean.numpy(), atol=1e-10)
            assert_allclose(batched.variance[i, j].numpy(), single.variance.numpy(), atol=1e-10)


@cases
def test_observation_noise(name: str) -> None:
    model = drawn_model(name)
    X = points(model, 3, 2)
    exact, noisy = model.posterior(X), model.posterior(X, observation_noise=True)
    added = (noisy.variance - exact.variance).detach()
    assert_allclose(added.numpy(), float(model.likelihood.noise[0].detach()), atol=1e-10)
    given_noise = model.posterior(X, observation_noise=torch.full((3, 2), 0.5))
    assert_allclose((given_noise.variance - exact.variance).detach().numpy(), 0.5, atol=1e-10)


@cases
def test_conditioning_is_having_had_the_trials_from_the_start(name: str) -> None:
    model = drawn_model(name)
    X = points(model, 5, 1)
    new = points(model, 2)
    conditioned = model.condition_on_observations(new, torch.tensor([[0.3], [-0.2]]))
    whole = copy.copy(model)
    whole._modules = dict(model._modules)
    whole.set_train_data(
        torch.cat([model.train_inputs[0], model._inputs(new)]),
        torch.cat([model.train_targets, torch.tensor([0.3, -0.2])]),
        strict=False,
    )
    whole.eval()
    with torch.no_grad():
        expected = whole(model._inputs(X))
    assert_allclose(
        conditioned.posterior(X).mean.squeeze(-1).numpy(), expected.mean.numpy(), atol=1e-8
    )
    assert len(model.train_targets) == len(conditioned.train_targets) - 2


@cases
def test_fantasies_have_their_own_batches(name: str) -> None:
    model = drawn_model(name)
    sampler = SobolQMCNormalSampler(torch.Size([4]), seed=0)
    fantasies = model.fantasize(points(model, 3, 2), sampler=sampler)
    posterior = fantasies.posterior(points(model, 3, 1))
    assert posterior.mean.shape == (4, 3, 1, 1)
    assert posterior.variance.min() > 0


@cases
def test_botorchs_acquisition_functions_accept_the_model(name: str) -> None:
    model = drawn_model(name)
    bounds = torch.from_numpy(model.data.encoder.bounds())
    best = model.train_targets.max() if len(model.train_targets) else torch.tensor(0.0)
    for acquisition, q in (
        (LogExpectedImprovement(model, best_f=best), 1),
        (qLogExpectedImprovement(model, best_f=best), 2),
    ):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            X, value = optimize_acqf(acquisition, bounds, q=q, num_restarts=1, raw_samples=8)
        assert X.shape == (q, bounds.shape[1])
        assert torch.isfinite(value)


def test_predicting_another_experiment() -> None:
    model = drawn_model("imputed, residual")
    X = points(model, 4)
    source = model.posterior(torch.cat([X, torch.ones(4, 1)], dim=-1))
    target = model.posterior(torch.cat([X, torch.zeros(4, 1)], dim=-1))
    assert not np.allclose(source.mean.numpy(), target.mean.numpy())


def test_wrong_shapes_and_outputs_are_refused() -> None:
    model = drawn_model("imputed")
    with pytest.raises(ValueError, match="columns; the joint space has"):
        model.posterior(torch.rand(3, 1, 2, dtype=torch.float64))
    with pytest.raises(IndexError, match="one output"):
        model.posterior(points(model, 3, 1), output_indices=[1])


def test_changed_parameters_are_noticed() -> None:
    model = drawn_model("imputed, residual")
    X = points(model, 3, 1)
    before = model.posterior(X).mean
    model.covar_module.shared.blocks[0].raw_lengthscale.data.mul_(3.0)
    assert not torch.allclose(before, model.posterior(X).mean)


def test_state_dict_moves_a_fit_to_another_model() -> None:
    model = drawn_model("conditional, residual")
    other = MODELS["conditional, residual"](model.data)
    other.load_state_dict(model.state_dict())
    X = points(model, 3, 1)
    assert torch.equal(model.posterior(X).mean, other.posterior(X).mean)
    assert "raw_lengthscale" in str(list(model.state_dict()))
