"""What a sampler suggests in: one space for all trials, or a program with branches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from optuna.trial import FrozenTrial

from hetbo._arrays import FloatArray
from hetbo.encoding import Encoder
from hetbo.experiments import Experiment, Trial
from hetbo.integrations.optuna._distributions import Translation
from hetbo.integrations.optuna._grids import every_point, on_grid
from hetbo.integrations.optuna._history import History
from hetbo.joint import Member
from hetbo.spaces import Space, Value


class Target(Protocol):
    """What is suggested together."""

    @property
    def space(self) -> Space:
        """All parameters."""

    @property
    def pool(self) -> list[dict[str, Value]] | None:
        """The only points to choose from, if they are listed."""

    def parts(self, own: Sequence[Trial]) -> Sequence[Member]:
        """Return the parts of the space to choose from; none if all of it is one.

        Args:
            own: The study's trials.
        """

    def history(self, trials: Sequence[FrozenTrial]) -> History:
        """Sort out a study's trials."""

    def sources(self, programs: Iterable[Sequence[Experiment]]) -> list[Experiment]:
        """Return what past studies, each of them one or several experiments, have to teach."""

    def proposal(
        self, encoder: Encoder, x: FloatArray, own: Sequence[Trial], rng: np.random.Generator
    ) -> dict[str, Value]:
        """Return the parameters at a point.

        Args:
            encoder: The encoder of the space.
            x: The point, of shape `d`.
            own: The study's trials, whose values are not to be repeated.
            rng: Where randomness comes from.
        """


@dataclass(frozen=True, slots=True)
class Whole:
    """One space for all trials.

    Attributes:
        target: The parameters.
        given: Whether the user gave them, or they were learned from the study.
    """

    target: Mapping[str, Translation]
    given: bool

    @property
    def space(self) -> Space:
        """All parameters."""
        return Space.from_mapping({name: t.parameter for name, t in self.target.items()})

    @property
    def pool(self) -> list[dict[str, Value]] | None:
        """All points, if they lie on a grid and are few."""
        return every_point(self.target)

    def parts(self, own: Sequence[Trial]) -> Sequence[Member]:  # noqa: ARG002  # as in a program
        """Return no parts: all of the space is one."""
        return ()

    def history(self, trials: Sequence[FrozenTrial]) -> History:
        """Sort out a study's trials."""
        return History.of(trials, self.target, given=self.given)

    def sources(self, programs: Iterable[Sequence[Experiment]]) -> list[Experiment]:
        """Return all experiments of past studies."""
        return [experiment for program in programs for experiment in program]

    def proposal(
        self, encoder: Encoder, x: FloatArray, own: Sequence[Trial], rng: np.random.Generator
    ) -> dict[str, Value]:
        """Return the parameters at a point, on their grid."""
        (params,) = encoder.decode(x[np.newaxis])
        return on_grid(params, self.target, [trial.params for trial in own], rng)
