"""HPO-B's files, downloaded or from a local zip.

The address and the checksum are the ones that HPO-B's author published: the repository
`sebastianpinedaar/hpo-data` keeps the zip in Git's storage for large files, whose pointer names the
SHA-256. The descriptors of the search spaces are not in that zip but in HPO-B's own repository.

What comes from elsewhere is checked against the checksum that the caller gives. Without one, the
first download is trusted: its checksum is kept in `SHA256SUMS` beside the data, and a later
download must have the same one.

`SHA256SUMS` has the unpacked files' checksums, too, and is written last: after a crash, or damage,
the files do not match it and are unpacked again, from the downloaded zip if that is still there.
"""

import errno
import hashlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hetbo.cli import read_json, write_text_atomically
from hetbo.errors import DataError, shown
from hetbo_bench.data.hpob_files import DESCRIPTORS, TEST, TRAIN, hpob_folder
from hetbo_bench.data.resume import Progress, download, is_address

HPOB_ADDRESS = (
    "https://github.com/sebastianpinedaar/hpo-data/raw/refs/heads/main/hpob-data.zip?download="
)
HPOB_SHA256 = "ab1c439e50ffea3d8a3f1e0ad7ee7f03cd3c12df05576de84ad7c3b58fbf3358"
DESCRIPTORS_ADDRESS = (
    "https://github.com/machinelearningnuremberg/HPO-B/raw/"
    "ed249724e00a9dfcff95def987f27874ee2febef/hpob-data/meta-dataset-descriptors.json"
)

LARGEST_FILE = 4_000_000_000
"""A file of the zip may have so many bytes when it is unpacked, and no more."""

SUMS = "SHA256SUMS"
_FILES = (TRAIN, TEST, DESCRIPTORS)
_ZIP = "hpob-data.zip"
_TEMPORARY = ".unpacking-"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is available after a download.

    Attributes:
        folder: Where the files are.
        files: Their names.
        sha256: The checksum of the zip.
        trusted: Where the expected checksum came from: 'given' by the caller, 'known' to hetbo,
            'kept' from an earlier download, or 'first' if there was none to compare with.
        new: Whether something was downloaded or unpacked.
    """

    folder: Path
    files: tuple[str, ...]
    sha256: str
    trusted: str
    new: bool

    @property
    def complete(self) -> bool:
        """Whether the problems in natural units can be made too."""
        return DESCRIPTORS in self.files


def fetch_hpob(
    folder: Path | None = None,
    *,
    source: str | Path | None = None,
    checksum: str | None = None,
    descriptors: str | Path | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Get HPO-B's files; nothing is downloaded that is there already.

    Args:
        folder: Where to put them; if None, where they are looked for (`hpob_folder`).
        source: The address or the path of the zip; if None, the author's address.
        checksum: The SHA-256 that the zip must have.
        descriptors: The address or the path of `meta-dataset-descriptors.json`, which only the
            problems in natural units need. If None, it comes from the zip if it is there, or else,
            unless `source` is given, from HPO-B's repository.
        progress: Is told how many bytes of the zip have arrived, and how many there are.

    Raises:
        DataError: Something cannot be reached, read, or written, is not what it should be, or has
            another checksum.
    """
    folder = hpob_folder() if folder is None else folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(leftover)
        kept = before = _read_sums(folder)
        expected, trusted = _expected(checksum, source, kept)
        local = source is not None and not is_address(str(source))
        address = descriptors or (DESCRIPTORS_ADDRESS if source is None else None)
        # Descriptors that no address gives can only have come with the zip.
        from_zip = (TRAIN, TEST) if address or DESCRIPTORS not in kept else _FILES
        there = _ZIP in kept and expected == kept[_ZIP] and _whole(folder, from_zip, kept)
        new = local or not there
        if new:
            kept = _fetch_zip(folder, source, expected, trusted, progress)
        if address and (descriptors or not _whole(folder, (DESCRIPTORS,), kept)):
            # Those that have just come with the zip are to be replaced, not to be matched.
            _fetch_descriptors(folder, address, before.get(DESCRIPTORS))
            new = True
    except OSError as error:
        raise DataError(f"cannot write to {folder}: {error.strerror}") from error
    files = tuple(name for name in _FILES if (folder / name).is_file())
    return Fetched(folder, files, kept[_ZIP], trusted, new)


def _whole(folder: Path, names: tuple[str, ...], kept: Mapping[str, str]) -> bool:
    """Return whether files are there and have the checksums that were kept."""
    paths = {name: folder / name for name in names}
    return all(path.is_file() and kept.get(name) == _sha256(path) for name, path in paths.items())


def _expected(
    checksum: str | None, source: str | Path | None, kept: Mapping[str, str]
) -> tuple[str | None, str]:
    if checksum is not None:
        given = checksum.strip().lower()
        if len(given) != hashlib.sha256().digest_size * 2 or set(given) - set("0123456789abcdef"):
            raise DataError(f"checksum {shown(checksum)} must be a SHA-256 of 64 hex digits")
        return given, "given"
    if source is None:
        return HPOB_SHA256, "known"
    return (kept[_ZIP], "kept") if _ZIP in kept else (None, "first")


def _fetch_zip(
    folder: Path,
    source: str | Path | None,
    expected: str | None,
    trusted: str,
    progress: Progress | None,
) -> dict[str, str]:
    """Download the zip unless it is available, check and unpack it; return the kept checksums."""
    address = HPOB_ADDRESS if source is None else str(source)
    if not is_address(address):
        return _take(folder, Path(address), expected, trusted, origin=address)
    path = folder / _ZIP
    # One that was not unpacked to the end may come from another address: only a checksum can tell.
    if expected is None or not path.is_file() or _sha256(path) != expected:
        download(address, path, progress=progress)
    try:
        kept = _take(folder, path, expected, trusted, origin=address)
    except DataError:
        path.unlink()  # not what it should be; after other errors it can be unpacked next time
        raise
    path.unlink()
    return kept


def _take(
    folder: Path, path: Path, expected: str | None, trusted: str, *, origin: str
) -> dict[str, str]:
    digest = _sha256(path)
    if expected is not None and digest != expected:
        remedy = {
            "given": "check the number, or the file",
            "known": "try again later, or give another address or a zip that you trust",
            "kept": f"if the new one is right, give its checksum, or delete {folder / SUMS}",
        }[trusted]
        raise DataError(
            f"{origin} has the SHA-256 {digest}, not the {trusted} one {expected}: {remedy}"
        )
    return _keep_sums(folder, {_ZIP: digest, **unpack(path, folder, origin=origin)})


def unpack(path: Path, folder: Path, *, origin: str) -> dict[str, str]:
    """Unpack what is needed from HPO-B's zip: all of it or, if the zip is damaged, nothing.

    Args:
        path: The zip.
        folder: Where the files go; names of folders in the zip do not matter.
        origin: How errors call the zip.

    Returns:
        The files' checksums by name.

    Raises:
        DataError: The zip is damaged, lacks a file, or holds one that is too large.
    """
    try:
        with (
            zipfile.ZipFile(path) as archive,
            tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder) as temporary,
        ):
            members = _members(archive, origin)
            sums = {
                name: _extract(archive, member, Path(temporary) / name, origin)
                for name, member in members.items()
            }
            # A crash from here on leaves a file out, which is noticed, and never an old one beside
            # a new one, which the problems would take for one version.
            for name in members:
                (folder / name).unlink(missing_ok=True)
            for name in members:
                (Path(temporary) / name).replace(folder / name)
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError) as error:
        # A damaged zip can point to before its start; other errors are the disk's.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise DataError(f"{origin} is not a whole zip: {error}; get it anew") from error
    return sums


def _members(archive: zipfile.ZipFile, origin: str) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        if path.name not in _FILES or path.is_absolute() or ".." in path.parts:
            continue
        if path.name in found:
            raise DataError(f"{origin} holds {path.name} twice; it is not HPO-B's zip")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{origin}: {path.name} is compressed in a way other than zip's usual")
        found[path.name] = member
    if missing := [name for name in (TRAIN, TEST) if name not in found]:
        raise DataError(f"{origin} holds no {' and no '.join(missing)}; it is not HPO-B's zip")
    return found


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, to: Path, origin: str) -> str:
    """Unpack one file and return its checksum."""
    written, digest = 0, hashlib.sha256()
    with archive.open(member) as stream, to.open("wb") as file:
        while chunk := stream.read(_CHUNK):
            written += len(chunk)
            if written > LARGEST_FILE:
                raise DataError(
                    f"{origin}: {member.filename} is larger than {LARGEST_FILE} bytes; it is not "
                    "HPO-B's"
                )
            file.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()


def _fetch_descriptors(folder: Path, source: str | Path, expected: str | None) -> None:
    origin = str(source)
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder) as temporary:
        path = Path(origin)
        if is_address(origin):
            path = Path(temporary) / "downloaded.json"
            download(origin, path)
        digest = _sha256(path)
        if expected is not None and digest != expected:
            raise DataError(
                f"{origin} has the SHA-256 {digest}, not the kept one {expected}: if the new one "
                f"is right, delete {folder / SUMS}"
            )
        if not isinstance(read_json(path), dict):
            raise DataError(f"{origin} does not describe search spaces: it is no JSON object")
        copy = shutil.copyfile(path, Path(temporary) / DESCRIPTORS)
        copy.replace(folder / DESCRIPTORS)
    _keep_sums(folder, {DESCRIPTORS: digest})


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _read_sums(folder: Path) -> dict[str, str]:
    """Return the kept checksums by name; the file has the format of the tool `sha256sum`."""
    try:
        text = (folder / SUMS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {folder / SUMS}: {error}") from error
    lines = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in lines if name}


def _keep_sums(folder: Path, new: Mapping[str, str]) -> dict[str, str]:
    """Add checksums to the kept ones; return all of them."""
    sums = {**_read_sums(folder), **new}
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    write_text_atomically(folder / SUMS, "".join(lines))
    return sums
