"""Reading and writing JSON files; a crash leaves either the old content or the new one."""

import errno
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from hetbo.errors import DataError, shown

_PREFIX, _SUFFIX = ".hetbo-", ".tmp"
"""Temporary files are called like no target, whose name may be as long as names can be."""
Kind: TypeAlias = Callable[[Path], bool]
"""Whether a file is of some kind, or empty."""
_BEGINNING = 200
"""So many bytes tell how a file begins."""
_ONLY_FILES = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Neither follow a link nor wait for a pipe, where a system knows such things."""


def write_text_atomically(
    path: str | os.PathLike[str], text: str, *, only_over: Kind | None = None
) -> None:
    """Write `text` to `path`; a crash at any moment leaves the old file or the new one, whole.

    The text goes to a temporary file in the same folder, which then takes the file's place. So an
    existing file keeps its permissions but belongs to who writes it, and other names of it (hard
    links) keep the old content. A symbolic link stays, and the file that it points to is written.

    Args:
        path: The file to write; its folder must exist.
        text: The whole content, stored as UTF-8.
        only_over: The kind of file that is replaced, if not any; see `check_replaceable`.

    Raises:
        DataError: The path is no place for a regular file, or something else is there.
        OSError: The file cannot be written.
    """
    if only_over is not None:
        check_replaceable(path, only_over)
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to `path`, as `write_text_atomically` writes text.

    Raises:
        DataError: The path is no place for a regular file: a folder, a device, a pipe.
        OSError: The file cannot be written.
    """
    try:
        _write(path, content)
    except OSError as error:
        # In the name of the file that was asked for: nobody knows the temporary one.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error


def read_json(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401
    """Return the data in a JSON file.

    Raises:
        DataError: The file cannot be read or is no JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a JSON file: {unreadable(error)}") from error


def unreadable(error: Exception) -> str:
    """Return why a text cannot be read, in words for users of the file."""
    return "it holds an integer of too many digits" if "set_int_max" in str(error) else str(error)


def checked_header(data: object, file_format: str, version: int) -> Mapping[str, Any]:
    """Return the fields of a versioned file of a format, such as 'hetbo-optimizer'.

    Raises:
        DataError: The data is no such file's, or one's of another version.
    """
    match data:
        case {"format": found, "version": read} if found == file_format:
            if read != version:
                message = f"this hetbo reads version {version} of its files, not {shown(read)}"
                raise DataError(message)
            return cast("Mapping[str, Any]", data)
        case _:
            raise DataError(f"this is not a {file_format.replace('-', ' ')}")


def check_regular(path: str | os.PathLike[str]) -> None:
    """Check that a file could be written here as far as its kind goes; links are followed.

    Raises:
        DataError: A folder, a device, a pipe or a socket is there, or the path is none.
        OSError: The path cannot be looked at.
    """
    check_names_file(path)
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"cannot write {path}: it is a folder; name a file in it")
    if not stat.S_ISREG(found.st_mode) or _is_standard_stream(found):
        raise DataError(
            f"cannot write {path}: it is a device, a pipe or an open stream; name a regular file"
        )


def check_names_file(path: str | os.PathLike[str]) -> None:
    """Check that a path, as it is written, can be that of a file.

    Raises:
        DataError: It is empty, ends like a folder's, or holds a NUL character.
    """
    text = os.fspath(path)
    if not text:
        raise DataError("cannot write '': the path is empty; name a file")
    if "\0" in text:
        raise DataError(f"{shown(text)} holds a NUL character; name another file")
    if os.path.basename(text) in {"", os.curdir, os.pardir}:  # noqa: PTH119  # Path drops the end
        raise DataError(f"cannot write {text}: that is the path of a folder; name a file in it")


def check_replaceable(path: str | os.PathLike[str], is_same: Kind) -> None:
    """Check that a file could be written here and that no file of another kind would be lost.

    Args:
        path: The file; there may be none.
        is_same: Whether a file that is there may be replaced.

    Raises:
        DataError: The path is no place for a regular file, or something else is there.
        OSError: The path cannot be looked at, or the file cannot be read.
    """
    check_regular(path)
    with suppress(FileNotFoundError):
        if not is_same(Path(path)):
            raise DataError(
                f"cannot write {path}: a file of another kind is there, and stays as it is; "
                "name another file, or remove that one first"
            )


def is_page(path: Path) -> bool:
    """Return whether a file is an HTML page, or empty."""
    found = _beginning(path)
    return not found or found.lower().startswith(b"<!doctypehtml>")


def is_saved(format: str) -> Kind:  # noqa: A002  # what the files call it
    """Return whether a file is JSON of hetbo's in some format, or empty.

    Only the beginning is looked at where `save` wrote it; other programs order the keys anew.
    """

    def is_such(path: Path) -> bool:
        found = _beginning(path)
        if not found or found.startswith(f'{{"format":"{format}"'.encode()):
            return True
        if not found.startswith(b"{"):
            return False
        with suppress(DataError):
            data = read_json(path)
            return isinstance(data, dict) and data.get("format") == format
        return False

    return is_such


def _beginning(path: Path) -> bytes:
    """Return how a file begins, without white space."""
    with path.open("rb") as file:
        return b"".join(file.read(_BEGINNING).split())


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    check_regular(path)
    target = Path(os.path.realpath(path))
    _remove_leftovers(target.parent)
    exists = target.exists()
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # Until it has the permissions of the file that it replaces, nobody else may read it.
    with _temporary_file(target.parent, 0o600 if exists else 0o666) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
        if exists:
            shutil.copymode(target, stream.name)
        if sys.platform == "win32":
            stream.close()  # an open file cannot be renamed there
        Path(stream.name).replace(target)
    _synchronise(target.parent)


def _is_standard_stream(found: os.stat_result) -> bool:
    """Return whether this process prints into a file, and would go on with the replaced one."""
    for descriptor in (1, 2):
        with suppress(OSError):  # it is closed
            if os.path.samestat(found, os.fstat(descriptor)):
                return True
    return False


@contextmanager
def _temporary_file(folder: Path, mode: int) -> Iterator[IO[bytes]]:
    """Open a new file, locked as long as it is open; what is left of it after the block goes."""
    stream = _locked_file(folder, mode)
    try:
        with stream:
            yield stream
    finally:
        Path(stream.name).unlink(missing_ok=True)


def _locked_file(folder: Path, mode: int) -> IO[bytes]:
    while True:
        path = folder / f"{_PREFIX}{secrets.token_hex(16)}{_SUFFIX}"
        stream = open(  # noqa: SIM115  # with an opener; the caller closes it
            path,
            "xb",
            opener=lambda name, flags: os.open(name, flags, mode),
        )
        with suppress(OSError):  # some network file systems have no locks
            _lock(stream.fileno())
        if path.exists():
            return stream
        stream.close()  # another process took it for a leftover, before it was locked


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that were killed."""
    for leftover in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):  # another user's, locked by who writes it, or gone meanwhile
            descriptor = os.open(leftover, os.O_RDWR | _ONLY_FILES)
            try:
                left = _lock(descriptor, blocking=False)
            finally:
                os.close(descriptor)  # an open file cannot be removed on Windows
            if left:
                leftover.unlink()


def _lock(descriptor: int, *, blocking: bool = True) -> bool:
    """Lock an open file until it is closed; return whether that was possible."""
    from filelock import lock_descriptor  # noqa: PLC0415  # slow to load, and help writes no file

    return lock_descriptor(descriptor, blocking=blocking)


def _synchronise(folder: Path) -> None:
    """Let the new name of a file survive a power cut, where a folder can be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
