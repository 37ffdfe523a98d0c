"""Messages about Python's arguments, said with the command line's options and the TOML's tables."""

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from hetbo.errors import MergeError, OptimizerError

_TEXT = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_RENAME = re.compile(rf"\brename=\{{{_TEXT}: \.\.\.\}}")
_DROP = re.compile(rf"\bdrop=\[{_TEXT}\]")
_OF_IMPORT = re.compile(r"\b(value|noise|rename|drop|fixed|space|delimiter|encoding)=")
_OF_INIT = re.compile(r"\b(goal|method|seed)=")


def as_import_options(message: str) -> str:
    """Return a message about Python's arguments as one about the options of `hetbo import`."""
    message = _with_names(message, "").replace("on_invalid='skip'", "--skip-invalid")
    return re.sub(r"\((--\w+) \)", r"(\1)", _OF_IMPORT.sub(r"--\1 ", message))


def as_init_options(message: str) -> str:
    """Return a message about Python's arguments as one about a space's file and `hetbo init`."""
    message = re.sub(r"\bfixed=", "[fixed]", _with_names(message, "hetbo import "))
    return _OF_INIT.sub(r"--\1 ", message)


@contextmanager
def said_for_init() -> Iterator[None]:
    """Say what is wrong with a plan in the words of `hetbo init`."""
    try:
        yield
    except (MergeError, OptimizerError) as error:
        raise type(error)(as_init_options(str(error))) from error


def _with_names(message: str, command: str) -> str:
    """Return a message where `rename={'x': ...}` and `drop=['x']` are a command's options."""

    def rename(found: re.Match[str]) -> str:
        return f"{command}--rename {shlex.quote(f'{ast.literal_eval(found[1])}=NEW')}"

    def drop(found: re.Match[str]) -> str:
        return f"{command}--drop {shlex.quote(ast.literal_eval(found[1]))}"

    return _DROP.sub(drop, _RENAME.sub(rename, message))
