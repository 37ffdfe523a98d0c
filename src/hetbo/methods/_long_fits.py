"""What is said before models are fitted to so many trials that somebody has to wait."""

import time
import warnings
from collections.abc import Callable, Sequence

from hetbo.encoding import Dataset
from hetbo.errors import HetboWarning, duration
from hetbo.models import Surrogate

_FEWEST_SLOW = 400
"""Fits to fewer trials than this need no word of warning."""
_LONG = 15.0
"""Who waits for so many seconds should know for how long."""
_LONG_TO_DIGEST = 3.0
"""Of digesting it is said after so many seconds."""


def warn(message: str) -> None:
    """Warn that fits take long."""
    warnings.warn(message, HetboWarning, stacklevel=2)


def announce_long(
    fits: Sequence[tuple[Surrogate, Dataset]], starts: int, announce: Callable[[str], None]
) -> None:
    """Say how long some fits will take together, if that is long.

    Args:
        fits: The surrogates, each with the trials that it will be fitted to.
        starts: How many searches each fit makes.
        announce: Takes the sentence.
    """
    trials = max((len(data.y) for _, data in fits), default=0)
    if trials < _FEWEST_SLOW:
        return
    seconds = sum(surrogate.seconds_to_fit(data, starts=starts) for surrogate, data in fits)
    if seconds > _LONG:
        announce(
            f"fitting the models to {trials} trials takes about {duration(seconds)}: all of them "
            "are modelled exactly, and time grows with the cube of their number. To be quicker, "
            "give fewer old trials, for instance the best ones and some others of each source"
        )


def announce_digesting(announce: Callable[[str], None]) -> Callable[[int, int], None]:
    """Return what to call with the progress of digesting sources; it says once if that is slow.

    Args:
        announce: Takes the sentence.
    """
    began, told = None, False

    def progress(done: int, count: int) -> None:
        nonlocal began, told
        began = time.monotonic() if began is None else began
        if not told and done < count and time.monotonic() - began > _LONG_TO_DIGEST:
            told = True
            announce(
                f"{count} old experiments are being digested, and {done} of them are done; what is "
                "digested is kept for the next time"
            )

    return progress
