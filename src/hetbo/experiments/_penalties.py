"""Values of sources that stand for 'it did not work': far worse than all others."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hetbo.experiments import Experiment

_FAR = 3.0
"""A penalty is as many ranges of the other values away from them, and as many times as large."""
_FEWEST_OTHERS = 5
_LARGEST_SHARE = 10
_LARGEST_SHARE_OF_EQUALS = 3


@dataclass(frozen=True, slots=True)
class Penalties:
    """The penalties among a source's values.

    Attributes:
        values: The values, the worst first.
        counted_as: What each of them counts as: the worst of the other values.
    """

    values: tuple[float, ...]
    counted_as: float


def penalties_of(source: Experiment) -> Penalties | None:
    """Return the values that are far worse than all others of a source, if there are such.

    Many log a crash as 999 or 1e6. Taken at its word, one such value is all that a model of
    the source sees. A value is a penalty if it is worse than all others by more than three times
    their range and more than three times as large as any, and if there are at most a tenth of such
    values, or, all of them equal, a third.
    """
    sign = source.goal.sign
    worst_first = np.sort([sign * t.value for t in source.complete if t.value is not None])
    count = _count(worst_first)
    if count == 0:
        return None
    penalties = (sign * worst_first[:count]).tolist()
    return Penalties(tuple(penalties), float(sign * worst_first[count]))


def without_penalties(source: Experiment) -> Experiment:
    """Return a source whose penalties count as bad values like others."""
    found = penalties_of(source)
    if found is None:
        return source
    trials = [
        replace(trial, value=found.counted_as) if trial.value in found.values else trial
        for trial in source.trials
    ]
    return Experiment(source.name, source.space, trials, goal=source.goal, fixed=source.fixed)


def penalty_sentence(source: Experiment, found: Penalties) -> str:
    """Return what is said of a source's penalties."""
    several = len(found.values) > 1
    shown = ", ".join(f"{value:g}" for value in dict.fromkeys(found.values[:3]))
    return (
        f"{len(found.values)} {'values' if several else 'value'} of {source.name!r} ({shown}) "
        f"{'are' if several else 'is'} far worse than all others and "
        f"{'count' if several else 'counts'} as the worst of these, {found.counted_as:.3g}."
    )


def _count(worst_first: npt.NDArray[np.float64]) -> int:
    """Return how many of some values, where larger is better, are penalties."""
    n = len(worst_first)
    # Only ratios matter. Halving and doubling are exact, and ranges of numbers below 1 are finite.
    worst_first = np.ldexp(worst_first, -int(np.frexp(np.abs(worst_first).max(initial=0.0))[1]))
    most = max(1, n // _LARGEST_SHARE)
    found = 0
    for count in range(1, min(n // _LARGEST_SHARE_OF_EQUALS, n - _FEWEST_OTHERS) + 1):
        if count > most and worst_first[count - 1] != worst_first[0]:
            break
        others, mildest = worst_first[count:], worst_first[count - 1]
        reach = others[-1] - others[0]
        far = others[0] - mildest > _FAR * reach > 0
        if far and abs(mildest) > _FAR * np.abs(others).max():
            found = count
    return found
