"""What every surrogate offers: the protocol between models and everything that uses them.

A `Surrogate` is a frozen value in a recipe. Fitted to trials it becomes a `FittedSurrogate`, which
predicts the target and says what it makes of the sources. A new one is a class for each; the
second can derive from `FittedDefaults`. Values are on the model's own scale throughout
(`scale`), where larger is better; points are those of the target in the joint cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hetbo._arrays import FloatArray
from hetbo.encoding import Dataset, OutcomeScale
from hetbo.models._findings import CorrelationDensity, LearnedValue, LeaveOneOut, SourceUse


@dataclass(frozen=True, slots=True)
class Moments:
    """Predictions at `k` points.

    Attributes:
        mean: Shape `k`.
        sd: Shape `k`: the standard deviations, positive.
        mean_gradient: Shape `k × d`.
        sd_gradient: Shape `k × d`.
    """

    mean: FloatArray
    sd: FloatArray
    mean_gradient: FloatArray
    sd_gradient: FloatArray


class Predictor(Protocol):
    """Predicts the target, without measurement noise."""

    def __call__(self, X: FloatArray) -> Moments:
        """Return the predictions at `k × d` points, with gradients."""

    def values(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations alone, in less time."""


class FittedSurrogate(Predictor, Protocol):
    """A surrogate that was fitted to the trials of a target and its sources."""

    @property
    def scale(self) -> OutcomeScale:
        """How the target's values are scaled."""

    @property
    def observed(self) -> FloatArray:
        """Shape `n`: the values of the target's complete trials, in their order, scaled."""

    @property
    def warm_start(self) -> tuple[float, ...]:
        """What the next fit, to more trials, can start from."""

    @property
    def noise_shown(self) -> float:
        """The standard deviation of the noise that the target's trials show.

        It is 0 as long as they show no more than was assumed beforehand.
        """

    @property
    def unseen(self) -> tuple[str, ...]:
        """The target's parameters of which the surrogate knows nothing."""

    @property
    def learns_values(self) -> bool:
        """Whether the values of missing parameters are learned."""

    def leave_one_out(self) -> LeaveOneOut:
        """Return predictions of the target's trials, each made without its own value."""

    def condition(self, X: FloatArray, y: FloatArray) -> Predictor:
        """Return predictions as if `y` had been measured at points of the target.

        Args:
            X: Shape `k × d`.
            y: Shape `k`, scaled.
        """

    def sources(self) -> SourceUse:
        """Return what the surrogate makes of each source. This is asked often: it must be quick."""

    def correlation(self, first: int, second: int) -> CorrelationDensity:
        """Return how two experiments are correlated, by their positions; 0 is the target."""

    def learned_values(self) -> tuple[LearnedValue, ...]:
        """Return what was learned about each missing value."""


class FittedDefaults:
    """What a fitted surrogate inherits that has nothing special to say."""

    warm_start: tuple[float, ...] = ()
    noise_shown: float = 0.0
    unseen: tuple[str, ...] = ()
    learns_values: bool = False

    def correlation(self, first: int, second: int) -> CorrelationDensity:  # noqa: ARG002
        """Return that nothing is known of a correlation."""
        return CorrelationDensity.unknown()

    def learned_values(self) -> tuple[LearnedValue, ...]:
        """Return that nothing was learned about missing values."""
        return ()


class Surrogate(Protocol):
    """A model that is not fitted yet: a frozen value, which a recipe holds."""

    def fit(
        self,
        data: Dataset,
        *,
        rng: np.random.Generator,
        starts: int = 4,
        warm_start: tuple[float, ...] | None = None,
    ) -> FittedSurrogate:
        """Fit the model to trials.

        Args:
            data: The trials. There may be none of the target, or none of a source.
            rng: Where all randomness comes from.
            starts: How many searches for likely parameters to make, if there is a choice.
            warm_start: The `warm_start` of an earlier fit to fewer trials of the same experiments.

        Raises:
            FitError: The fit failed.
        """

    def seconds_to_fit(self, data: Dataset, *, starts: int = 4) -> float:
        """Return about how long a fit takes, 0 if it is quick: users are warned of long ones."""


@runtime_checkable
class Preparing(Protocol):
    """A surrogate that can do ahead what depends on the sources alone."""

    def prepare(self, data: Dataset, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Do it, and remember it.

        Args:
            data: The trials.
            progress: Called with the numbers of sources that are done and to be done.
        """
