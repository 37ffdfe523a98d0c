"""The columns of the encoded cube, addressed by the names of parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from hetbo.errors import SpaceError
from hetbo.spaces import Categorical, Space, Value


@dataclass(frozen=True, slots=True)
class Column:
    """One coordinate of the encoded cube.

    Attributes:
        parameter: The parameter that it encodes, or helps to encode.
        choice: For a column of a categorical parameter: which of the joint choices it marks, by
            position; None for a numeric parameter.
        label: How a table or a message calls the column.
    """

    parameter: str
    choice: int | None
    label: str


class Columns(Sequence[Column]):
    """The columns of a joint space: one per number, one per choice of a category.

    Args:
        space: The joint space.
    """

    def __init__(self, space: Space) -> None:
        columns: list[Column] = []
        for name, parameter in space.items():
            if isinstance(parameter, Categorical):
                columns += [
                    Column(name, index, f"{name}={_shown(choice)}")
                    for index, choice in enumerate(parameter.choices)
                ]
            else:
                columns.append(Column(name, None, name))
        self._columns = tuple(columns)
        self._parameters = space.names

    def of(self, *parameters: str) -> list[int]:
        """Return the positions of the columns that encode `parameters`.

        Raises:
            SpaceError: There is no such parameter.
        """
        for name in parameters:
            if name not in self._parameters:
                known = ", ".join(map(repr, self._parameters))
                raise SpaceError(f"no column encodes {name!r}; there are {known}")
        return [
            index
            for name in parameters
            for index, column in enumerate(self._columns)
            if column.parameter == name
        ]

    @property
    def groups(self) -> tuple[int, ...]:
        """For each column the position of its parameter: columns of one category share one."""
        return tuple(self._parameters.index(column.parameter) for column in self._columns)

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


def _shown(choice: Value) -> str:
    return choice if isinstance(choice, str) else repr(choice)
