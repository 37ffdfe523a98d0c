"""The surrogates of a method, fitted to what is known."""

from collections.abc import Mapping
from dataclasses import dataclass

from hetbo.models import FittedSurrogate

WarmStarts = Mapping[str, tuple[float, ...]]
"""The parameters of a recipe's models, by the names of its members."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The surrogates of a method, fitted to what is known.

    Attributes:
        models: The surrogates by the names of their members.
        weights: How far each is trusted; they add up to 1.
        warm_starts: The parameters of each, from which the next fit can start.
    """

    models: Mapping[str, FittedSurrogate]
    weights: Mapping[str, float]
    warm_starts: WarmStarts
