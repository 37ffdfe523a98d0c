"""The methods by name: which models have a say, and how much at first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hetbo.encoding import Dataset, Scaling
from hetbo.models import CommonGP, ConditionalGP, ImputedGP, TargetGP, TransferGP


@dataclass(frozen=True, slots=True)
class Voice:
    """One model's say in a method.

    Attributes:
        build: Makes the model from the trials.
        trust: How far it is trusted before any trial of the target, relative to other voices.
        transfers: Whether it uses sources.
    """

    build: Callable[[Dataset], TransferGP]
    trust: float = 1.0
    transfers: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a method chooses the next point.

    Attributes:
        voices: The models by name; none for random search.
        scaling: How outcomes are scaled.
        summary: What the method does, in one line.
    """

    voices: Mapping[str, Voice]
    summary: str
    scaling: Scaling = "per-experiment"


_VANILLA = Voice(TargetGP, transfers=False)

METHODS: Mapping[str, Recipe] = {
    "auto": Recipe(
        {
            "vanilla": Voice(TargetGP, trust=0.1, transfers=False),
            "imputation": Voice(ImputedGP, trust=0.45),
            "imputation with residual": Voice(
                lambda data: ImputedGP(data, residual=True), trust=0.45
            ),
        },
        "weighs transfer against none, by how well each predicts the target's trials",
    ),
    "random": Recipe({}, "random search"),
    "vanilla": Recipe({"vanilla": _VANILLA}, "Bayesian optimisation without the sources"),
    "common": Recipe(
        {"common": Voice(CommonGP)},
        "a multi-task GP on the parameters that all experiments share; random for the others",
    ),
    "conditional": Recipe({"conditional": Voice(ConditionalGP)}, "the paper's conditional kernel"),
    "fixed-imputation": Recipe(
        {"fixed-imputation": Voice(lambda data: ImputedGP(data, learned=False))},
        "missing parameters at the centre of their range",
    ),
    "learned-imputation": Recipe(
        {"learned-imputation": Voice(ImputedGP)},
        "missing parameters learned with the model, the paper's best method",
    ),
    "vanilla-paper": Recipe(
        {"vanilla": Voice(lambda data: TargetGP(data, settings="paper"), transfers=False)},
        "vanilla in the paper's settings",
    ),
    "common-paper": Recipe(
        {"common": Voice(lambda data: CommonGP(data, settings="paper"))},
        "common in the paper's settings",
        "pooled",
    ),
    "conditional-paper": Recipe(
        {"conditional": Voice(lambda d: ConditionalGP(d, settings="paper", presence=True))},
        "conditional in the paper's settings, with the authors' kernel over present blocks",
        "pooled",
    ),
    "fixed-imputation-paper": Recipe(
        {"fixed-imputation": Voice(lambda d: ImputedGP(d, settings="paper", learned=False))},
        "fixed-imputation in the paper's settings",
        "pooled",
    ),
    "learned-imputation-paper": Recipe(
        {"learned-imputation": Voice(lambda data: ImputedGP(data, settings="paper"))},
        "learned-imputation in the paper's settings",
        "pooled",
    ),
}
"""The methods by name."""
