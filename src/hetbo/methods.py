"""The methods by name: which models have a say, and how much at first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

from hetbo.encoding import Dataset, Scaling
from hetbo.models import CommonGP, ConditionalGP, ImputedGP, TargetGP, TransferGP


@dataclass(frozen=True, slots=True)
class Voice:
    """One model's say in a method.

    Attributes:
        build: Makes the model from the trials.
        trust: How far it is trusted before any trial of the target, relative to other voices.
        least: Its share of the say is raised to this one if it is smaller; all shares are then made
            to add up to 1 again.
        transfers: Whether it uses sources.
        scaling: How the outcomes that it sees are scaled.
    """

    build: Callable[[Dataset], TransferGP]
    trust: float = 1.0
    least: float = 0.0
    transfers: bool = True
    scaling: Scaling = "per-experiment"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a method chooses the next point.

    Attributes:
        voices: The models by name; none for random search.
        summary: What the method does, in one line.
        first_starts: How many searches the first fit makes.
        later_starts: How many searches the fits after it make, one of them from the last fit's
            result; 0 if every fit is like the first.
        improve_on: What a trial has to improve on: the best value 'observed', or the best one
            'predicted' at the trials so far, which noise does not raise.
        beyond_noise: By how many standard deviations of the noise that the target's trials show a
            candidate of a pool has to be better than that.
        tames: Whether values of sources that are far worse than all others count as less bad.
        screens: Whether sources whose own values look like noise are left out.
        softens: Whether bad values are brought nearer before a model sees them, if the sources have
            a long tail of them.
        improvement: How the expected improvement is computed: 'exact', or 'sampled' as in the
            paper's runs.
    """

    voices: Mapping[str, Voice]
    summary: str
    first_starts: int = 4
    later_starts: int = 2
    tames: bool = True
    screens: bool = False
    softens: bool = False
    improve_on: Literal["observed", "predicted"] = "predicted"
    beyond_noise: float = 0.0
    improvement: Literal["exact", "sampled"] = "exact"

    @classmethod
    def as_published(cls, name: str, voice: Voice, summary: str) -> Self:
        """Return a recipe in the paper's settings: one search per fit, nothing carried over."""
        scaling: Scaling = "pooled" if voice.transfers else "per-experiment"
        return cls(
            {name: replace(voice, scaling=scaling)},
            summary,
            first_starts=1,
            later_starts=0,
            tames=False,
            improve_on="observed",
            improvement="sampled",
        )


_VANILLA = Voice(TargetGP, transfers=False)

METHODS: Mapping[str, Recipe] = {
    "auto": Recipe(
        {
            # These two leave a hill that the sources know for one that they do not.
            "vanilla": Voice(TargetGP, trust=0.05, least=0.05, transfers=False),
            "vanilla, main effects": Voice(
                lambda data: TargetGP(data, main_effects=True),
                trust=0.05,
                least=0.05,
                transfers=False,
            ),
            "imputation, one scale": Voice(
                lambda data: ImputedGP(data, settings="one scale"), trust=0.45, scaling="pooled"
            ),
            "imputation with residual": Voice(
                lambda data: ImputedGP(data, residual=True), trust=0.45
            ),
        },
        "weighs transfer against none, by how well each predicts the target's trials",
        screens=True,
        softens=True,
        beyond_noise=2.0,
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
    "vanilla-paper": Recipe.as_published(
        "vanilla",
        Voice(lambda data: TargetGP(data, settings="paper"), transfers=False),
        "vanilla in the paper's settings",
    ),
    "common-paper": Recipe.as_published(
        "common",
        Voice(lambda data: CommonGP(data, settings="paper")),
        "common in the paper's settings",
    ),
    "conditional-paper": Recipe.as_published(
        "conditional",
        Voice(lambda data: ConditionalGP(data, settings="paper")),
        "conditional in the paper's settings, the kernel as the paper writes it",
    ),
    "conditional-presence-paper": Recipe.as_published(
        "conditional",
        Voice(lambda data: ConditionalGP(data, settings="paper", presence=True)),
        "the same, with the kernel over present blocks that the authors' code adds",
    ),
    "fixed-imputation-paper": Recipe.as_published(
        "fixed-imputation",
        Voice(lambda data: ImputedGP(data, settings="paper", learned=False)),
        "fixed-imputation in the paper's settings",
    ),
    "learned-imputation-paper": Recipe.as_published(
        "learned-imputation",
        Voice(lambda data: ImputedGP(data, settings="paper")),
        "learned-imputation in the paper's settings",
    ),
    "learned-imputation-slips-paper": Recipe.as_published(
        "learned-imputation",
        Voice(lambda data: ImputedGP(data, settings="paper with slips")),
        "the same, fitted with the slips of the authors' code",
    ),
}
"""The methods by name."""
