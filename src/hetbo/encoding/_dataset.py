"""Everything that was tried, as arrays that a model can be fitted to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from hetbo._arrays import BoolArray, FloatArray, IndexArray
from hetbo.encoding._encoder import Encoder
from hetbo.encoding._outcomes import OutcomeScale
from hetbo.errors import DataError, shown
from hetbo.experiments import Experiment, Goal, GoalName, Trial, TrialState
from hetbo.joint import JointSpace

Scaling = Literal["per-experiment", "pooled"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The complete trials of one experiment, encoded.

    Attributes:
        X: Shape `n × d`: the points; NaN in the columns that the experiment misses.
        values: Shape `n`: the values in the experiment's own units.
        noise: Shape `n`: their standard deviations; NaN where they are not known.
        goal: Which way is better.
    """

    X: FloatArray
    values: FloatArray
    noise: FloatArray
    goal: Goal

    @classmethod
    def of(cls, encoder: Encoder, trials: Iterable[Trial], goal: Goal, experiment: int) -> "Rows":
        """Encode the complete ones of an experiment's trials."""
        complete = [trial for trial in trials if trial.state is TrialState.COMPLETE]
        noise = [np.nan if trial.noise is None else trial.noise for trial in complete]
        return cls(
            encoder.encode([trial.params for trial in complete], experiment),
            np.array([trial.value for trial in complete], dtype=np.float64),
            np.array(noise, dtype=np.float64),
            goal,
        )

    @property
    def best_first(self) -> FloatArray:
        """Shape `n × d`: the points, the one with the best value first."""
        ranked: FloatArray = self.X[np.argsort(-self.goal.sign * self.values, kind="stable")]
        return ranked


@dataclass(frozen=True, eq=False)
class EncodedSources:
    """The trials of sources, encoded once for all data sets of a joint space.

    Attributes:
        encoder: The encoder of the joint space.
        sources: The sources in the order of the joint space; none to leave them out.
    """

    encoder: Encoder
    sources: tuple[Experiment, ...] = ()

    @cached_property
    def rows(self) -> tuple[Rows, ...]:
        """The complete trials of each source."""
        return tuple(
            Rows.of(self.encoder, source.trials, source.goal, position)
            for position, source in enumerate(self.sources, start=1)
        )

    def scaled_apart(self, *, compressed: bool) -> "tuple[_Scaled, ...]":
        """Return each source's trials on a scale of its own, computed once."""
        return self._compressed if compressed else self._plain

    @cached_property
    def _plain(self) -> "tuple[_Scaled, ...]":
        return tuple(_Scaled.apart(rows, compressed=False) for rows in self.rows)

    @cached_property
    def _compressed(self) -> "tuple[_Scaled, ...]":
        return tuple(_Scaled.apart(rows, compressed=True) for rows in self.rows)


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
    experiment: IndexArray
    scales: tuple[OutcomeScale, ...]

    @classmethod
    def build(
        cls,
        joint: JointSpace | EncodedSources,
        trials: Iterable[Trial] = (),
        *,
        goal: GoalName,
        scaling: Scaling = "per-experiment",
        compressed: bool = False,
    ) -> "Dataset":
        """Encode the complete trials of a joint space's target and of its sources.

        Args:
            joint: The joint space, or its sources if they are encoded already.
            trials: The target's trials; only complete ones count.
            goal: The target's goal. Each source has its own.
            scaling: 'per-experiment' gives each experiment's values zero mean and unit spread;
                'pooled' scales all of them together, as if they were of one experiment.
            compressed: Whether the tail of bad values is compressed before they are scaled.

        Raises:
            SpaceError: A trial does not fit the target's space.
            DataError: There is no such scaling.
        """
        if isinstance(joint, JointSpace):
            joint = EncodedSources(Encoder(joint), joint.sources)
        own = Rows.of(joint.encoder, trials, Goal.of(goal), 0)
        groups = (own, *joint.rows)
        if scaling == "per-experiment":
            first = _Scaled.apart(own, compressed=compressed)
            scaled = (first, *joint.scaled_apart(compressed=compressed))
        elif scaling == "pooled":
            scaled = _scaled_together(groups, compressed=compressed)
        else:
            raise DataError(f"scaling={shown(scaling)} must be 'per-experiment' or 'pooled'")
        return cls(
            joint.encoder,
            np.concatenate([rows.X for rows in groups]),
            np.concatenate([one.y for one in scaled]),
            np.concatenate([one.variances for one in scaled]),
            np.repeat(np.arange(len(groups)), [len(rows.X) for rows in groups]),
            tuple(one.scale for one in scaled),
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


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """An experiment's values on the common scale, and the variances of these."""

    scale: OutcomeScale
    y: FloatArray
    variances: FloatArray

    @classmethod
    def by(cls, scale: OutcomeScale, rows: Rows) -> "_Scaled":
        y = scale.scale(rows.values)
        return cls(scale, y, scale.scale_noise(rows.noise, y) ** 2)

    @classmethod
    def apart(cls, rows: Rows, *, compressed: bool) -> "_Scaled":
        return cls.by(OutcomeScale.fit(rows.values, rows.goal, compressed=compressed), rows)


def _scaled_together(groups: Sequence[Rows], *, compressed: bool) -> tuple[_Scaled, ...]:
    # Goals may differ, so it is the signed values that share a scale.
    signed = [rows.goal.sign * rows.values for rows in groups]
    pooled = OutcomeScale.fit(np.concatenate(signed), Goal.MAXIMIZE, compressed=compressed)
    return tuple(
        _Scaled.by(
            replace(pooled, centre=rows.goal.sign * pooled.centre, sign=rows.goal.sign), rows
        )
        for rows in groups
    )
