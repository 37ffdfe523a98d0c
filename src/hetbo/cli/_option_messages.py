"""Messages about Python's arguments, said with the command line's options and the TOML's tables."""

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hetbo.errors import (
    DataError,
    HetboError,
    HetboWarning,
    MergeError,
    OptimizerError,
    SourceWarning,
)

_TEXT = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_RENAME = re.compile(rf"\brename=\{{{_TEXT}: \.\.\.\}}")
_RENAMES = re.compile(rf"\brename=(\{{{_TEXT}: {_TEXT}(?:, {_TEXT}: {_TEXT})*\}})")
_COLUMNS = re.compile(rf"\b(drop|categorical)=(\[{_TEXT}(?:, {_TEXT})*\])")
_OF_IMPORT = re.compile(
    r"\b(value|goal|noise|rename|drop|categorical|fixed|space|delimiter|decimal|encoding)= ?"
)
_OF_INIT = re.compile(r"\b(goal|method|seed)=")


def as_import_options(message: str) -> str:
    """Return a message about Python's arguments as one about the options of `hetbo import`."""
    message = with_names(message, "").replace("on_invalid='skip'", "--skip-invalid")
    return re.sub(r"\((--\w+) \)", r"(\1)", _OF_IMPORT.sub(r"--\1 ", message)).rstrip()


def as_init_options(message: str) -> str:
    """Return a message about Python's arguments as one about a space's file and `hetbo init`."""
    message = re.sub(r"\bfixed=", "[fixed]", with_names(message))
    return _OF_INIT.sub(r"--\1 ", message)


@contextmanager
def said_for_import() -> Iterator[None]:
    """Say what is wrong with a file, or worth a note, in the words of `hetbo import`."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HetboWarning)
            yield
    except HetboError as error:
        raise DataError(as_import_options(str(error))) from error
    for warning in caught:
        message: Warning | str = warning.message
        if issubclass(warning.category, HetboWarning):
            message = as_import_options(str(message))
        warnings.warn_explicit(message, warning.category, warning.filename, warning.lineno)


@contextmanager
def said_for_init() -> Iterator[None]:
    """Say what is wrong with a plan in the words of `hetbo init`, which notes the rest once."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SourceWarning)
            yield
    except (MergeError, OptimizerError) as error:
        raise type(error)(as_init_options(str(error))) from error


def with_names(message: str, command: str = "hetbo import ") -> str:
    """Return a message where `rename={'x': ...}` and `drop=['x']` are a command's options."""

    def rename(found: re.Match[str]) -> str:
        return f"{command}--rename {shlex.quote(f'{ast.literal_eval(found[1])}=NEW')}"

    def renames(found: re.Match[str]) -> str:
        pairs = ast.literal_eval(found[1]).items()
        return f"{command}--rename {shlex.join(f'{old}={new}' for old, new in pairs)}"

    def columns(found: re.Match[str]) -> str:
        return f"{command}--{found[1]} {shlex.join(ast.literal_eval(found[2]))}"

    return _COLUMNS.sub(columns, _RENAMES.sub(renames, _RENAME.sub(rename, message)))
