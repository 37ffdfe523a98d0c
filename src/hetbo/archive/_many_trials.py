"""The target's own trials, when there are many: all of them, by inducing points."""

from dataclasses import dataclass

import numpy as np

from hetbo._arrays import FloatArray, IndexArray
from hetbo.archive._gp import (
    Evidence,
    GPPosterior,
    inducing_points,
    most_likely,
    noise_shown,
    sparse_posterior,
)
from hetbo.encoding import Dataset, OutcomeScale
from hetbo.models import FittedDefaults, LeaveOneOut, Moments, SourceUse

_FITTED = 250
"""Length-scales are fitted to so many trials: the best, the latest, and some others, each a
third."""
_INDUCING, _AMONG = 300, 2000
_SMALLEST_VARIANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ManyTrials:
    """A Gaussian process of the target's own trials whose cost grows linearly with their number."""

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,  # noqa: ARG002  # what is drawn does not change between fits
        starts: int = 4,  # noqa: ARG002  # the search has two starts, or one
        warm_start: tuple[float, ...] | None = None,
    ) -> "FittedManyTrials":
        """Fit length-scales to some of the trials, and take the posterior of all of them."""
        own = data.only_target()
        encoder = own.encoder
        names = list(encoder.joint.target.space)
        columns = np.array(encoder.columns.of(*names), dtype=np.intp)
        groups = np.repeat(np.arange(len(names)), [len(encoder.columns.of(n)) for n in names])
        X, y = own.X[:, columns], own.y
        some = _typical(y)
        evidence = Evidence(X[some], y[some], own.noise[some], groups)
        first = evidence.first()
        start = np.array(warm_start) if warm_start and len(warm_start) == len(first) else None
        z = most_likely(evidence, start)
        every = Evidence(X, y, own.noise, groups)
        draws = np.random.default_rng(0)
        inducing = inducing_points(every, z, count=_INDUCING, among=_AMONG, rng=draws)
        found = sparse_posterior(every, z, inducing, cautious=True)
        return FittedManyTrials(own, columns, groups, z, *found)

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:  # noqa: ARG002
        """Return 0: a fit is quick."""
        return 0.0


@dataclass(frozen=True, eq=False)
class FittedManyTrials(FittedDefaults):
    """The target's own trials, modelled.

    Attributes:
        own: The target's trials.
        columns: The joint columns that the target tunes.
        groups: For each of them the position of its parameter.
        z: The hyperparameters.
        posterior: The posterior in these columns.
        left_out: What the others say of each trial.
    """

    own: Dataset
    columns: IndexArray
    groups: IndexArray
    z: FloatArray
    posterior: GPPosterior
    left_out: LeaveOneOut

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at `k × d` points, with gradients."""
        mean, variance, by_mean, by_variance = self.posterior.moments(X[:, self.columns])
        sd = np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))
        slope, sd_slope = np.zeros_like(X), np.zeros_like(X)
        slope[:, self.columns] = by_mean
        sd_slope[:, self.columns] = by_variance / (2.0 * sd[:, np.newaxis])
        sd_slope[variance <= _SMALLEST_VARIANCE] = 0.0
        return Moments(mean, sd, slope, sd_slope)

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone."""
        mean, variance = self.posterior(X[:, self.columns])
        return mean, np.sqrt(np.maximum(variance, _SMALLEST_VARIANCE))

    @property
    def scale(self) -> OutcomeScale:
        """How the target's values are scaled."""
        return self.own.scales[0]

    @property
    def observed(self) -> FloatArray:
        """The scaled values of the target's trials."""
        return self.own.y

    @property
    def warm_start(self) -> tuple[float, ...]:  # type: ignore[override]
        """The hyperparameters."""
        return tuple(self.z.tolist())

    @property
    def noise_shown(self) -> float:  # type: ignore[override]
        """The standard deviation of the noise beyond what was assumed beforehand."""
        return noise_shown(self.own.noise, self.posterior.noise)

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value."""
        return self.left_out

    def condition(self, X: FloatArray, y: FloatArray) -> "FittedManyTrials":
        """Return predictions as if more had been measured; hyperparameters stay."""
        own = self.own
        more = Dataset(
            own.encoder,
            np.concatenate([own.X, X]),
            np.concatenate([own.y, y]),
            np.concatenate([own.noise, np.full(len(y), np.nan)]),
            np.concatenate([own.experiment, np.zeros(len(y), dtype=np.intp)]),
            own.scales,
        )
        evidence = Evidence(more.X[:, self.columns], more.y, more.noise, self.groups)
        inducing = np.concatenate([self.posterior.U, X[:, self.columns]])
        found = sparse_posterior(evidence, self.z, inducing, cautious=True)
        return FittedManyTrials(more, self.columns, self.groups, self.z, *found)

    def sources(self) -> SourceUse:
        """Return that no source is used."""
        nothing = np.zeros(len(self.own.names) - 1)
        return SourceUse(nothing, nothing)


def _typical(y: FloatArray) -> IndexArray:
    """Return the positions of some trials: the best, the latest, and some others."""
    count, third = len(y), _FITTED // 3
    best = np.argsort(-y, kind="stable")[:third]
    others = np.random.default_rng(0).permutation(count)
    taken = np.union1d(best, np.arange(max(count - third, 0), count))
    rest = others[~np.isin(others, taken)][: max(_FITTED - len(taken), 0)]
    return np.sort(np.concatenate([taken, rest]))
