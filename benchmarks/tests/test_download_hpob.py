"""HPO-B's files, downloaded from a server on this machine or taken from a zip."""

import errno
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

import pytest

from file_server import FileServer, serving
from hetbo.errors import DataError
from hetbo_bench.data import download as module
from hetbo_bench.data.download import SUMS, fetch_hpob
from hetbo_bench.data.hpob_files import DESCRIPTORS, TEST, TRAIN
from hpob_samples import archive, complete_archive, descriptors, tables

ZIP = archive(filler=400_000)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "*")
    with serving() as state:
        state.files = {
            "/hpob.zip": ZIP,
            "/descriptors.json": json.dumps(descriptors()).encode(),
        }
        yield state


@pytest.fixture
def official(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> FileServer:
    """Let the server stand for the author's."""
    monkeypatch.setattr(module, "HPOB_ADDRESS", f"{server.address}/hpob.zip")
    monkeypatch.setattr(module, "HPOB_SHA256", sha256(ZIP))
    monkeypatch.setattr(module, "DESCRIPTORS_ADDRESS", f"{server.address}/descriptors.json")
    return server


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check_tables(folder: Path, expected: Mapping[str, object] | None = None) -> None:
    for name, data in (tables() if expected is None else expected).items():
        assert json.loads((folder / name).read_text(encoding="utf-8")) == data


def local(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "local.zip"
    path.write_bytes(content)
    return path


def test_everything_from_the_author_s_address(official: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "hpob"
    steps: list[tuple[int, int | None]] = []
    fetched = fetch_hpob(folder, progress=lambda *step: steps.append(step))
    check_tables(folder)
    assert json.loads((folder / DESCRIPTORS).read_text(encoding="utf-8")) == descriptors()
    assert names(folder) == {TRAIN, TEST, DESCRIPTORS, SUMS}
    assert fetched.files == (TRAIN, TEST, DESCRIPTORS)
    assert (fetched.sha256, fetched.trusted) == (sha256(ZIP), "known")
    assert fetched.new
    assert fetched.complete
    assert steps[-1] == (len(ZIP), len(ZIP))
    again = fetch_hpob(folder)
    assert not again.new
    assert again.files == fetched.files
    assert len(official.asked) == 2


def test_the_folder_is_where_the_problems_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETBO_DATA", str(tmp_path / "data"))
    fetched = fetch_hpob(source=local(tmp_path, ZIP))
    assert fetched.folder == tmp_path / "data" / "hpob"
    check_tables(fetched.folder)


def test_another_file_at_the_author_s_address_is_an_error(
    official: FileServer, tmp_path: Path
) -> None:
    official.files["/hpob.zip"] = archive(filler=5)
    with pytest.raises(DataError, match=f"not the known one {sha256(ZIP)}"):
        fetch_hpob(tmp_path)
    assert names(tmp_path) == set()


@pytest.mark.parametrize("name", [TRAIN, TEST])
def test_a_damaged_table_is_got_anew(official: FileServer, tmp_path: Path, name: str) -> None:
    fetch_hpob(tmp_path)
    cut(tmp_path / name)
    assert fetch_hpob(tmp_path).new
    check_tables(tmp_path)
    assert [path for path, _ in official.asked].count("/hpob.zip") == 2
    assert not fetch_hpob(tmp_path).new


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def test_damaged_descriptors_are_got_anew(official: FileServer, tmp_path: Path) -> None:
    fetch_hpob(tmp_path)
    cut(tmp_path / DESCRIPTORS)
    assert fetch_hpob(tmp_path).new
    assert json.loads((tmp_path / DESCRIPTORS).read_text(encoding="utf-8")) == descriptors()
    assert [path for path, _ in official.asked].count("/hpob.zip") == 1


def test_damaged_descriptors_of_a_zip_are_got_anew(server: FileServer, tmp_path: Path) -> None:
    server.files["/hpob.zip"] = complete_archive()
    fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip")
    assert not fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip").new
    cut(tmp_path / DESCRIPTORS)
    assert fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip").new
    assert json.loads((tmp_path / DESCRIPTORS).read_text(encoding="utf-8")) == descriptors()


def test_tables_whose_checksums_were_not_kept_are_got_anew(
    official: FileServer, tmp_path: Path
) -> None:
    fetch_hpob(tmp_path)
    whole = (tmp_path / SUMS).read_text(encoding="utf-8")
    (tmp_path / SUMS).write_text(f"{sha256(ZIP)}  hpob-data.zip\n", encoding="utf-8")
    assert fetch_hpob(tmp_path).new
    assert (tmp_path / SUMS).read_text(encoding="utf-8") == whole
    assert [path for path, _ in official.asked].count("/hpob.zip") == 2


def fail(error: BaseException) -> Callable[..., NoReturn]:
    def failing(*_: object) -> NoReturn:
        raise error

    return failing


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError(errno.ENOSPC, "No space left"), pytest.raises(DataError, match="No space left")),
        (KeyboardInterrupt(), pytest.raises(KeyboardInterrupt)),
    ],
    ids=["full disk", "Ctrl-C"],
)
def test_a_zip_that_could_not_be_unpacked_is_not_downloaded_again(
    official: FileServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    seen: AbstractContextManager[object],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "_extract", fail(error))
        with seen:
            fetch_hpob(tmp_path)
    assert names(tmp_path) == {"hpob-data.zip"}
    assert fetch_hpob(tmp_path).new
    check_tables(tmp_path)
    assert names(tmp_path) == {TRAIN, TEST, DESCRIPTORS, SUMS}
    assert [path for path, _ in official.asked].count("/hpob.zip") == 1


def test_what_a_killed_process_left_is_used_or_removed(
    official: FileServer, tmp_path: Path
) -> None:
    (tmp_path / "hpob-data.zip").write_bytes(ZIP)
    (tmp_path / ".unpacking-1").mkdir()
    (tmp_path / ".unpacking-1" / TRAIN).write_bytes(b"{")
    fetch_hpob(tmp_path)
    check_tables(tmp_path)
    assert names(tmp_path) == {TRAIN, TEST, DESCRIPTORS, SUMS}
    assert official.asked == [("/descriptors.json", None)]


@pytest.mark.parametrize("checksum", [sha256(ZIP), None], ids=["another zip", "any zip"])
def test_a_zip_that_no_checksum_vouches_for_is_not_used(
    server: FileServer, tmp_path: Path, checksum: str | None
) -> None:
    (tmp_path / "hpob-data.zip").write_bytes(archive({TRAIN: {}, TEST: {}}))
    fetched = fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip", checksum=checksum)
    assert fetched.sha256 == sha256(ZIP)
    check_tables(tmp_path)
    assert names(tmp_path) == {TRAIN, TEST, SUMS}


@pytest.mark.parametrize("name", [TRAIN, TEST, SUMS])
def test_a_crash_mixes_no_tables_of_two_zips_and_changes_no_trust(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = f"{server.address}/hpob.zip"
    fetch_hpob(tmp_path, source=source)
    newer: dict[str, object] = {TRAIN: {"1": {}}, TEST: {"2": {}}}
    server.files["/hpob.zip"] = archive(newer)
    checksum = sha256(server.files["/hpob.zip"])
    replace = Path.replace

    def crash(self: Path, target: Path) -> Path:
        if target.name == name:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            fetch_hpob(tmp_path, source=source, checksum=checksum)
    left = {TRAIN: (), TEST: (TRAIN,), SUMS: (TRAIN, TEST)}[name]
    assert names(tmp_path) == {"hpob-data.zip", SUMS, *left}
    check_tables(tmp_path, {table: newer[table] for table in left})
    with pytest.raises(DataError, match=f"not the kept one {sha256(ZIP)}"):
        fetch_hpob(tmp_path, source=source)
    assert fetch_hpob(tmp_path, source=source, checksum=checksum).new
    check_tables(tmp_path, newer)


def test_a_broken_download_continues(official: FileServer, tmp_path: Path) -> None:
    official.cut = 150_000
    with pytest.raises(DataError, match="again to continue"):
        fetch_hpob(tmp_path)
    official.cut = None
    fetch_hpob(tmp_path)
    assert ("/hpob.zip", "bytes=150000-") in official.asked
    check_tables(tmp_path)


def test_failing_descriptors_do_not_cost_the_tables(official: FileServer, tmp_path: Path) -> None:
    text = official.files.pop("/descriptors.json")
    with pytest.raises(DataError, match="404"):
        fetch_hpob(tmp_path)
    check_tables(tmp_path)
    official.files["/descriptors.json"] = text
    assert fetch_hpob(tmp_path).complete
    assert [path for path, _ in official.asked].count("/hpob.zip") == 1


@pytest.mark.parametrize("write", [str.lower, str.upper, "  {} ".format])
def test_a_given_checksum_is_verified(server: FileServer, tmp_path: Path, write: object) -> None:
    assert callable(write)
    source = f"{server.address}/hpob.zip"
    with pytest.raises(DataError, match="not the given one 000"):
        fetch_hpob(tmp_path, source=source, checksum="0" * 64)
    assert names(tmp_path) == set()
    fetched = fetch_hpob(tmp_path, source=source, checksum=write(sha256(ZIP)))
    assert (fetched.sha256, fetched.trusted) == (sha256(ZIP), "given")


@pytest.mark.parametrize("checksum", ["", "abc", "z" * 64, "0" * 63])
def test_a_checksum_that_is_none_is_an_error(tmp_path: Path, checksum: str) -> None:
    with pytest.raises(DataError, match="64 hex digits"):
        fetch_hpob(tmp_path, source="x.zip", checksum=checksum)


def test_the_first_download_is_trusted_and_the_next_must_match(
    server: FileServer, tmp_path: Path
) -> None:
    source = f"{server.address}/hpob.zip"
    first = fetch_hpob(tmp_path, source=source)
    assert (first.sha256, first.trusted, first.complete) == (sha256(ZIP), "first", False)
    assert f"{sha256(ZIP)}  hpob-data.zip\n" in (tmp_path / SUMS).read_text(encoding="utf-8")
    assert not fetch_hpob(tmp_path, source=source).new
    (tmp_path / TEST).unlink()
    assert fetch_hpob(tmp_path, source=source).trusted == "kept"
    (tmp_path / TEST).unlink()
    other = archive(filler=7)
    server.files["/hpob.zip"] = other
    with pytest.raises(DataError, match="not the kept one"):
        fetch_hpob(tmp_path, source=source)
    with pytest.raises(DataError, match="not the kept one"):
        fetch_hpob(tmp_path, source=local(tmp_path, other))
    given = fetch_hpob(tmp_path, source=source, checksum=sha256(other))
    assert given.sha256 == sha256(other)
    assert sha256(other) in (tmp_path / SUMS).read_text(encoding="utf-8")


def test_a_local_zip_stays_where_it_is(tmp_path: Path) -> None:
    archive = complete_archive()
    path = local(tmp_path, archive)
    fetched = fetch_hpob(tmp_path / "hpob", source=path)
    assert fetched.complete
    check_tables(tmp_path / "hpob")
    assert path.read_bytes() == archive
    assert fetch_hpob(tmp_path / "hpob", source=str(path)).trusted == "kept"


def test_descriptors_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(descriptors()), encoding="utf-8")
    folder = tmp_path / "hpob"
    fetched = fetch_hpob(folder, source=local(tmp_path, ZIP), descriptors=path)
    assert fetched.complete
    assert json.loads((folder / DESCRIPTORS).read_text(encoding="utf-8")) == descriptors()
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="not the kept one"):
        fetch_hpob(folder, source=local(tmp_path, ZIP), descriptors=path)


def test_given_descriptors_replace_those_of_the_zip(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}", encoding="utf-8")
    folder = tmp_path / "hpob"
    for _ in range(2):
        fetch_hpob(folder, source=local(tmp_path, complete_archive()), descriptors=path)
        assert (folder / DESCRIPTORS).read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("text", ["[]", "{", ""])
def test_descriptors_that_are_none_are_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="JSON"):
        fetch_hpob(tmp_path / "hpob", source=local(tmp_path, ZIP), descriptors=path)
    assert names(tmp_path / "hpob") == {TRAIN, TEST, SUMS}


def test_paths_that_lead_nowhere_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*none.zip: No such file"):
        fetch_hpob(tmp_path / "hpob", source=tmp_path / "none.zip")
    with pytest.raises(DataError, match=r"cannot read .*none.json: No such file"):
        fetch_hpob(
            tmp_path / "hpob", source=local(tmp_path, ZIP), descriptors=tmp_path / "none.json"
        )


def flipped(content: bytes, name: str) -> bytes:
    """Return a zip with one damaged byte in the middle of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        member = whole.getinfo(f"hpob-data/{name}")
    at = member.header_offset + 60 + member.compress_size // 2
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>Not found</html>",
        ZIP[: len(ZIP) // 2],
        ZIP[:-10],
        flipped(ZIP, TRAIN),
        flipped(ZIP, TEST),
    ],
    ids=["empty", "a web page", "half", "cut", "damaged 1", "damaged 2"],
)
def test_a_damaged_zip_is_an_error_and_leaves_nothing(
    server: FileServer, tmp_path: Path, content: bytes
) -> None:
    server.files["/hpob.zip"] = content + b" " * (not content)
    with pytest.raises(DataError, match="not a whole zip"):
        fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip")
    assert names(tmp_path) == set()
    server.files["/hpob.zip"] = ZIP
    fetch_hpob(tmp_path, source=f"{server.address}/hpob.zip")
    check_tables(tmp_path)


@pytest.mark.parametrize("prefix", ["../", "hpob-data/../../", "/", "/tmp/"])  # noqa: S108
def test_files_outside_of_the_folder_are_not_written(tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "a" / "hpob"
    with pytest.raises(DataError, match="holds no meta-train-dataset"):
        fetch_hpob(folder, source=local(tmp_path, archive(prefix=prefix)))
    assert names(tmp_path) == {"a", "local.zip"}
    assert names(tmp_path / "a") == {"hpob"}
    assert names(folder) == set()


def test_only_what_is_needed_is_unpacked(tmp_path: Path) -> None:
    files = tables() | {"../../evil.json": {}, "bo-initializations.json": {}}
    fetch_hpob(tmp_path / "a" / "hpob", source=local(tmp_path, archive(files)))
    assert names(tmp_path / "a" / "hpob") == {TRAIN, TEST, SUMS}
    assert names(tmp_path) == {"a", "local.zip"}


def test_a_file_that_is_too_large_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 10_000)
    with pytest.raises(DataError, match="larger than 10000 bytes"):
        fetch_hpob(tmp_path / "hpob", source=local(tmp_path, ZIP))
    assert names(tmp_path / "hpob") == set()


def test_a_zip_without_a_table_or_with_two_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no meta-test-dataset"):
        fetch_hpob(tmp_path / "hpob", source=local(tmp_path, archive({TRAIN: {}})))
    twice: dict[str, object] = {TRAIN: {}, TEST: {}, f"more/{TEST}": {}}
    with pytest.raises(DataError, match="twice"):
        fetch_hpob(tmp_path / "hpob", source=local(tmp_path, archive(twice)))


def test_an_unusual_compression_is_an_error(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as out:
        out.writestr(TRAIN, "{}")
    with pytest.raises(DataError, match="compressed"):
        fetch_hpob(tmp_path / "hpob", source=local(tmp_path, stream.getvalue()))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot write to"):
        fetch_hpob(tmp_path / "file" / "hpob", source=local(tmp_path, ZIP))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write to read-only folders")
def test_a_folder_that_is_read_only_is_an_error(server: FileServer, tmp_path: Path) -> None:
    folder = tmp_path / "hpob"
    folder.mkdir(mode=0o555)
    for source in (local(tmp_path, ZIP), f"{server.address}/hpob.zip"):
        with pytest.raises(DataError, match="cannot write"):
            fetch_hpob(folder, source=source)


def test_kept_checksums_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    (tmp_path / SUMS).write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="cannot read"):
        fetch_hpob(tmp_path, source="x.zip")
