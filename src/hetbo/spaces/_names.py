"""Which texts can be names and choices, and which of them mean the same."""

import unicodedata
from collections.abc import Iterable

from hetbo.errors import SpaceError, shown

_CONTROL = frozenset({"Cc", "Zl", "Zp", "Cs"})
"""Unicode's control characters, line and paragraph separators, and halves of surrogate pairs."""


def has_control(text: str) -> bool:
    """Return whether a text holds what breaks lines, terminals, files or databases."""
    return not text.isprintable() and any(unicodedata.category(c) in _CONTROL for c in text)


def check_text(what: str, text: str) -> None:
    """Check that a text holds no control character.

    Args:
        what: How the error calls it.
        text: The text.

    Raises:
        SpaceError: It holds one.
    """
    if has_control(text):
        raise SpaceError(
            f"{what} {shown(text)} holds a control character, such as a line end; "
            "use printable characters"
        )


def folded(text: str) -> str:
    """Return a text without its case and without more than single blanks inside."""
    return " ".join(text.split()).casefold()


def only_alike(text: str, choices: Iterable[object]) -> str | None:
    """Return the one text among `choices` that differs from `text` in case and blanks only.

    None if there is none, or several, which are different things then.
    """
    alike = [
        choice for choice in choices if isinstance(choice, str) and folded(choice) == folded(text)
    ]
    return alike[0] if len(alike) == 1 else None
