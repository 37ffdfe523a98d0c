"""A named, ordered, frozen set of parameters."""

import keyword
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Self

from hetbo.errors import SpaceError, shown
from hetbo.spaces._names import check_text
from hetbo.spaces._parameter import Parameter, parameter_from_json, parameter_to_json
from hetbo.spaces._values import Value


class Space(Mapping[str, Parameter]):
    """What an experiment tunes: parameters by name, in a fixed order.

    A space is a frozen mapping. Two spaces are equal if they have equal parameters under equal
    names in the same order; the order decides how columns are laid out and values are printed.

    Args:
        parameters: The parameters by name. Names that are no Python identifiers, such as
            `min.node.size`, go through `Space.from_mapping`.

    Raises:
        SpaceError: There is no parameter, a name is empty or holds control characters, or
            something is not a parameter.
    """

    __slots__ = ("_parameters",)
    _parameters: Mapping[str, Parameter]

    def __init__(self, /, **parameters: Parameter) -> None:
        for name, parameter in parameters.items():
            check_name(name)
            if not isinstance(parameter, Parameter):
                raise SpaceError(
                    f"{shown(name)}: {shown(parameter)} is not a parameter; "
                    "use Float, Int or Categorical"
                )
        if not parameters:
            raise SpaceError("a space needs at least one parameter")
        object.__setattr__(self, "_parameters", MappingProxyType(dict(parameters)))

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Parameter]) -> Self:
        """Make a space from a mapping, whose names may be any strings."""
        for name in parameters:
            check_name(name)
        return cls(**parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names in order."""
        return tuple(self._parameters)

    def check(self, params: Mapping[str, object]) -> dict[str, Value]:
        """Return `params` in this space's order, each value as its parameter stores it.

        Raises:
            SpaceError: A name is missing or unknown, or a value does not fit its parameter.
        """
        self._check_known(params)
        checked: dict[str, Value] = {}
        for name, parameter in self._parameters.items():
            if name not in params:
                raise SpaceError(f"the parameter {shown(name)} has no value")
            try:
                checked[name] = parameter.check(params[name])
            except SpaceError as error:
                raise SpaceError(f"{shown(name)}: {error}") from None
        return checked

    def replace(self, /, **parameters: Parameter) -> Self:
        """Return this space with some parameters exchanged or, under new names, added."""
        return type(self).from_mapping({**self._parameters, **parameters})

    def drop(self, *names: str) -> Self:
        """Return this space without the parameters `names`."""
        self._check_known(names)
        return type(self).from_mapping(
            {name: p for name, p in self._parameters.items() if name not in names}
        )

    def rename(self, names: Mapping[str, str]) -> Self:
        """Return this space with parameters renamed from the keys of `names` to its values."""
        self._check_known(names)
        renamed = [names.get(name, name) for name in self._parameters]
        for name in renamed:
            if renamed.count(name) > 1:
                raise SpaceError(f"renaming would give two parameters the name {shown(name)}")
        return type(self).from_mapping(dict(zip(renamed, self._parameters.values(), strict=True)))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the space as plain JSON data: a list, since the order counts."""
        return [{"name": name, **parameter_to_json(p)} for name, p in self._parameters.items()]

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the space that `to_json` wrote.

        Raises:
            SpaceError: The data does not describe a space.
        """
        if not isinstance(data, list):
            raise SpaceError(f"a space is stored as a list of parameters, not as {shown(data)}")
        parameters: dict[str, Parameter] = {}
        for item in data:
            match item:
                case {"name": str(name), **rest}:
                    if name in parameters:
                        raise SpaceError(f"duplicate parameter {shown(name)}")
                    try:
                        parameters[name] = parameter_from_json(rest)
                    except SpaceError as error:
                        raise SpaceError(f"{shown(name)}: {error}") from None
                case _:
                    raise SpaceError(f"{shown(item)} does not describe a parameter: it has no name")
        return cls.from_mapping(parameters)

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return tuple(self.items()) == tuple(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._parameters.items()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Space is frozen; use space.replace(...) to get a changed one")

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes receive spaces; a mapping proxy cannot travel by itself.
        return type(self).from_mapping, (dict(self._parameters),)

    def __repr__(self) -> str:
        if all(map(_can_be_keyword, self)):
            lines = "".join(f"    {name}={p!r},\n" for name, p in self.items())
            return f"Space(\n{lines})"
        lines = "".join(f"    {name!r}: {p!r},\n" for name, p in self.items())
        return f"Space.from_mapping({{\n{lines}}})"

    def _check_known(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._parameters:
                known = ", ".join(map(repr, self._parameters))
                raise SpaceError(f"unknown parameter {shown(name)}; expected one of {known}")


def _can_be_keyword(name: str) -> bool:
    # Python normalises identifiers, so that other spellings would come back as another name.
    same = unicodedata.normalize("NFKC", name) == name
    return same and name.isidentifier() and not keyword.iskeyword(name)


def check_name(name: object) -> None:
    """Check that something can be the name of a parameter.

    Raises:
        SpaceError: It is not a string, or one that is empty or holds control characters.
    """
    if not isinstance(name, str) or not name.strip():
        raise SpaceError(
            f"a parameter's name must be a string that is not empty, not {shown(name)}"
        )
    check_text("the name", name)
