"""Optuna's journals: one line of JSON per change, of which a full disk or a kill may leave half."""

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from hetbo.errors import DataError, HetboWarning, shown

_BEGINNING = b'{"op_code"'
_BLOCK = 65_536
_UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def opened_journal(path: Path) -> Iterator[JournalStorage]:
    """Open a journal; it is made if it is not there.

    Raises:
        DataError: The file cannot be opened, is no journal of Optuna's, or is damaged.
    """
    _check_beginning(path)
    try:
        journal = JournalStorage(JournalFileBackend(str(path), lock_obj=_CuttingLock(path)))
    except OSError as error:
        raise _unreadable(path, error) from error
    # Optuna replays whatever the lines say.
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
        raise _damaged(path, error) from error
    try:
        yield journal
    except OSError as error:
        if error.errno not in _UNWRITTEN or error.filename is not None:
            raise
        raise DataError(
            f"{shown(str(path))}: {error.strerror}; make room and try again. What was being "
            "written is left out"
        ) from error
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error


class _CuttingLock(JournalFileSymlinkLock):
    """Optuna's own lock; whoever gets it finds whole lines only.

    Every process writes under this lock, so a last line without an end is not being written: its
    process was killed, or the disk was full. The next line would be joined to it, and no process
    could read the journal any more.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path

    def acquire(self) -> bool:
        acquired = super().acquire()
        try:
            cut = _cut_half_line(self._path)
        except BaseException:
            super().release()
            raise
        if cut:
            message = f"{self._path}: the last line was incomplete ({cut} bytes) and is cut off"
            warnings.warn(message, HetboWarning, stacklevel=2)
        return acquired

    def release(self) -> None:
        try:
            _cut_half_line(self._path)  # of a change that failed and is told as an error
        finally:
            super().release()


def _check_beginning(path: Path) -> None:
    """Check that a file was begun by Optuna, which would write into any other one as well."""
    if not path.exists():
        return
    try:
        with path.open("rb") as stream:
            first = stream.read(len(_BEGINNING))
    except OSError as error:
        raise _unreadable(path, error) from error
    if not _BEGINNING.startswith(first):
        raise DataError(f"{shown(str(path))} is not a journal of Optuna's; it stays as it is")


def _cut_half_line(path: Path) -> int:
    """Cut off what comes after the last end of a line; return how many bytes that was."""
    with path.open("r+b") as stream:
        size = end = stream.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - _BLOCK)
            stream.seek(start)
            found = stream.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end < size:
            stream.truncate(end)
            stream.flush()
            os.fsync(stream.fileno())
    return size - end


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot open {shown(str(path))}: {error.strerror}")


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{shown(str(path))} is damaged ({type(error).__name__}: {error}); use a copy of it, or "
        "remove the line that is no JSON"
    )
