"""The methods by name: which models choose, and how far each is trusted at first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from hetbo.acquisition import Improvement, log_expected_improvement
from hetbo.archive import ArchiveSurrogate, ManyTrials, Thinned
from hetbo.encoding import OutcomeScale, Scaling
from hetbo.errors import OptimizerError, shown
from hetbo.models import CommonGP, ConditionalGP, GPSurrogate, ImputedGP, Surrogate, TargetGP

_MOST_SOURCES, _MOST_OLD = 5, 150
"""What exact models of all trials together are still quick with, and the better for."""
_MOST_OWN = 200
"""From here on, the target's own trials have inducing points."""

ImprovementMaker = Callable[[np.random.Generator, OutcomeScale], Improvement]
"""From a generator, and the scale of a member's outcomes, to its log expected improvement."""


def exact_improvement(_: np.random.Generator, __: OutcomeScale) -> Improvement:
    """Return the expected improvement in closed form."""
    return log_expected_improvement


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much there is to learn from.

    Attributes:
        sources: How many sources have a complete trial.
        old: How many complete trials they have in all.
        own: How many the target has.
    """

    sources: int
    old: int
    own: int

    @property
    def is_archive(self) -> bool:
        """Whether the sources are too many for exact models of all trials together."""
        return self.sources > _MOST_SOURCES or self.old > _MOST_OLD or self.has_many_own

    @property
    def has_many_own(self) -> bool:
        """Whether the target has too many trials for exact models."""
        return self.own > _MOST_OWN


def at_any_size(_: Sizes) -> bool:
    """Return that a member serves however many trials there are."""
    return True


def _exactly(sizes: Sizes) -> bool:
    return not sizes.is_archive


def _with_archive(sizes: Sizes) -> bool:
    return sizes.is_archive


def _with_few_sources(sizes: Sizes) -> bool:
    return sizes.sources <= _MOST_SOURCES and not sizes.has_many_own


def _with_few_own(sizes: Sizes) -> bool:
    return not sizes.has_many_own


def _with_many_own(sizes: Sizes) -> bool:
    return sizes.has_many_own


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """One of the models that choose in a method.

    Attributes:
        surrogate: The model.
        trust: How far it is trusted before any trial of the target, relative to other members.
        least: Its weight is raised to this one if it is smaller; all weights are then made to add
            up to 1 again.
        transfers: Whether it uses sources.
        scaling: How the outcomes that it sees are scaled.
        serves: Whether it is used with so many trials.
    """

    surrogate: Surrogate
    trust: float = 1.0
    least: float = 0.0
    transfers: bool = True
    scaling: Scaling = "per-experiment"
    serves: Callable[[Sizes], bool] = at_any_size


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a method chooses the next point.

    Attributes:
        members: The models by name; none for random search.
        summary: What the method does, in one line.
        first_starts: How many searches the first fit makes.
        later_starts: How many searches the fits after it make, one of them from the last fit's
            result; 0 if every fit is like the first.
        improve_on: What a trial has to improve on: the best value 'observed', or the best one
            'predicted' at the trials so far, which noise does not raise.
        beyond_noise: By how many standard deviations of the noise that the target's trials show a
            candidate of a pool has to be better than that.
        clip_penalties: Whether values of sources that are far worse than all others count as less
            bad.
        drop_noise_sources: Whether sources whose own values look like noise are not used. Of an
            archive, members judge them.
        compress_tail: Whether the tail of bad values is compressed before a model sees them, if
            the sources have a long one.
        improvement: Makes each member's log expected improvement at an `ask`.
    """

    members: Mapping[str, EnsembleMember]
    summary: str
    first_starts: int = 4
    later_starts: int = 2
    clip_penalties: bool = True
    drop_noise_sources: bool = False
    compress_tail: bool = False
    improve_on: Literal["observed", "predicted"] = "predicted"
    beyond_noise: float = 0.0
    improvement: ImprovementMaker = exact_improvement

    @property
    def suits_archives(self) -> bool:
        """Whether members take turns by size, so that no matrix is as large as an archive."""
        return any(member.serves is not at_any_size for member in self.members.values())


_VANILLA = EnsembleMember(GPSurrogate(TargetGP), transfers=False, serves=_with_few_own)
_VANILLA_OF_MANY = EnsembleMember(ManyTrials(), transfers=False, serves=_with_many_own)

METHODS: Mapping[str, Recipe] = {
    "auto": Recipe(
        {
            # It leaves a hill that the sources know for one that they do not.
            "vanilla": replace(_VANILLA, trust=0.1, least=0.1),
            "vanilla, many trials": replace(_VANILLA_OF_MANY, trust=0.1, least=0.1),
            "imputation, one scale": EnsembleMember(
                Thinned(GPSurrogate(partial(ImputedGP, settings="one scale")), _MOST_OLD),
                trust=0.45,
                scaling="pooled",
                serves=_with_few_sources,
            ),
            "imputation with residual": EnsembleMember(
                GPSurrogate(partial(ImputedGP, residual=True)), trust=0.45, serves=_exactly
            ),
            "archive": EnsembleMember(ArchiveSurrogate(), trust=0.9, serves=_with_archive),
        },
        "weighs transfer against none, by how well each predicts the target's trials",
        drop_noise_sources=True,
        compress_tail=True,
        beyond_noise=2.0,
    ),
    "random": Recipe({}, "random search"),
    "vanilla": Recipe(
        {"vanilla": _VANILLA, "vanilla, many trials": _VANILLA_OF_MANY},
        "Bayesian optimisation without the sources",
    ),
    "common": Recipe(
        {"common": EnsembleMember(GPSurrogate(CommonGP))},
        "a multi-task GP on the parameters that all experiments share; random for the others",
    ),
    "conditional": Recipe(
        {"conditional": EnsembleMember(GPSurrogate(ConditionalGP))},
        "the paper's conditional kernel",
    ),
    "fixed-imputation": Recipe(
        {"fixed-imputation": EnsembleMember(GPSurrogate(partial(ImputedGP, learned=False)))},
        "missing parameters at the centre of their range",
    ),
    "learned-imputation": Recipe(
        {"learned-imputation": EnsembleMember(GPSurrogate(ImputedGP))},
        "missing parameters learned with the model, the paper's best method",
    ),
}
"""The methods by name."""


def recipe_of(method: str | Recipe) -> Recipe:
    """Return the recipe of a method: the one of that name, or a recipe itself.

    Raises:
        OptimizerError: There is no such method.
    """
    if isinstance(method, Recipe):
        return method
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise OptimizerError(f"method={shown(method)} must be one of {known}, or a Recipe")
    return METHODS[method]
