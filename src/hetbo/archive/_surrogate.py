"""Digested sources as a surrogate: any number of old trials, an answer within a second."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hetbo._arrays import FloatArray, IndexArray
from hetbo.archive._archive import Archive, archive_of, best_and_latest
from hetbo.archive._gp import noise_shown
from hetbo.archive._library import Library
from hetbo.archive._many_trials import FittedManyTrials, ManyTrials
from hetbo.archive._model import TargetEvidence, TargetPosterior, Weights
from hetbo.encoding import Dataset, OutcomeScale
from hetbo.models import (
    CorrelationDensity,
    FittedDefaults,
    LeaveOneOut,
    Moments,
    SourceUse,
)

_MOST_OWN = 300
"""With more trials of the target than this, the model sees the best and the latest ones."""
_MOST_POINTS = 10_000
"""Of a step; the sources with the smallest weights give way."""
_TINY = 1e-12
_LEAST_SHARE = 0.02
"""Sources that make up the last fiftieth of all weights are left out of a step."""


@dataclass(frozen=True, slots=True)
class ArchiveSurrogate:
    """The target as a weighted sum of digested sources plus a Gaussian process of its own.

    Each source is digested once, and digests are kept (`HETBO_CACHE`). Needs values on a scale of
    each experiment's own. Without a source, only the target's own part is left.
    """

    def prepare(self, data: Dataset, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Digest the sources ahead of the first fit.

        Args:
            data: The trials.
            progress: Called with the numbers of digests that are done and to be done.
        """
        archive_of(data, progress=progress)

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,  # noqa: ARG002  # the search has one start
        warm_start: tuple[float, ...] | None = None,
    ) -> "FittedArchive | FittedManyTrials":
        """Judge the sources by the target's trials, and fit the target's own part."""
        if not (data.experiment > 0).any():
            return ManyTrials().fit(data, rng=rng, warm_start=warm_start)
        archive = archive_of(data)
        mine = data.experiment == 0
        X, y, known = np.nan_to_num(data.X[mine]), data.y[mine], data.noise[mine]
        seen = best_and_latest(y, _MOST_OWN)
        combined = archive.combined(X, y)
        kept = _kept(combined * archive.functions.std(axis=0), archive.library.sizes)
        library = archive.library.only(kept)
        weights = Weights(combined[kept], archive.centres[kept])
        F = library.functions(library.covariances(X[seen])) - weights.centres
        evidence = TargetEvidence(archive.own, weights, X[seen], y[seen], known[seen], F, len(seen))
        z = evidence.most_likely(archive.own.start(warm_start))
        return FittedArchive(data, archive, library, kept, evidence, z)

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:  # noqa: ARG002
        """Return 0: a fit is quick once the sources are digested."""
        return 0.0


@dataclass(frozen=True, eq=False)
class FittedArchive(FittedDefaults):
    """The weighted sum, fitted.

    Attributes:
        data: The trials.
        archive: All sources.
        library: Those that the target seems to go along with.
        kept: Their positions among all of the archive's.
        evidence: What the target's trials say.
        z: The hyperparameters.
    """

    data: Dataset
    archive: Archive
    library: Library
    kept: IndexArray
    evidence: TargetEvidence
    z: FloatArray

    @cached_property
    def _posterior(self) -> TargetPosterior:
        return TargetPosterior(self.library, self.evidence, self.z)

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at `k × d` points, with gradients."""
        return self._posterior(X)

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone."""
        return self._posterior.values(X)

    @property
    def scale(self) -> OutcomeScale:
        """How the target's values are scaled."""
        return self.data.scales[0]

    @property
    def observed(self) -> FloatArray:
        """The scaled values of the target's trials."""
        y: FloatArray = self.data.y[self.data.experiment == 0]
        return y

    @property
    def warm_start(self) -> tuple[float, ...]:  # type: ignore[override]
        """The hyperparameters."""
        return tuple(self.z.tolist())

    @property
    def noise_shown(self) -> float:  # type: ignore[override]
        """The standard deviation of the noise beyond what was assumed beforehand."""
        return noise_shown(self.evidence.known, self._posterior.noise)

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value."""
        observed = self.observed
        seen = best_and_latest(observed, _MOST_OWN)
        mean, variance = np.empty(len(observed)), np.empty(len(observed))
        mean[seen], variance[seen] = self._posterior.leave_one_out()
        rest = np.setdiff1d(np.arange(len(observed)), seen)
        if len(rest):
            mine = self.data.experiment == 0
            mean[rest], sd = self.values(np.nan_to_num(self.data.X[mine][rest]))
            variance[rest] = sd**2 + self._posterior.noise
        return LeaveOneOut.of(observed, mean, variance)

    def condition(self, X: FloatArray, y: FloatArray) -> TargetPosterior:
        """Return predictions as if more had been measured; hyperparameters stay."""
        own = self.evidence
        functions = self.library.functions(self.library.covariances(X)) - own.weights.centres
        more = TargetEvidence(
            own.own,
            own.weights,
            np.concatenate([own.X, X]),
            np.concatenate([own.y, y]),
            np.concatenate([own.known, np.full(len(y), np.nan)]),
            np.concatenate([own.F, functions]),
            own.measured,
        )
        return TargetPosterior(self.library, more, self.z)

    def sources(self) -> SourceUse:
        """Return how each source goes along with what is expected of the target."""
        signal = np.zeros(len(self._correlations))
        signal[self.archive.positions - 1] = self.archive.library.signal
        return SourceUse(self._correlations, signal)

    @cached_property
    def _correlations(self) -> FloatArray:
        """Of each source's function with the target's posterior mean; 0 for a constant one."""
        correlations = np.zeros(len(self.data.names) - 1)
        expected = self._posterior.means(self.archive.cover)
        expected = expected - expected.mean()
        functions = self.archive.functions
        spreads = functions.std(axis=0) * expected.std()
        found = functions.T @ expected / len(expected) / np.maximum(spreads, _TINY)
        correlations[self.archive.positions - 1] = np.where(spreads > _TINY, found, 0.0)
        return correlations

    def correlation(self, first: int, second: int) -> CorrelationDensity:
        """Return how the target goes along with a source, by their positions; 0 is the target.

        The target's values are taken for `c + ρ f + r` with the source's function `f` in units of
        its spread, and `r` of variance `1 - ρ²`: the likelihood of each `ρ`, to the power that
        relevance takes it to.
        """
        source = max(first, second)
        at = np.flatnonzero(self.archive.positions == source)
        estimate = float(self._correlations[source - 1]) if source else 0.0
        if min(first, second) > 0 or len(at) == 0 or len(self.observed) == 0:
            return CorrelationDensity.unknown(estimate)
        return CorrelationDensity(estimate, self._densities[:, int(at[0])])

    @cached_property
    def _densities(self) -> FloatArray:
        """Shape `… × M`: how likely the trials make each of `CORRELATIONS` for each source."""
        mine = self.data.experiment == 0
        X, y = np.nan_to_num(self.data.X[mine]), self.data.y[mine]
        return self.archive.correlation_densities(X, y)


def _kept(sizes: FloatArray, points: IndexArray) -> IndexArray:
    """Return the sources with the largest weights, as far as there is room for their points."""
    shares = np.abs(sizes) / max(float(np.abs(sizes).sum()), 1e-300)
    order = np.argsort(-shares, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(shares[order])[:-1]])
    keep = (before < 1 - _LEAST_SHARE) & (np.cumsum(points[order]) <= _MOST_POINTS)
    keep[0] = True
    return np.sort(order[keep])
