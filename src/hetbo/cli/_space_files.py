"""Search spaces in TOML files: read, checked, and written out for people to copy.

::

    goal = "minimize"                 # or "maximize"
    value = "loss"                    # optional: what the measured value is called

    [parameters]
    learning_rate = { low = 1e-5, high = 0.1, log = true }
    layers = { low = 1, high = 8 }            # both whole: an integer
    dropout = { low = 0.0, high = 0.5 }       # a decimal point: a real number
    booster = { choices = ["gbtree", "dart"] }
    scheduler = { choices = ["cosine", { none = true }] }     # Python's None, which TOML lacks

    [fixed]                           # optional: known values of what only sources tuned
    subsample = 0.8
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hetbo._files import unreadable
from hetbo.cli._names import check_space, is_usable_name, usable_name
from hetbo.errors import DataError, SpaceError, shown
from hetbo.experiments import Goal
from hetbo.experiments._fixed import checked_fixed
from hetbo.spaces import Categorical, Float, Int, Parameter, Space, Value

_LARGEST_FILE = 1_000_000
_NONE = "{ none = true }"
"""TOML has no null."""
_NUMERIC_KEYS = {"low", "high", "log", "integer"}


@dataclass(frozen=True, slots=True)
class SpaceFile:
    """What a TOML file says.

    Attributes:
        path: The file.
        space: What is tuned.
        goal: Which way is better; None if the file does not say.
        value: What the measured value is called.
        fixed: Known values of parameters that are not tuned.
    """

    path: Path
    space: Space
    goal: Goal | None
    value: str | None
    fixed: Mapping[str, Value]


def read_space_file(path: Path) -> SpaceFile:
    """Read a space from a TOML file.

    Raises:
        DataError: The file cannot be read, or says something that has no meaning; the message
            names the file, the table and the key.
    """
    data = _toml(path)
    try:
        return _understood(path, data)
    except (DataError, SpaceError) as error:
        raise DataError(f"{path}: {error}") from None


def toml_lines(
    space: Space,
    fixed: Mapping[str, Value],
    *,
    goal: Goal | None = None,
    value: str | None = None,
) -> list[str]:
    """Return a space as the lines of a TOML file that `read_space_file` reads back exactly."""
    lines = [] if goal is None else [f"goal = {_literal(goal.value)}"]
    lines += [] if value is None or not is_usable_name(value) else [f"value = {_literal(value)}"]
    lines += ["[parameters]", *(f"{_key(n)} = {_described(p)}" for n, p in space.items())]
    if fixed:
        lines += ["[fixed]", *(f"{_key(n)} = {_literal(v)}" for n, v in fixed.items())]
    return lines


def _toml(path: Path) -> dict[str, object]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            text = stream.read(_LARGEST_FILE + 1)
        if len(text) <= _LARGEST_FILE:
            return tomllib.loads(text)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    # ValueError: no TOML, no UTF-8, a name with NUL, an integer of more digits than Python reads.
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a TOML file: {unreadable(error)}") from error
    raise DataError(f"{path} is larger than 1 MB: that cannot be a search space")


def _understood(path: Path, data: Mapping[str, object]) -> SpaceFile:
    _only(data, {"goal", "value", "parameters", "fixed"}, "at the top of the file")
    goal, value = data.get("goal"), data.get("value")
    if goal not in (None, "minimize", "maximize"):
        raise DataError(f"goal = {shown(goal)} must be 'minimize' or 'maximize'")
    if value is not None and not isinstance(value, str):
        raise DataError(f"value = {shown(value)} must be a string: what the value is called")
    tables = _table(data, "parameters")
    if not tables:
        raise DataError(
            "[parameters] has no parameter; add one, for example x = { low = 0.0, high = 1.0 }"
        )
    space = Space.from_mapping({name: _parameter(name, table) for name, table in tables.items()})
    check_space(space)
    fixed = checked_fixed("target", space, _fixed(data))
    named = None if value is None else usable_name("value", value)
    return SpaceFile(path, space, None if goal is None else Goal.of(str(goal)), named, dict(fixed))


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = data.get(name, {})
    if not isinstance(table, Mapping):
        raise DataError(f"{name} = {shown(table)} must be a table: [{name}]")
    return table


def _fixed(data: Mapping[str, object]) -> dict[str, Value]:
    fixed: dict[str, Value] = {}
    for name, written in _table(data, "fixed").items():
        value = _value(written)
        if not isinstance(value, str | int | float | bool | None):
            raise DataError(
                f"[fixed] {shown(name)} = {shown(value)} must be a string, a number, true, false "
                f"or {_NONE}"
            )
        fixed[name] = value
    return fixed


def _value(written: object) -> object:
    """Return what was written, or None where that is what it stands for."""
    return None if written == {"none": True} else written


def _parameter(name: str, table: object) -> Parameter:
    where = f"[parameters] {shown(name)}"
    if not isinstance(table, Mapping):
        raise DataError(
            f"{where} = {shown(table)} must be {{ low = …, high = … }} or {{ choices = [ … ] }}"
        )
    try:
        if "choices" in table:
            _only(table, {"choices"}, "beside choices")
            return _categorical(table["choices"])
        _only(table, _NUMERIC_KEYS, "of a parameter")
        return _numeric(table)
    except (DataError, SpaceError) as error:
        raise DataError(f"{where}: {error}") from None


def _categorical(choices: object) -> Categorical:
    if not isinstance(choices, list):
        raise DataError(f"choices = {shown(choices)} must be a list: choices = [ … ]")
    return Categorical(*map(_value, choices))  # type: ignore[arg-type]  # it checks its choices


def _numeric(table: Mapping[str, object]) -> Float | Int:
    for key in ("low", "high"):
        if key not in table:
            raise DataError(f"{key} is missing; expected low and high, or choices")
    low, high, log = table["low"], table["high"], table.get("log", False)
    whole = table.get("integer", isinstance(low, int) and isinstance(high, int))
    for key, value in {"log": log, "integer": whole}.items():
        if not isinstance(value, bool):
            raise DataError(f"{key} = {shown(value)} must be true or false")
    kind = Int if whole else Float
    return kind(low, high, log=log)  # type: ignore[arg-type]  # the parameter checks its bounds


def _only(table: Mapping[str, object], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise DataError(
                f"unknown key {shown(key)} {where}; known are {', '.join(sorted(known))}"
            )


def _described(parameter: Parameter) -> str:
    scale = parameter.scale
    if scale is None:
        return f"{{ choices = [{', '.join(map(_literal, parameter.values or ()))}] }}"
    log = ", log = true" if scale.log else ""
    return f"{{ low = {_literal(scale.low)}, high = {_literal(scale.high)}{log} }}"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else _literal(name)


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    return _NONE if value is None else repr(value)


def _escaped(character: str) -> str:
    if character in {'"', "\\"}:
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
