"""The same jobs written plainly with what BoTorch ships."""

import torch
from botorch.models import MultiTaskGP
from botorch.models.heterogeneous_mtgp import HeterogeneousMTGP
from botorch.models.transforms.input import LearnedFeatureImputation

from hetbo.encoding import Dataset


def heterogeneous_mtgp(data: Dataset) -> HeterogeneousMTGP:
    """BoTorch's model with the conditional kernel; task 0 is the target."""
    X, y = torch.from_numpy(data.X), torch.from_numpy(data.y).unsqueeze(-1)
    present = [torch.from_numpy(~missing).nonzero().flatten().tolist() for missing in data.missing]
    rows = [torch.from_numpy(data.experiment == i) for i in range(len(data.names))]
    return HeterogeneousMTGP(
        train_Xs=[X[own][:, columns] for own, columns in zip(rows, present, strict=True)],
        train_Ys=[y[own] for own in rows],
        train_Yvars=None,
        feature_indices=present,
        full_feature_dim=X.shape[1],
    )


def imputed_mtgp(data: Dataset) -> MultiTaskGP:
    """BoTorch's multi-task model with learned imputation; task 0 is the target."""
    size, columns = data.missing.shape
    experiment = torch.from_numpy(data.experiment).to(torch.float64)
    X = torch.cat([torch.from_numpy(data.X).nan_to_num(0.0), experiment.unsqueeze(-1)], dim=-1)
    imputation = LearnedFeatureImputation(
        feature_indices={
            i: torch.from_numpy(~data.missing[i]).nonzero().flatten().tolist() for i in range(size)
        },
        d=columns,
        bounds=torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, columns),
    )
    return MultiTaskGP(
        X,
        torch.from_numpy(data.y).unsqueeze(-1),
        task_feature=-1,
        output_tasks=[0],
        input_transform=imputation,
    )


def target_points(model: object, data: Dataset, count: int, seed: int) -> torch.Tensor:
    """Random points of the target in the form that a BoTorch model takes, `count × 1 × …`."""
    generator = torch.Generator().manual_seed(seed)
    columns = data.missing.shape[1]
    if isinstance(model, HeterogeneousMTGP):
        columns = len(model.feature_indices[0])
    points = torch.rand(count, 1, columns, generator=generator, dtype=torch.float64)
    return torch.cat([points, torch.zeros_like(points[..., :1])], dim=-1)
