"""What an attack can find."""

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["lost", "stuck", "wrong"]


class FaultError(Exception):
    """Something is lost, stuck or wrong.

    Args:
        kind: Which of the three.
        what: What happened, for whoever looks for the cause.
    """

    def __init__(self, kind: Kind, what: str) -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


def expect(condition: object, kind: Kind, what: str) -> None:
    """Raise a fault unless a condition holds."""
    if not condition:
        raise FaultError(kind, what)
