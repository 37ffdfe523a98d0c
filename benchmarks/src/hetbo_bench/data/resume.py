"""A file over HTTP that continues where it stopped.

What has arrived lies beside the file, in `NAME.part`, and `NAME.part.json` says of which address
and which version. The next call asks for the rest of that version; a server that has another one
by now, or that does not send parts of files, sends the whole file again.
"""

import http.client
import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from hetbo.cli import read_json, write_text_atomically
from hetbo.errors import DataError, shown

Progress = Callable[[int, int | None], None]
"""Is told how many bytes have arrived, and how many there are in all, if that is known."""

_CHUNK = 1 << 18
_SECONDS_OF_SILENCE = 60.0
_BROKEN = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass(frozen=True, slots=True)
class _Version:
    """What a half file is a part of.

    Attributes:
        address: Where it comes from.
        validator: How the server tells versions apart; None if it does not.
        total: How many bytes it has; None if the server does not say.
    """

    address: str
    validator: str | None
    total: int | None


def is_address(text: str) -> bool:
    """Return whether a text is an address, not a path."""
    return "://" in text


def download(address: str, path: Path, *, progress: Progress | None = None) -> None:
    """Download a file, or the rest of it.

    Args:
        address: Where it is; begins with `https://` or `http://`.
        path: Where to put it; the folder must exist.
        progress: Is told about each step.

    Raises:
        DataError: The address is none, the server does not have the file or cannot be reached,
            the connection broke (the next call continues), or the file cannot be written.
    """
    if not address.lower().startswith(("https://", "http://")):
        raise DataError(f"{shown(address)} must begin with https:// or http://")
    part = path.with_name(f"{path.name}.part")
    try:
        version = _receive(address, part, progress or (lambda _done, _total: None))
        arrived = part.stat().st_size
        if version.total is not None and arrived != version.total:
            raise DataError(
                f"{address}: the connection ended after {arrived} of {version.total} bytes; "
                "run the same command again to continue"
            )
        part.replace(path)
        _note(part).unlink(missing_ok=True)
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(
            f"{address}: the server answered {error.code} {error.reason}; check the address, or "
            "get the file in another way and give its path"
        ) from error
    except _BROKEN as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"{address}: the connection failed ({reason}); run the same command again to continue, "
            "or get the file in another way and give its path"
        ) from error
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error


def _receive(address: str, part: Path, progress: Progress) -> _Version:
    known = _known_version(part, address)
    offset = part.stat().st_size if known else 0
    if known and offset == known.total:
        return known
    try:
        return _stream(address, part, offset, known, progress)
    except urllib.error.HTTPError as error:
        if not offset or error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        error.close()
        return _stream(address, part, 0, None, progress)


def _stream(
    address: str, part: Path, offset: int, known: _Version | None, progress: Progress
) -> _Version:
    headers = {"User-Agent": "hetbo", "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if known and known.validator:
            headers["If-Range"] = known.validator
    with _opened(address, headers) as response:
        if response.status != http.client.PARTIAL_CONTENT:
            offset = 0
        if offset and known:
            if not _is_the_rest(response.headers, offset, known):
                return _stream(address, part, 0, None, progress)
            total = known.total
        else:
            total = _length(response.headers)
            # Before the note, or a crash in between would leave old bytes under a new version.
            part.write_bytes(b"")
        version = _Version(address, _validator(response.headers), total)
        write_text_atomically(_note(part), json.dumps(asdict(version)))
        with part.open("ab") as file:
            progress(offset, version.total)
            while chunk := response.read1(_CHUNK):
                file.write(chunk)
                file.flush()
                offset += len(chunk)
                progress(offset, version.total)
    return version


def _opened(address: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    try:
        request = urllib.request.Request(address, headers=headers)  # noqa: S310  # see download
        response: http.client.HTTPResponse = urllib.request.urlopen(  # noqa: S310
            request, timeout=_SECONDS_OF_SILENCE
        )
    except (ValueError, http.client.InvalidURL) as error:  # UnicodeError is a ValueError
        remedy = "check it" if address.isascii() else "percent-encode what is not ASCII"
        raise DataError(f"{shown(address)} is not an address ({error}): {remedy}") from error
    return response


def _length(headers: http.client.HTTPMessage) -> int | None:
    length = headers.get("Content-Length")
    return int(length) if length and length.isdigit() else None


def _is_the_rest(headers: http.client.HTTPMessage, offset: int, known: _Version) -> bool:
    """Return whether the part of a file that a server sends is the one that is missing."""
    found = _RANGE.fullmatch(headers.get("Content-Range", ""))
    # A server may leave open how many bytes there are in all.
    return found is not None and int(found[1]) == offset and found[2] in ("*", str(known.total))


def _validator(headers: http.client.HTTPMessage) -> str | None:
    tag = headers.get("ETag")
    # A weak tag stands for files that mean the same, not for the same bytes.
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")


def _note(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _known_version(part: Path, address: str) -> _Version | None:
    """Return the version of a half file; None if there is none, or of another address."""
    if not part.is_file() or not _note(part).is_file():
        return None
    try:
        version = _Version(**read_json(_note(part)))
    except (DataError, TypeError):
        return None
    return version if version.address == address else None
