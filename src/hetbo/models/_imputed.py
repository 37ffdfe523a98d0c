"""The paper's second method: the missing parameters have values, given or learned."""

from collections.abc import Mapping

import numpy as np
import torch

from hetbo.encoding import Dataset
from hetbo.errors import SpaceError
from hetbo.models._base import TransferGP
from hetbo.models._build import KernelType, centre_of, gaps_of, transfer_kernel
from hetbo.models._imputation import Imputation
from hetbo.models._settings import Settings, settings_of
from hetbo.models._squared_exponential import SquaredExponential
from hetbo.spaces import Value


class ImputedGP(TransferGP):
    """A multi-task GP over the union of all parameters, with the missing ones filled in.

    Values that an experiment declares `fixed` are used as they are. What is neither tuned nor
    fixed is learned with the other parameters of the model, inside the parameter's joint range (a
    category as a point in the simplex of its choices), or stays at its start.

    Args:
        data: The trials.
        settings: 'default', 'one scale', or settings of your own.
        learned: Whether missing values are learned.
        start: Values to start from, or to stay at, by experiment and parameter in natural units;
            the centre where nothing is said.
        residual: Whether each experiment has, in addition, a kernel of its own.
        kernel: Which stationary kernel compares points.

    Raises:
        SpaceError: A start is given for something that is not missing, or does not fit.
    """

    def __init__(
        self,
        data: Dataset,
        *,
        settings: Settings | str = "default",
        learned: bool = True,
        start: Mapping[str, Mapping[str, Value]] | None = None,
        residual: bool = False,
        kernel: KernelType = SquaredExponential,
    ) -> None:
        chosen = settings_of(settings)
        names = data.encoder.joint.space.names
        blocks = [(names, [True] * len(data.names))]
        transfer = transfer_kernel(data, blocks, chosen, kernel=kernel, residual=residual)
        filled = centre_of(data)
        gaps = {(data.names[gap.experiment], gap.parameter): gap for gap in gaps_of(data)}
        for experiment, values in (start or {}).items():
            for parameter, value in values.items():
                if (experiment, parameter) not in gaps:
                    raise SpaceError(f"{experiment!r} does not miss the parameter {parameter!r}")
                gap = gaps[experiment, parameter]
                position = data.encoder.position(parameter, value)
                filled[gap.experiment, list(gap.columns)] = torch.from_numpy(np.array(position))
        imputation = Imputation(list(gaps.values()), filled, learned=learned)
        super().__init__(data, chosen, kernel=transfer, imputation=imputation)
