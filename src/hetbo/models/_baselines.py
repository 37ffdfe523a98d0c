"""What transfer has to beat: common parameters only, and no transfer at all."""

from dataclasses import replace

from hetbo.encoding import Dataset
from hetbo.models._base import TransferGP
from hetbo.models._build import KernelType, centre_of, gaps_of, transfer_kernel
from hetbo.models._imputation import Imputation
from hetbo.models._settings import Settings, settings_of
from hetbo.models._squared_exponential import SquaredExponential


class CommonGP(TransferGP):
    """A multi-task GP on the parameters that all experiments tune.

    It says nothing about the others. Without a common parameter it only knows the experiments'
    means.

    Args:
        data: The trials.
        settings: 'default', 'one scale', or settings of your own.
        kernel: Which stationary kernel compares points.
    """

    def __init__(
        self,
        data: Dataset,
        *,
        settings: Settings | str = "default",
        kernel: KernelType = SquaredExponential,
    ) -> None:
        chosen = settings_of(settings)
        members = data.encoder.joint.members
        own = data.encoder.joint.target.space
        common = [name for name in own if all(name in member.space for member in members)]
        blocks = [(common, [True] * len(members))]
        transfer = transfer_kernel(data, blocks, chosen, kernel=kernel)
        gaps = Imputation(gaps_of(data), centre_of(data), learned=False)
        super().__init__(data, chosen, kernel=transfer, imputation=gaps)
        self.unseen = tuple(name for name in own if name not in common)


class TargetGP(TransferGP):
    """A GP on the target's own trials: vanilla Bayesian optimisation.

    It takes points of the joint cube like the other models, and measures lengths in units of the
    target's own ranges, as if there were no sources.

    Args:
        data: The trials; those of sources are left out.
        settings: 'default', 'one scale', or settings of your own.
        main_effects: Whether to add, for each parameter, a kernel over it alone. What a parameter
            does whatever the others are is then learned from all trials, not only from those
            nearby.
        kernel: Which stationary kernel compares points.
    """

    def __init__(
        self,
        data: Dataset,
        *,
        settings: Settings | str = "default",
        main_effects: bool = False,
        kernel: KernelType = SquaredExponential,
    ) -> None:
        chosen = settings_of(settings)
        alone = data.only_target()
        names = alone.encoder.joint.target.space.names
        parts = [names]
        # The effect of a single parameter would only repeat the kernel over all of them.
        if main_effects and len(names) > 1:
            parts += [(name,) for name in names]
            chosen = replace(chosen, block_weight=chosen.effect_weight)
        blocks = [(part, [True]) for part in parts]
        transfer = transfer_kernel(alone, blocks, chosen, kernel=kernel, target_units=True)
        gaps = Imputation(gaps_of(alone), centre_of(alone), learned=False)
        super().__init__(alone, chosen, kernel=transfer, imputation=gaps)
