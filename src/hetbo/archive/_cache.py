"""Digests on disk: each under the hash of what it was made from.

A folder of NumPy files without pickles, each with the digests of one source or of several small
ones, and with the hash under which they are kept. Any number of processes may use it: files appear
whole (`hetbo._files`), and two that digest the same sources write the same file. What cannot be
read, or was made from something else, is made again; what was not used for longest goes when the
folder grows beyond its bound. `HETBO_CACHE` names another folder, or is `off`.
"""

import io
import logging
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np
from platformdirs import user_cache_path

from hetbo._arrays import FloatArray
from hetbo._files import write_bytes_atomically
from hetbo.archive._digest import Digest
from hetbo.errors import DataError

VARIABLE = "HETBO_CACHE"
_OFF = frozenset({"off", "0", "no", "none", "false"})
_MOST_BYTES = 256 * 1024 * 1024
_SUFFIX = ".npz"
_KEY = "key"
_UNREADABLE = (
    *(OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, RuntimeError),
    *(MemoryError, ArithmeticError, TokenError),  # a header that claims a huge array, or anything
    *(zipfile.BadZipFile, zlib.error),
)
"""What NumPy and zipfile raise over files whose bytes are not as they were written."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DigestCache:
    """A folder of digests.

    Attributes:
        folder: Where they are; None to keep none.
        most_bytes: How large the folder may grow.
    """

    folder: Path | None
    most_bytes: int = _MOST_BYTES

    @classmethod
    def of_user(cls) -> "DigestCache":
        """Return the user's cache, as `HETBO_CACHE` says."""
        chosen = os.environ.get(VARIABLE, "").strip()
        if chosen.lower() in _OFF:
            return cls(None)
        folder = Path(chosen).expanduser() if chosen else user_cache_path("hetbo")
        return cls(folder / "digests")

    def read(self, key: str, columns: Sequence[int]) -> list[Digest] | None:
        """Return the digests of that key; None if there are none that can be used.

        Args:
            key: The hash of what they were made from.
            columns: How many columns each of the sources has.
        """
        if self.folder is None:
            return None
        path = self.folder / f"{key}{_SUFFIX}"
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                digests = _digests_in(file, key, columns)
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            _logger.info("cache: %s is made again: %s", path, error)
            return None
        with suppress(OSError):
            os.utime(path)
        return digests

    def write(self, key: str, digests: Sequence[Digest]) -> None:
        """Keep digests under a key. A folder that cannot be written to costs time alone."""
        if self.folder is None:
            return
        arrays = {
            f"{number} {name}": array
            for number, digest in enumerate(digests)
            for name, array in digest.arrays().items()
        }
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **{_KEY: np.array(key)}, **arrays)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_bytes_atomically(self.folder / f"{key}{_SUFFIX}", buffer.getvalue())
            self._shrink()
        except (OSError, DataError) as error:
            _logger.warning("cache: digests are not kept: %s", error)

    def _shrink(self) -> None:
        """Remove what was not used for longest, until the rest is within bounds."""
        if self.folder is None:
            return
        found: list[tuple[float, int, Path]] = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another process has just removed it
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        size = sum(entry[1] for entry in found)
        for _, own, path in sorted(found):
            if size <= self.most_bytes:
                break
            path.unlink(missing_ok=True)
            size -= own


def _digests_in(file: Mapping[str, FloatArray], key: str, columns: Sequence[int]) -> list[Digest]:
    """Return the digests in a file.

    Raises:
        ValueError: They were made from something else.
    """
    if str(file[_KEY]) != key:
        raise ValueError("it holds what belongs to another file")
    arrays: list[dict[str, FloatArray]] = [{} for _ in columns]
    for name in file:
        number, _, array = name.partition(" ")
        if array:
            arrays[int(number)][array] = file[name]
    digests = [Digest.from_arrays(own) for own in arrays]
    if [len(digest.inverse) for digest in digests] != [*columns]:
        raise ValueError("its sources have other columns")
    return digests
