"""What every kind of parameter can do, and the kinds that are known."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from hetbo.errors import SpaceError, shown
from hetbo.spaces._names import only_alike
from hetbo.spaces._texts import means
from hetbo.spaces._values import Value, checked_choice, choice_key

if TYPE_CHECKING:
    from hetbo.spaces._axes import Axis
    from hetbo.spaces._numbers import Numeric

KINDS: "dict[str, type[Parameter]]" = {}
"""Every kind of parameter, by the name that files give it. A kind is added by its definition."""

Difference: TypeAlias = tuple[Literal["re-ranged", "re-scaled", "retyped", "choices"], str]
"""What differs between two parameters of one name, and what that means for the transfer."""

_MOST_LISTED = 20
_MOST_SUMMARISED = 6


class Parameter(ABC):
    """One thing that is tuned: its values, and what they mean to tables, models and charts.

    A kind of parameter is one subclass. What is defined here suits a kind with finitely many
    values; such a kind adds `values`, `axis`, `merge`, `to_json` and `from_json`. It adds
    `respelled` if its values may be texts that differ from the target's in case and blanks only.
    Instances are frozen and hashable.

    Attributes:
        kind: What files call the kind: the "type" in their JSON.
        family: What messages call it, such as 'a number'. Parameters of one family can be merged.
        ordered: Whether the values have an order and lie in one column of the encoded cube.
            Otherwise each value has a column of its own.
    """

    __slots__ = ()
    kind: ClassVar[str]
    family: ClassVar[str]
    ordered: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        if "kind" not in cls.__dict__:
            return
        known = KINDS.get(cls.kind)
        names = (cls.__module__, cls.__qualname__)
        if known is not None and (known.__module__, known.__qualname__) != names:
            raise SpaceError(
                f"{cls.__qualname__}: kind={cls.kind!r} is that of {known.__qualname__}; "
                "choose another kind"
            )
        KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def values(self) -> Sequence[Value] | None:
        """All values in order; None if they are real numbers."""

    @property
    def scale(self) -> "Numeric | None":
        """The range and the scale of the values; None if they are not numbers of a range."""
        return None

    @property
    def summary(self) -> str:
        """The values in a few words."""
        values = self.values or ()
        if len(values) <= _MOST_SUMMARISED:
            return " | ".join(map(shown, values))
        return " | ".join([*map(shown, values[: _MOST_SUMMARISED - 1]), f"… {len(values)} in all"])

    def check(self, value: object) -> Value:
        """Return `value` as this parameter stores it.

        Raises:
            SpaceError: The value does not fit the parameter.
        """
        return (self.values or ())[self.index(value)]

    def index(self, value: object) -> int:
        """Return the position of `value` among the values.

        Raises:
            SpaceError: It is not one of them.
        """
        try:
            return [*map(choice_key, self.values or ())].index(choice_key(checked_choice(value)))
        except (SpaceError, ValueError):
            raise self._unknown(value) from None

    def covers(self, value: Value) -> bool:
        """Return whether a value is one of the values, or a number within their range."""
        return choice_key(value) in map(choice_key, self.values or ())

    def read(self, cell: object, *, decimal: str = ".") -> Value:
        """Return the value that a cell of a table stands for.

        A text for a number or a boolean is read as one. A text that differs from exactly one value
        in case and blanks only is that value.

        Args:
            cell: The cell.
            decimal: What stands before the decimals in texts, '.' or ','.

        Raises:
            SpaceError: The cell does not fit the parameter.
        """
        if not isinstance(cell, str) or self.covers(cell):
            return self.check(cell)
        for value in self.values or ():
            if means(cell, value, decimal):
                return value
        alike = only_alike(cell, self.values or ())
        return self.check(cell) if alike is None else alike

    def neighbours(self, value: Value) -> Sequence[Value]:
        """Return the values that a search tries from `value`: all others, if nothing is said."""
        own = self.index(value)
        return [other for i, other in enumerate(self.values or ()) if i != own]

    def accepts(self, value: Value) -> bool:  # noqa: ARG002  # for kinds that refuse some
        """Return whether an experiment may hold this parameter fixed at a value."""
        return True

    @abstractmethod
    def merge(
        self,
        others: "Sequence[Parameter]",
        *,
        fixed: Sequence[Value],
        tried: Iterable[Value],
        of_target: bool,
    ) -> "Parameter":
        """Return the parameter that holds what several experiments tune.

        Args:
            others: The parameters of the other experiments, all of this family.
            fixed: The values at which experiments hold it fixed.
            tried: The values that the sources have tried.
            of_target: Whether this is the target's parameter, whose scale then is the joint one.

        Raises:
            SpaceError: There is no such parameter.
        """

    def differences(self, before: "Parameter", tried: Sequence[Value]) -> Iterable[Difference]:
        """Yield how this parameter, the target's, differs from that of a source.

        Args:
            before: The source's parameter, of the same family.
            tried: The source's values in its complete trials.
        """
        new = [value for value in self.values or () if not before.covers(value)]
        gone = [value for value in before.values or () if not self.covers(value)]
        parts: list[str] = []
        if new:
            parts.append(f"new: {_listed(new)}, on which the source says nothing")
        if gone:
            count = sum(not self.covers(value) for value in tried)
            trials = "1 trial" if count == 1 else f"{count} trials"
            parts.append(f"gone: {_listed(gone)}; {trials} used one and only inform about the rest")
        if parts:
            yield "choices", "; ".join(parts)

    def respelled(self, names: Mapping[str, str]) -> "Parameter":  # noqa: ARG002  # for kinds with texts
        """Return this parameter with values spelled in another way; itself if it cannot be."""
        return self

    @abstractmethod
    def axis(self, tuned: "Sequence[Parameter]") -> "Axis":
        """Return where this joint parameter's values lie in the unit cube.

        Args:
            tuned: The parameters of the experiments that were merged into this one.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the parameter as plain JSON data, without its kind."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the parameter that `to_json` wrote.

        Raises:
            SpaceError: The data does not describe one.
        """

    def _unknown(self, value: object) -> SpaceError:
        values = self.values or ()
        return SpaceError(f"unknown choice {shown(value)}; expected one of {_listed(values)}")


def _listed(values: Sequence[Value]) -> str:
    known = ", ".join(map(shown, values[:_MOST_LISTED]))
    left = len(values) - _MOST_LISTED
    return f"{known} and {left} more" if left > 0 else known


def parameter_to_json(parameter: Parameter) -> dict[str, Any]:
    """Return the parameter as plain JSON data, its kind included."""
    return {"type": parameter.kind, **parameter.to_json()}


def parameter_from_json(data: object) -> Parameter:
    """Return the parameter that `parameter_to_json` wrote.

    Raises:
        SpaceError: The data does not describe a parameter of a known kind.
    """
    match data:
        case {"type": str(kind), **fields} if kind in KINDS:
            return KINDS[kind].from_json({str(key): value for key, value in fields.items()})
        case _:
            known = ", ".join(map(repr, KINDS))
            raise SpaceError(
                f"{shown(data)} does not describe a parameter; expected a type of {known} "
                "(another kind has to be imported before it can be read)"
            )


def refuse_unknown_keys(rest: Mapping[str, object]) -> None:
    """Check that nothing is left of a parameter's description.

    Raises:
        SpaceError: There is.
    """
    if rest:
        raise SpaceError(f"unknown key {shown(next(iter(rest)))} in the description of a parameter")
