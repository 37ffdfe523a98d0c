"""The Gaussian process that every surrogate is: a BoTorch model over the joint cube.

Of names that are not public it needs PyTorch's `Module._modules` and `Module._apply`, and BoTorch's
`_num_outputs`, which every model of its sets.
"""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import FantasizeMixin
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.models import ExactGP
from linear_operator.operators import DenseLinearOperator
from torch import Tensor

from hetbo.encoding import Dataset
from hetbo.models._imputation import Imputation
from hetbo.models._inputs import split_inputs
from hetbo.models._mean_and_noise import ExperimentMeans, ExperimentNoise
from hetbo.models._parameter_vector import FitParameter, ParameterVector
from hetbo.models._posterior import Posterior, parameters_of
from hetbo.models._rounding import Rounding
from hetbo.models._settings import Settings
from hetbo.models._transfer_kernel import TransferKernel

if TYPE_CHECKING:
    from hetbo.models._fit_report import FitReport

_LEARNED_NOISE = -1.0


class TransferGP(GPyTorchModel, ExactGP, FantasizeMixin):
    """A Gaussian process over the trials of several experiments with different parameters.

    It is a BoTorch `Model`: any acquisition function accepts it. `posterior` takes points of the
    joint cube, `… × q × d`, and predicts the target there, on the scale of `Dataset.y` (larger is
    better). Columns of parameters that the target does not tune are ignored. Integers of the
    target are rounded first, so that the posterior is constant between rounding points.

    Use one of its subclasses, and `hetbo.models.fit` to fit it.

    Args:
        data: The trials.
        settings: What is assumed beforehand.
        kernel: The covariance of inputs whose gaps are filled.
        imputation: What fills the columns that experiments miss.

    Attributes:
        data: The trials.
        settings: What is assumed beforehand.
        fit_report: How the fit went; None before it.
        unseen: The target's parameters of which the model knows nothing.
    """

    _num_outputs = 1

    def __init__(
        self, data: Dataset, settings: Settings, *, kernel: TransferKernel, imputation: Imputation
    ) -> None:
        size = len(kernel.shared.task.raw_own)
        noise = ExperimentNoise(size, settings)
        super().__init__(_inputs_of(data), torch.from_numpy(data.y.copy()), noise)
        self.data = data
        self.settings = settings
        self.mean_module = ExperimentMeans(size, settings)
        self.covar_module = kernel
        self.imputation = imputation
        self.rounding = Rounding(data.encoder)
        self.fit_report: FitReport | None = None
        self.unseen: tuple[str, ...] = ()
        self._posterior: Posterior | None = None

    def forward(self, X: Tensor) -> MultivariateNormal:
        """Return the prior distribution at inputs of `d + 2` columns."""
        filled = self.imputation(X)
        return MultivariateNormal(self.mean_module(filled), self.covar_module(filled))

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,  # noqa: FBT001, FBT002  # BoTorch's signature
        posterior_transform: Any = None,  # noqa: ANN401
        **_: Any,  # noqa: ANN401
    ) -> GPyTorchPosterior:
        """Return the posterior at `q` points.

        Args:
            X: Shape `… × q × d` for points of the target, or `… × q × (d + 1)` with the position
                of each point's experiment in the last column.
            output_indices: There is one output, so that only None and [0] make sense.
            observation_noise: Whether to add the learned noise, or which variances, `… × q`.
            posterior_transform: Applied to the result, as everywhere in BoTorch.
        """
        if output_indices not in (None, [0]):
            raise IndexError(f"output_indices={output_indices!r}: the model has one output")
        self.eval()
        inputs = self._inputs(X)
        mean, covariance = self.current_posterior()(inputs)
        if isinstance(observation_noise, Tensor):
            added = observation_noise.reshape(*observation_noise.shape[: mean.ndim])
            covariance = covariance + torch.diag_embed(added.expand(mean.shape))
        elif observation_noise:
            added = self.likelihood.noise_covar(inputs).diagonal()
            covariance = covariance + torch.diag_embed(added)
        # As an operator, since a plain tensor would be factored at once, needed or not.
        operator = DenseLinearOperator(covariance)
        posterior = GPyTorchPosterior(MultivariateNormal(mean, operator))
        return posterior if posterior_transform is None else posterior_transform(posterior, X=X)

    def condition_on_observations(
        self,
        X: Tensor,
        Y: Tensor,
        noise: Tensor | None = None,
        **_: Any,  # noqa: ANN401
    ) -> Self:
        """Return the model with more trials of the target; its parameters stay as they are.

        Args:
            X: Shape `… × q × d`: the points.
            Y: Shape `… × q × 1`: their values, on the scale of `Dataset.y`. It may have more
                batch dimensions than `X`: several values for the same points.
            noise: Shape of `Y`: the variances of the values; the learned one if None.
        """
        inputs, values = self._inputs(X), Y.squeeze(-1)
        if noise is not None:
            inputs = torch.cat([inputs.expand(*values.shape, -1)[..., :-1], noise], dim=-1)
        old_inputs, old_values = self.train_inputs[0], self.train_targets
        batch = np.broadcast_shapes(inputs.shape[:-2], values.shape[:-1], old_values.shape[:-1])
        conditioned = copy.copy(self)
        conditioned._modules = dict(self._modules)  # noqa: SLF001  # a copy's own
        conditioned._posterior = None  # noqa: SLF001
        conditioned.set_train_data(
            torch.cat([t.expand(*batch, *t.shape[-2:]) for t in (old_inputs, inputs)], dim=-2),
            torch.cat([t.expand(*batch, t.shape[-1]) for t in (old_values, values)], dim=-1),
            strict=False,
        )
        return conditioned

    def _inputs(self, X: Tensor) -> Tensor:
        """Return points of the cube as inputs, with experiment and noise in the last columns."""
        columns = len(self.data.encoder.columns)
        if X.shape[-1] == columns + 1:
            points, experiment = X[..., :-1], X[..., -1:]
        elif X.shape[-1] == columns:
            points, experiment = self.rounding(X), torch.zeros_like(X[..., :1])
        else:
            raise ValueError(
                f"X has {X.shape[-1]} columns; the joint space has {columns} "
                f"({', '.join(self.data.encoder.columns.labels)})"
            )
        return torch.cat([points, experiment, torch.full_like(experiment, _LEARNED_NOISE)], dim=-1)

    @property
    def target_noise(self) -> float:
        """The noise variance of the target's trials, in the mean if it is known of some.

        It is what was learned, or assumed beforehand, if there are none.
        """
        inputs = self.train_inputs[0]
        own = inputs[split_inputs(inputs)[1] == 0]
        if len(own) == 0:
            return float(self.likelihood.noise[0].detach())
        return float(self.likelihood.noise_covar(own).diagonal().mean().detach())

    def current_posterior(self) -> Posterior:
        """Return the posterior at the present parameters, whose factors are computed once."""
        if self._posterior is None or not torch.equal(
            self._posterior.parameters, parameters_of(self)
        ):
            self._posterior = Posterior(self)
        return self._posterior

    def fit_parameters(self) -> Iterator[FitParameter]:
        """Yield the parameters that are fitted, in the order in which the fit searches them."""
        for part in (self.covar_module, self.likelihood, self.imputation):
            yield from part.fit_parameters()

    def parameter_vector(self) -> ParameterVector:
        """Return the vector of parameters that a fit searches."""
        return ParameterVector(self.fit_parameters())

    def _apply(self, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401
        # .to(device) and the like: what was computed before lies elsewhere.
        self._posterior = None
        return super()._apply(*args, **kwargs)


def _inputs_of(data: Dataset) -> Tensor:
    points = np.nan_to_num(data.X, nan=0.0)
    noise = np.nan_to_num(data.noise, nan=_LEARNED_NOISE)
    return torch.from_numpy(np.column_stack([points, data.experiment.astype(np.float64), noise]))
