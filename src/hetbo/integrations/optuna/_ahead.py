"""Suggestions for trials that have not begun yet, so that workers need not wait for each other.

They are kept with the study, by the numbers of the trials that they are for. A trial's number is
its own, so that no two workers take the same one, and every worker sees what the others are going
to try. What is lost here (two processes wrote at once, or one was killed) is chosen anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo.integrations.optuna._storage_access import planned_trial, read_ahead, write_ahead
from hetbo.methods import WarmStarts
from hetbo.spaces import Value

_MOST_KEPT = 8
"""Of more batches, the oldest are those of trials that began long ago."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Suggestions for consecutive trials.

    Attributes:
        start: The number of the first trial.
        count: How many trials.
        by: The worker that chooses, as `worker_token` names it.
        proposals: What each trial should try; empty while that is being chosen.
    """

    start: int
    count: int
    by: str
    proposals: tuple[Mapping[str, Value], ...] = ()

    def __contains__(self, number: int) -> bool:
        return self.start <= number < self.start + self.count


@dataclass(frozen=True, slots=True)
class Ahead:
    """What has been chosen ahead in a study.

    Attributes:
        batches: Suggestions, the latest last.
        warm_starts: Where the next fit can start.
        seconds: How long it took to choose the last batch.
    """

    batches: tuple[Batch, ...] = ()
    warm_starts: WarmStarts = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def read(cls, study: Study) -> Self:
        """Return what a study holds."""
        data = read_ahead(study)
        try:
            return cls._from_json(data) if data else cls()
        except (KeyError, TypeError, ValueError):  # of another version
            return cls()

    @classmethod
    def _from_json(cls, data: Any) -> Self:  # noqa: ANN401
        return cls(
            tuple(
                Batch(b["start"], b["count"], b["by"], tuple(b["proposals"]))
                for b in data["batches"]
            ),
            {name: tuple(start) for name, start in data["warm_starts"].items()},
            float(data["seconds"]),
        )

    def write(self, study: Study) -> None:
        """Store it, instead of what the study holds."""
        batches = [
            {
                "start": b.start,
                "count": b.count,
                "by": b.by,
                "proposals": list(map(dict, b.proposals)),
            }
            for b in self.batches
        ]
        warm_starts = {name: list(start) for name, start in self.warm_starts.items()}
        write_ahead(
            study, {"batches": batches, "warm_starts": warm_starts, "seconds": self.seconds}
        )

    def with_batch(self, batch: Batch) -> Self:
        """Return the same with one more batch, instead of one that has the same start."""
        kept = [b for b in self.batches if b.start != batch.start]
        return replace(self, batches=(*kept, batch)[-_MOST_KEPT:])

    def without(self, batch: Batch) -> Self:
        """Return the same without a batch that has not been chosen."""
        return replace(self, batches=tuple(b for b in self.batches if b != batch))

    def proposal(self, number: int) -> dict[str, Value] | None:
        """Return what a trial should try; None if that has not been chosen."""
        batch = self._batch(number)
        return dict(batch.proposals[number - batch.start]) if batch and batch.proposals else None

    def next_free(self, number: int) -> int:
        """Return the first trial, from one on, that nobody has chosen for or is choosing for."""
        while self._batch(number) is not None:
            number += 1
        return number

    def planned(self, numbers: range) -> list[FrozenTrial]:
        """Return what has been chosen for trials, as if they had begun."""
        found = ((number, self.proposal(number)) for number in numbers)
        return [planned_trial(number, p) for number, p in found if p is not None]

    def _batch(self, number: int) -> Batch | None:
        return next((b for b in reversed(self.batches) if number in b), None)
