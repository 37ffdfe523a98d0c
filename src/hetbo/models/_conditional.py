"""The paper's first method: a kernel over the blocks that two experiments share."""

from hetbo.encoding import Dataset
from hetbo.models._base import TransferGP
from hetbo.models._build import KernelType, centre_of, gaps_of, transfer_kernel
from hetbo.models._imputation import Imputation
from hetbo.models._settings import Settings, settings_of
from hetbo.models._squared_exponential import SquaredExponential


class ConditionalGP(TransferGP):
    """A multi-task GP with the conditional kernel.

    Two trials are compared on the blocks of parameters that both of their experiments tune:
    `k = B_ii' Σ_b w_b [b in i and i'] k_b`. Experiments with identical spaces give the ordinary
    multi-task GP, experiments that share nothing independent ones. Values declared `fixed` are
    not used: what was not tuned is not compared.

    Args:
        data: The trials.
        settings: 'default', 'one scale', or settings of your own.
        residual: Whether each experiment has, in addition, a kernel of its own.
        kernel: Which stationary kernel compares points.
    """

    def __init__(
        self,
        data: Dataset,
        *,
        settings: Settings | str = "default",
        residual: bool = False,
        kernel: KernelType = SquaredExponential,
    ) -> None:
        chosen = settings_of(settings)
        size = len(data.names)
        blocks = [
            (block.parameters, [i in block.experiments for i in range(size)])
            for block in data.encoder.joint.blocks
        ]
        transfer = transfer_kernel(data, blocks, chosen, kernel=kernel, residual=residual)
        # Blocks that an experiment lacks are masked; the fill only replaces NaN by a number.
        gaps = Imputation(gaps_of(data), centre_of(data), learned=False)
        super().__init__(data, chosen, kernel=transfer, imputation=gaps)
