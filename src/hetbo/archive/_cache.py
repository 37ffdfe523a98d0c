"""Digests on disk: each under the hash of what it was made from.

A folder of NumPy files without pickles, one per digest. Any number of processes may use it: files
appear whole (`hetbo._files`), and two that digest the same source write the same file. What cannot
be read, or is no digest, is made again; what was not used for longest goes when the folder grows
beyond its bound. `HETBO_CACHE` names another folder, or is `off`.
"""

import io
import logging
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from hetbo._files import write_bytes_atomically
from hetbo.archive._digest import Digest
from hetbo.errors import DataError

VARIABLE = "HETBO_CACHE"
_OFF = frozenset({"off", "0", "no", "none", "false"})
_MOST_BYTES = 256 * 1024 * 1024
_SUFFIX = ".npz"
_UNREADABLE = (
    *(OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, RuntimeError),
    zipfile.BadZipFile,
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
        return cls((Path(chosen) if chosen else user_cache_path("hetbo")) / "digests")

    def read(self, key: str) -> Digest | None:
        """Return the digest of that key; None if there is none that can be used."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}{_SUFFIX}"
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                digest = Digest.from_arrays({name: file[name] for name in file.files})
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            _logger.info("cache: %s is made again: %s", path, error)
            return None
        with suppress(OSError):
            os.utime(path)
        return digest

    def write(self, digests: Mapping[str, Digest]) -> None:
        """Keep digests by their keys. A folder that cannot be written to costs time alone."""
        if self.folder is None or not digests:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for key, digest in digests.items():
                buffer = io.BytesIO()
                np.savez(buffer, allow_pickle=False, **digest.arrays())
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
