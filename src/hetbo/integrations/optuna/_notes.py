"""What is said of a sampler once: what it suggests together, with old runs, or by itself.

It goes to Optuna's log; what may not be meant is a warning.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence

from optuna.logging import get_logger

from hetbo.errors import HetboWarning, SourceWarning
from hetbo.experiments import Experiment, Goal
from hetbo.integrations.optuna._programs import Program
from hetbo.joint._notes import notes_on
from hetbo.methods._long_fits import announce_digesting
from hetbo.spaces import Space, Value

_LONG_FIT = "long fit"
_logger = get_logger("optuna.hetbo")
"""One of Optuna's own, so that Optuna's verbosity and handlers hold for it."""


class Notes:
    """Says each thing once.

    Args:
        sources: The past experiments.
    """

    def __init__(self, sources: Sequence[Experiment]) -> None:
        self._sources = sources
        self._known = {name for s in sources for name in (*s.space, *s.fixed)} if sources else None
        self._told = set[str]()

    def sources(self, space: Space, goal: Goal, fixed: Mapping[str, Value]) -> None:
        """Warn of past experiments that may not be meant as they are."""
        for note in notes_on(space, goal, fixed, self._sources):
            self.warn(note, SourceWarning)

    @property
    def long_fit(self) -> Callable[[str], None] | None:
        """What warns of a long fit; None once it has, since each trial's takes a bit longer."""
        return None if _LONG_FIT in self._told else self._warn_of_long_fit

    @property
    def digesting(self) -> Callable[[int, int], None]:
        """What takes the progress of digesting sources, and says so if that takes long."""
        return announce_digesting(_logger.info)

    def warn(self, message: str, category: type[HetboWarning] = HetboWarning) -> None:
        """Warn, unless the same has been said."""
        if message not in self._told:
            self._told.add(message)
            warnings.warn(message, category, stacklevel=2)

    def branches(self, program: Program) -> None:
        """Say that the branches of a program are suggested whole, and what old runs do not know."""
        if self._known is None:
            self._once("branches", f"The parameters of {program} are suggested together")
            return
        new = [name for name in program.space if name not in self._known]
        unknown = f"; not known there: {_listed(new)}" if new else ""
        message = f"The parameters of {program} are suggested with the old runs{unknown}"
        self._once("branches", message)

    def not_told_apart(self, names: Iterable[str]) -> None:
        """Say that some trials have parameters that others do not have, and nothing says which."""
        self._once(
            "not told apart",
            f"{_listed(names)}: some trials have these parameters and others do not, and no "
            "category or small integer tells which; they are sampled one by one",
        )

    def by_itself(self, name: str) -> None:
        """Say that a parameter of a branch is sampled by itself."""
        message = f"{name!r} is not known in this branch yet; it is sampled by TPE"
        self._once(f"by itself: {name}", message)

    def _warn_of_long_fit(self, message: str) -> None:
        self._told.add(_LONG_FIT)
        warnings.warn(message, HetboWarning, stacklevel=2)

    def _once(self, about: str, message: str) -> None:
        if about not in self._told:
            self._told.add(about)
            _logger.info(message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
