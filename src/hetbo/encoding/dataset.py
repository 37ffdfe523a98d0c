"""Everything that was tried, as arrays that a model can be fitted to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hetbo.encoding.encoder import BoolArray, Encoder, FloatArray
from hetbo.encoding.outcomes import OutcomeScale
from hetbo.errors import DataError, shown
from hetbo.experiments import Goal, Trial, TrialState
from hetbo.joint import JointSpace

Scaling = Literal["per-experiment", "pooled"]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """The complete trials of a target and its sources, encoded, the target's first.

    Attributes:
        encoder: The encoder that made the points.
        X: Shape `n × d`: the points; NaN in the columns that an experiment misses.
        y: Shape `n`: the values, scaled so that larger is better.
        noise: Shape `n`: the variances of the scaled values; NaN where they are not known.
        experiment: Shape `n`: the position of each trial's experiment, in rising order.
        scales: How each experiment's values were scaled.
    """

    encoder: Encoder
    X: FloatArray
    y: FloatArray
    noise: FloatArray
    experiment: np.ndarray[tuple[int], np.dtype[np.intp]]
    scales: tuple[OutcomeScale, ...]

    @classmethod
    def build(
        cls,
        joint: JointSpace,
        trials: Iterable[Trial] = (),
        *,
        goal: Goal | str = Goal.MINIMIZE,
        scaling: Scaling = "per-experiment",
        softened: bool = False,
    ) -> "Dataset":
        """Encode the complete trials of a joint space's target and of its sources.

        Args:
            joint: The joint space.
            trials: The target's trials; only complete ones count.
            goal: The target's goal. Each source has its own.
            scaling: 'per-experiment' gives each experiment's values zero mean and unit spread;
                'pooled' scales all of them together, as if they were of one experiment.
            softened: Whether bad values are brought nearer before they are scaled.

        Raises:
            SpaceError: A trial does not fit the target's space.
            DataError: There is no such scaling.
        """
        encoder = Encoder(joint)
        groups = [[t for t in trials if t.state is TrialState.COMPLETE]]
        groups += [list(source.complete) for source in joint.sources]
        goals = [Goal.of(goal), *(source.goal for source in joint.sources)]
        values = [np.array([t.value for t in group], dtype=np.float64) for group in groups]
        scales = _scales(values, goals, scaling, softened=softened)
        scaled = [s.scale(v) for s, v in zip(scales, values, strict=True)]
        noise = [
            np.array([np.nan if t.noise is None else t.noise for t in group], dtype=np.float64)
            for group in groups
        ]
        return cls(
            encoder,
            np.concatenate(
                [encoder.encode([t.params for t in g], i) for i, g in enumerate(groups)]
            ),
            np.concatenate(scaled),
            np.concatenate(
                [s.scale_noise(n, y) ** 2 for s, n, y in zip(scales, noise, scaled, strict=True)]
            ),
            np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
            scales,
        )

    def only_target(self) -> "Dataset":
        """Return the target's trials alone, in the same cube."""
        own = self.experiment == 0
        return replace(
            self,
            X=self.X[own],
            y=self.y[own],
            noise=self.noise[own],
            experiment=self.experiment[own],
        )

    @property
    def missing(self) -> BoolArray:
        """Shape `m × d`: which columns an experiment neither tunes nor fixes."""
        return self.encoder.missing

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the `m` experiments, the target's first."""
        return tuple(member.name for member in self.encoder.joint.members)


def _scales(
    values: list[FloatArray], goals: list[Goal], scaling: Scaling, *, softened: bool
) -> tuple[OutcomeScale, ...]:
    if scaling == "per-experiment":
        return tuple(
            OutcomeScale.fit(v, g, softened=softened) for v, g in zip(values, goals, strict=True)
        )
    if scaling == "pooled":
        # Goals may differ, so it is the signed values that share a scale.
        signed = [goal.sign * v for v, goal in zip(values, goals, strict=True)]
        pooled = OutcomeScale.fit(np.concatenate(signed), Goal.MAXIMIZE, softened=softened)
        return tuple(
            replace(pooled, centre=goal.sign * pooled.centre, sign=goal.sign) for goal in goals
        )
    raise DataError(f"scaling={shown(scaling)} must be 'per-experiment' or 'pooled'")
