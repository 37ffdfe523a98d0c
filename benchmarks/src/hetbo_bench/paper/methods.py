"""The paper's methods in the paper's settings."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from hetbo.acquisition import Improvement
from hetbo.encoding import OutcomeScale
from hetbo.methods import EnsembleMember, Recipe
from hetbo.models import GPSurrogate, Surrogate
from hetbo_bench.paper.models import (
    PaperCommonGP,
    PaperConditionalGP,
    PaperImputedGP,
    PaperTargetGP,
)
from hetbo_bench.paper.reference_bugs import BuggyImputation
from hetbo_bench.paper.sampled_log_ei import SampledLogEI


def _sampled(rng: np.random.Generator, scale: OutcomeScale) -> Improvement:
    return SampledLogEI(rng, spread=scale.spread)


def _as_published(
    name: str, surrogate: Surrogate, summary: str, *, transfers: bool = True
) -> Recipe:
    """Return a recipe in the paper's settings: one search per fit, nothing carried over."""
    member = EnsembleMember(
        surrogate, transfers=transfers, scaling="pooled" if transfers else "per-experiment"
    )
    return Recipe(
        {name: member},
        summary,
        first_starts=1,
        later_starts=0,
        clip_penalties=False,
        improve_on="observed",
        improvement=_sampled,
    )


PAPER_METHODS: Mapping[str, Recipe] = {
    "vanilla-paper": _as_published(
        "vanilla",
        GPSurrogate(PaperTargetGP),
        "vanilla in the paper's settings",
        transfers=False,
    ),
    "common-paper": _as_published(
        "common", GPSurrogate(PaperCommonGP), "common in the paper's settings"
    ),
    "conditional-paper": _as_published(
        "conditional",
        GPSurrogate(PaperConditionalGP),
        "conditional in the paper's settings, the kernel as the paper writes it",
    ),
    "conditional-presence-paper": _as_published(
        "conditional",
        GPSurrogate(partial(PaperConditionalGP, presence=True)),
        "the same, with the kernel over present blocks that the authors' code adds",
    ),
    "fixed-imputation-paper": _as_published(
        "fixed-imputation",
        GPSurrogate(partial(PaperImputedGP, learned=False)),
        "fixed-imputation in the paper's settings",
    ),
    "learned-imputation-paper": _as_published(
        "learned-imputation",
        GPSurrogate(PaperImputedGP),
        "learned-imputation in the paper's settings",
    ),
    # Its bugs were once called slips; the name stays, for kept results have it.
    "learned-imputation-slips-paper": _as_published(
        "learned-imputation",
        BuggyImputation(),
        "the same, fitted with the bugs of the authors' code",
    ),
}
"""The paper's methods by name, in its settings."""
