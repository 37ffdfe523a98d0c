"""Search spaces in TOML files: read, checked, and written out for people to copy.

::

    goal = "minimize"                 # or "maximize"
    value = "loss"                    # optional: what the measured value is called

    [parameters]
    learning_rate = { low = 1e-5, high = 0.1, log = true }
    layers = { low = 1, high = 8 }            # both whole: an integer
    dropout = { low = 0.0, high = 0.5 }       # a decimal point: a real number
    booster = { choices = ["gbtree", "dart"] }

    [fixed]                           # optional: known values of what only sources tuned
    subsample = 0.8
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hetbo.cli.names import check_space, usable_name
from hetbo.errors import DataError, SpaceError, shown
from hetbo.experiments import Experiment, Goal
from hetbo.spaces import Categorical, Float, Int, Parameter, Space, Value

_LARGEST_FILE = 1_000_000
_NUMERIC_KEYS = {"low", "high", "log", "integer"}


@dataclass(frozen=True, slots=True)
class SpaceFile:
    """What a TOML file says.

    Attributes:
        space: What is tuned.
        goal: Which way is better; None if the file does not say.
        value: What the measured value is called.
        fixed: Known values of parameters that are not tuned.
    """

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
        return _understood(data)
    except (DataError, SpaceError) as error:
        raise DataError(f"{path}: {error}") from None


def toml_lines(space: Space, fixed: Mapping[str, Value]) -> list[str]:
    """Return a space as the lines of a TOML file."""
    lines = ["[parameters]", *(f"{_key(n)} = {_described(p)}" for n, p in space.items())]
    written = {name: value for name, value in fixed.items() if value is not None}
    if written:
        lines += ["", "[fixed]", *(f"{_key(n)} = {_literal(v)}" for n, v in written.items())]
    return lines


def _toml(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"{path} is larger than 1 MB: that cannot be a search space")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path} is not a TOML file: {error}") from error


def _understood(data: Mapping[str, object]) -> SpaceFile:
    _only(data, {"goal", "value", "parameters", "fixed"}, "at the top of the file")
    goal, value = data.get("goal"), data.get("value")
    if goal not in (None, "minimize", "maximize"):
        raise DataError(f"goal = {shown(goal)} must be 'minimize' or 'maximize'")
    if value is not None and not isinstance(value, str):
        raise DataError(f"value = {shown(value)} must be a text: what the value is called")
    tables = _table(data, "parameters")
    if not tables:
        raise DataError(
            "[parameters] has no parameter; add one, for example x = { low = 0.0, high = 1.0 }"
        )
    space = Space.from_mapping({name: _parameter(name, table) for name, table in tables.items()})
    check_space(space)
    fixed = Experiment("target", space, fixed=_fixed(data)).fixed
    named = None if value is None else usable_name("value", value)
    return SpaceFile(space, None if goal is None else Goal.of(str(goal)), named, dict(fixed))


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = data.get(name, {})
    if not isinstance(table, Mapping):
        raise DataError(f"{name} = {shown(table)} must be a table: [{name}]")
    return table


def _fixed(data: Mapping[str, object]) -> dict[str, Value]:
    fixed: dict[str, Value] = {}
    for name, value in _table(data, "fixed").items():
        if not isinstance(value, str | int | float | bool):
            raise DataError(f"[fixed] {shown(name)} = {shown(value)} must be a text or a number")
        fixed[name] = value
    return fixed


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
    parameter = Categorical(*choices)
    if len(set(parameter.choices)) < len(parameter.choices):
        raise DataError(f"choices = {shown(choices)}: Optuna cannot tell true from 1; use texts")
    return parameter


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
    if isinstance(parameter, Categorical):
        return f"{{ choices = [{', '.join(map(_literal, parameter.choices))}] }}"
    log = ", log = true" if parameter.log else ""
    return f"{{ low = {_literal(parameter.low)}, high = {_literal(parameter.high)}{log} }}"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else _literal(name)


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    return repr(value)


def _escaped(character: str) -> str:
    if character in {'"', "\\"}:
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
