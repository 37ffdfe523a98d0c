"""The columns of the encoded cube, addressed by the names of parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from hetbo.errors import SpaceError
from hetbo.spaces import Space, Value

_MOST_COLUMNS = 10_000
"""A search holds some thousand points of so many numbers each."""


@dataclass(frozen=True, slots=True)
class Column:
    """One coordinate of the encoded cube.

    Attributes:
        parameter: The parameter that it encodes, or helps to encode.
        choice: For a column of a parameter without an order: which of the joint choices it marks,
            by position; None for an ordered parameter.
        label: How a table or a message calls the column.
    """

    parameter: str
    choice: int | None
    label: str


class Columns(Sequence[Column]):
    """The columns of a joint space: one per ordered parameter, one per choice of the others.

    Args:
        space: The joint space.

    Raises:
        SpaceError: There would be more columns than memory has room for.
    """

    def __init__(self, space: Space) -> None:
        columns: list[Column] = []
        for name, parameter in space.items():
            if parameter.ordered:
                columns.append(Column(name, None, name))
                continue
            columns += [
                Column(name, index, f"{name}={_shown(choice)}")
                for index, choice in enumerate(parameter.values or ())
            ]
        if len(columns) > _MOST_COLUMNS:
            raise _too_many(space, len(columns))
        self._columns = tuple(columns)
        self._of: dict[str, list[int]] = {name: [] for name in space}
        for index, column in enumerate(columns):
            self._of[column.parameter].append(index)

    def of(self, *parameters: str) -> list[int]:
        """Return the positions of the columns that encode `parameters`.

        Raises:
            SpaceError: There is no such parameter.
        """
        for name in parameters:
            if name not in self._of:
                known = ", ".join(map(repr, self._of))
                raise SpaceError(f"unknown parameter {name!r}; expected one of {known}")
        return [index for name in parameters for index in self._of[name]]

    @property
    def groups(self) -> tuple[int, ...]:
        """For each column the position of its parameter: columns of one category share one."""
        positions = {name: position for position, name in enumerate(self._of)}
        return tuple(positions[column.parameter] for column in self._columns)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns' labels."""
        return tuple(column.label for column in self._columns)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        return self._columns[index]

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns)

    def __repr__(self) -> str:
        return f"Columns({', '.join(self.labels)})"


def _too_many(space: Space, count: int) -> SpaceError:
    sizes = {n: len(p.values or ()) for n, p in space.items() if not p.ordered}
    largest = max(sizes, key=sizes.__getitem__)
    return SpaceError(
        f"the joint space has {count} numbers and choices in all, {sizes[largest]} of them choices "
        f"of {largest!r}, and at most {_MOST_COLUMNS} can be modelled; group the choices, describe "
        "them by numbers, or leave the parameter out"
    )


def _shown(choice: Value) -> str:
    return choice if isinstance(choice, str) else repr(choice)
