"""Choices without an order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from hetbo.errors import SpaceError, shown
from hetbo.spaces._names import folded
from hetbo.spaces._parameter import Parameter, refuse_unknown_keys
from hetbo.spaces._texts import alone
from hetbo.spaces._values import Value, checked_choice, choice_key

if TYPE_CHECKING:
    from hetbo.spaces._axes import Axis


_PLAIN = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Categorical(Parameter):
    """One of several choices without an order: strings, numbers, booleans or None.

    `True` and `1` are different choices here, `1` and `1.0` are the same.

    Args:
        choices: The choices, in the order in which they should be shown.

    Raises:
        SpaceError: No choice, a duplicate choice, a choice of another type, or a string with
            control characters.
    """

    kind = "categorical"
    family = "a category"
    ordered = False
    choices: tuple[Value, ...]
    _positions: Mapping[tuple[bool, Value], int] = field(repr=False)
    _alike: Mapping[str, str | None] = field(repr=False)
    """The one choice without case and blanks; None if there are several."""

    def __init__(self, *choices: Value) -> None:
        if not choices:
            raise SpaceError("Categorical() has no choices; give at least one")
        object.__setattr__(self, "choices", tuple(checked_choice(choice) for choice in choices))
        positions: dict[tuple[bool, Value], int] = {}
        for position, choice in enumerate(self.choices):
            if positions.setdefault(choice_key(choice), position) != position:
                raise SpaceError(f"Categorical: duplicate choice {shown(choice)}")
        object.__setattr__(self, "_positions", positions)
        alike: dict[str, str | None] = {}
        for choice in self.choices:
            if isinstance(choice, str):
                key = folded(choice)
                alike[key] = None if key in alike else choice
        object.__setattr__(self, "_alike", alike)

    @property
    def values(self) -> tuple[Value, ...]:
        """The choices."""
        return self.choices

    def index(self, value: object) -> int:
        """Return the position of `value` among the choices.

        Raises:
            SpaceError: The value is not one of the choices.
        """
        try:
            if isinstance(value, str | int | float | None) and type(value) in _PLAIN:
                return self._positions[choice_key(value)]  # no choice needs to be checked again
            return self._positions[choice_key(checked_choice(value))]
        except (SpaceError, KeyError):
            raise self._unknown(value) from None

    def read(self, cell: object, *, decimal: str = ".") -> Value:
        """Return the choice that a cell of a table stands for; see `Parameter.read`.

        Raises:
            SpaceError: The cell is not one of the choices.
        """
        if not isinstance(cell, str) or self.covers(cell):
            return self.check(cell)
        meaning = alone(cell, decimal)
        if not isinstance(meaning, str) and self.covers(meaning):
            return self.check(meaning)
        return self._alike.get(folded(cell)) or self.check(cell)

    def covers(self, value: Value) -> bool:
        """Return whether a value is one of the choices."""
        return choice_key(value) in self._positions

    def merge(
        self,
        others: Sequence[Parameter],
        *,
        fixed: Sequence[Value],
        tried: Iterable[Value],  # noqa: ARG002  # they are choices already
        of_target: bool,  # noqa: ARG002  # choices have no scale
    ) -> "Categorical":
        """Return the category with all choices and all fixed values."""
        every = [choice for p in (self, *others) for choice in p.values or ()]
        return Categorical(*{choice_key(choice): choice for choice in [*every, *fixed]}.values())

    def respelled(self, names: Mapping[str, str]) -> "Categorical":
        """Return this category with choices spelled in another way."""
        return Categorical(*(names.get(c, c) if isinstance(c, str) else c for c in self.choices))

    def axis(self, tuned: Sequence[Parameter]) -> "Axis":  # noqa: ARG002  # their choices are here
        """Return where the choices lie in the unit cube: one column for each."""
        from hetbo.spaces._axes import ChoiceAxis  # noqa: PLC0415  # loads NumPy

        return ChoiceAxis(self)

    def to_json(self) -> dict[str, Any]:
        """Return the parameter as plain JSON data, without its kind."""
        return {"choices": list(self.choices)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the parameter that `to_json` wrote.

        Raises:
            SpaceError: The data does not describe one.
        """
        match data:
            case {"choices": list(choices), **rest}:
                refuse_unknown_keys(rest)
                return cls(*choices)
            case _:
                raise SpaceError(
                    f"{shown(data)} does not describe a parameter of type {cls.kind!r}; "
                    "expected a list of choices"
                )

    def __repr__(self) -> str:
        return f"Categorical({', '.join(map(repr, self.choices))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        return tuple(self._positions) == tuple(other._positions)

    def __hash__(self) -> int:
        return hash(tuple(self._positions))
