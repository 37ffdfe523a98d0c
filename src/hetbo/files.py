"""Reading and writing JSON files; a crash leaves either the old content or the new one."""

import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from hetbo.errors import DataError


def write_text_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path`; a crash at any moment leaves the old file or the new one, whole.

    Args:
        path: The file to write; its folder must exist. An existing file keeps its permissions.
        text: The whole content, stored as UTF-8.

    Raises:
        OSError: The file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        # In the name of the file that was asked for: nobody knows the temporary one.
        raise type(error)(error.errno, error.strerror, str(target)) from error
    finally:
        temporary.unlink(missing_ok=True)


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
        raise DataError(f"{path} is not a JSON file: {error}") from error
