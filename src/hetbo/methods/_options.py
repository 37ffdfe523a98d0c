"""The checks of options that optimizers and samplers share."""

import numbers

from hetbo.errors import OptimizerError, shown

DEFAULT_INITIAL = 5
"""So many points cover the space before a model without sources chooses."""


def checked_count(name: str, value: object) -> int:
    """Return a count that was given as an option.

    Raises:
        OptimizerError: It is no whole number of at least 0.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise OptimizerError(f"{name}={shown(value)} must be a whole number of at least 0")
    return int(value)
