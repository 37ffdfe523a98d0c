"""A model that sees a part of the old trials: what is exact stays quick."""

from dataclasses import dataclass, replace

import numpy as np

from hetbo._arrays import IndexArray
from hetbo.encoding import Dataset
from hetbo.models import FittedSurrogate, Surrogate

_BEST = 0.5
"""So much of a source's part is its best trials; the rest is drawn at random."""


@dataclass(frozen=True, slots=True)
class Thinned:
    """A surrogate that is fitted to so many of the sources' trials at the most.

    Few trials of a large source tell what its missing parameters were and how closely the target
    follows it, which digests take no notice of.

    Attributes:
        surrogate: The surrogate.
        most: How many trials of sources it sees.
    """

    surrogate: Surrogate
    most: int

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,
        warm_start: tuple[float, ...] | None = None,
    ) -> FittedSurrogate:
        """Fit the surrogate to the target's trials and a part of the sources'."""
        seen = thinned(data, self.most)
        return self.surrogate.fit(seen, rng=rng, starts=starts, warm_start=warm_start)

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:
        """Return about how long a fit takes."""
        return self.surrogate.seconds_to_fit(thinned(data, self.most), starts=starts)


def thinned(data: Dataset, most: int) -> Dataset:
    """Return the trials with so many of the sources at the most; scales stay as they are.

    Each source has an equal part; what a small one leaves goes to the others.

    Args:
        data: The trials.
        most: How many trials of sources to keep.
    """
    if int((data.experiment > 0).sum()) <= most:
        return data
    old = [np.flatnonzero(data.experiment == m) for m in range(1, len(data.names))]
    kept, left = [np.flatnonzero(data.experiment == 0)], most
    for done, rows in enumerate(sorted(old, key=len)):
        part = _typical(rows, data, left // (len(old) - done))
        kept.append(part)
        left -= len(part)
    keep = np.sort(np.concatenate(kept))
    return replace(
        data,
        X=data.X[keep],
        y=data.y[keep],
        noise=data.noise[keep],
        experiment=data.experiment[keep],
    )


def _typical(rows: IndexArray, data: Dataset, count: int) -> IndexArray:
    """Return so many of a source's rows: the best ones, and others at random."""
    if len(rows) <= count:
        return rows
    order = rows[np.argsort(-data.y[rows], kind="stable")]
    best = round(_BEST * count)
    others = np.random.default_rng(0).permutation(order[best:])[: count - best]
    chosen: IndexArray = np.concatenate([order[:best], others])
    return chosen
