"""What may be a name on the command line, how names are listed, and options NAME=VALUE."""

from collections.abc import Iterable, Sequence

from hetbo.errors import DataError, shown
from hetbo.spaces import Space, Value
from hetbo.spaces._texts import alone, plainly

_LONGEST = 500
"""Databases hold names of 512 characters."""
_MOST_LISTED = 8


def usable_name(option: str, name: str) -> str:
    """Return a name as it was given.

    Raises:
        DataError: It is empty, longer than databases take, or cannot be printed.
    """
    if not name.strip():
        raise DataError(f"{option}: a name must not be empty")
    if len(name) > _LONGEST:
        raise DataError(
            f"{option}: a name may have {_LONGEST} characters, not {len(name)}: {shown(name)}"
        )
    if not name.isprintable():
        raise DataError(f"{option}: {shown(name)} holds characters that cannot be printed")
    return name


def is_usable_name(name: str) -> bool:
    """Return whether `usable_name` takes a name."""
    return bool(name.strip()) and len(name) <= _LONGEST and name.isprintable()


def check_space(space: Space) -> None:
    """Check that a space's names and texts can be stored and shown.

    Raises:
        DataError: One cannot.
    """
    for name, parameter in space.items():
        usable_name("the name of a parameter", name)
        if parameter.scale is not None:
            continue
        choices = parameter.values or ()
        if len(set(choices)) < len(choices):
            raise DataError(
                f"{shown(name)}: Optuna cannot tell true from 1 among {shown(choices)}; use strings"
            )
        for choice in choices:
            if isinstance(choice, str) and len(choice) > _LONGEST:
                raise DataError(
                    f"{shown(name)}: the text {shown(choice)} is longer than {_LONGEST} characters"
                )


def listed(names: Sequence[str]) -> str:
    """Return names as a message lists them: each quoted, the first few of many."""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(shown, names[:_MOST_LISTED])) + more


def pairs(option: str, given: Iterable[str], *, form: str = "NAME=VALUE") -> dict[str, str]:
    """Return options of the form NAME=VALUE as a dict.

    Args:
        option: The option's name.
        given: What was given.
        form: What the help calls the form.

    Raises:
        DataError: One has another form, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise DataError(f"{option} {shown(text)} must have the form {form}")
        if name in found:
            raise DataError(f"{option}: duplicate name {shown(name)}")
        found[name] = value
    return found


def values(option: str, given: Iterable[str]) -> dict[str, Value]:
    """Return options of the form NAME=VALUE, where a value that looks like a number is one.

    Raises:
        DataError: One has another form, or a number is not written plainly.
    """
    found = {name: alone(text) for name, text in pairs(option, given).items()}
    for name, value in found.items():
        if plainly(value):
            raise DataError(
                f"{option} {name}={value}: {shown(value)} is not a number{plainly(value)}"
            )
    return found
