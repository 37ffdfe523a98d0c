"""Known values of parameters that an experiment does not tune."""

from collections.abc import Mapping
from types import MappingProxyType

from hetbo.errors import DataError, SpaceError, shown
from hetbo.spaces import Space, Value
from hetbo.spaces._space import check_name
from hetbo.spaces._values import checked_choice


def checked_fixed(name: str, space: Space, fixed: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the known values of parameters that an experiment does not tune.

    Args:
        name: The experiment's name.
        space: What it tunes.
        fixed: The values.

    Raises:
        DataError: A parameter is tuned as well, or its value cannot be one.
    """
    checked: dict[str, Value] = {}
    for parameter, value in fixed.items():
        try:
            check_name(parameter)
        except SpaceError as error:
            raise DataError(f"{name}: fixed: {error}") from None
        if parameter in space:
            raise DataError(f"{name}: {parameter!r} is tuned, so it cannot be fixed as well")
        try:
            checked[parameter] = checked_choice(value)
        except SpaceError:
            hint = ""
            if isinstance(value, str):
                hint = ", a string with a control character, such as a line end"
            raise DataError(
                f"{name}: fixed {parameter!r} has no usable value: {shown(value)}{hint}"
            ) from None
    return MappingProxyType(checked)
