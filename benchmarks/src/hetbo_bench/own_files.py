"""Problems and methods of a user's own file: `my_file.py:problem`."""

import hashlib
import runpy
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hetbo.errors import DataError


def is_own(name: str) -> bool:
    """Return whether a name refers to a user's file."""
    return ".py:" in name


def own_object(name: str) -> object:
    """Return what a user's file defines: `problem` of `my_file.py:problem`.

    Raises:
        DataError: There is no such file, it cannot be run, or it does not define that.
    """
    path, _, attribute = name.rpartition(":")
    if not Path(path).is_file():
        raise DataError(f"{name!r}: there is no file {path!r} here; give its path")
    defined = _defined(Path(path).resolve())
    if attribute not in defined:
        raise DataError(f"{path} defines no {attribute!r}")
    return defined[attribute]


@cache
def _defined(path: Path) -> Mapping[str, object]:
    try:
        return runpy.run_path(str(path))
    except Exception as error:
        raise DataError(f"{path} cannot be run: {type(error).__name__}: {error}") from error


def own_digests(*names: str) -> dict[str, str]:
    """Return a digest of each user's file that names refer to."""
    paths = {name.rpartition(":")[0] for name in names if is_own(name)}
    return {
        path: hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] for path in sorted(paths)
    }
