"""A file over HTTP continues where it stopped."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest

from file_server import FileServer, serving
from hetbo.cli import write_text_atomically
from hetbo.errors import DataError
from hetbo_bench.data import resume as module
from hetbo_bench.data.resume import download

CONTENT = np.random.default_rng(0).bytes(700_000)
OTHER = np.random.default_rng(1).bytes(700_000)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "*")
    with serving() as state:
        state.files["/file"] = CONTENT
        yield state


def interrupted(server: FileServer, path: Path, *, after: int) -> None:
    server.cut = after
    with pytest.raises(DataError, match="again to continue"):
        download(f"{server.address}/file", path)
    server.cut = None
    assert not path.exists()


def test_a_whole_file_at_once(server: FileServer, tmp_path: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    path = tmp_path / "file"
    download(f"{server.address}/file", path, progress=lambda *step: steps.append(step))
    assert path.read_bytes() == CONTENT
    assert [name.name for name in tmp_path.iterdir()] == ["file"]
    assert steps[0] == (0, len(CONTENT))
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert steps == sorted(steps)


@pytest.mark.parametrize("after", [1, 300_000, len(CONTENT) - 1])
@pytest.mark.parametrize("tags", [True, False])
def test_half_a_file_continues(server: FileServer, tmp_path: Path, after: int, tags: bool) -> None:
    server.tags = tags
    path = tmp_path / "file"
    interrupted(server, path, after=after)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.asked[-1] == ("/file", f"bytes={after}-")
    assert server.sent == [after, len(CONTENT) - after]


def test_it_may_stop_many_times(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for _ in range(6):
        interrupted(server, path, after=100_000)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.sent == [100_000] * 7


def test_a_server_that_sends_no_parts_starts_over(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "file"
    server.ranges = False
    interrupted(server, path, after=300_000)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.sent == [300_000, len(CONTENT)]


def test_half_of_an_older_version_starts_over(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    server.files["/file"] = OTHER
    download(f"{server.address}/file", path)
    assert path.read_bytes() == OTHER


@pytest.mark.parametrize("noted", [True, False], ids=["after the note", "before the note"])
def test_a_crash_when_it_starts_over_mixes_no_versions(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: bool
) -> None:
    def crash(path: Path, text: str) -> None:
        if noted:
            write_text_atomically(path, text)
        raise KeyboardInterrupt

    path = tmp_path / "file"
    server.files["/file"] = CONTENT[:1000]
    interrupted(server, path, after=400)
    server.files["/file"] = OTHER[:1000]
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_text_atomically", crash)
        with pytest.raises(KeyboardInterrupt):
            download(f"{server.address}/file", path)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == OTHER[:1000]


def write_ranges(monkeypatch: pytest.MonkeyPatch, write: Callable[[str], str]) -> None:
    """Let the server say in another way which range it sends."""
    send = BaseHTTPRequestHandler.send_header

    def rewrite(self: BaseHTTPRequestHandler, name: str, value: str) -> None:
        send(self, name, write(value) if name == "Content-Range" else value)

    monkeypatch.setattr(BaseHTTPRequestHandler, "send_header", rewrite)


def test_a_server_may_leave_open_how_long_the_file_is_in_all(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ranges(monkeypatch, lambda text: text.replace(f"/{len(CONTENT)}", "/*"))
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    interrupted(server, path, after=399_999)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.sent == [300_000, 399_999, 1]


@pytest.mark.parametrize(
    "written",
    [
        "bytes 0-699999/700000",
        "bytes 300001-699999/*",
        "bytes 300000-699999/800000",
        "300000 and all others",
    ],
)
def test_a_part_other_than_the_missing_one_starts_over(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    write_ranges(monkeypatch, lambda _text: written)
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.asked[1:] == [("/file", "bytes=300000-"), ("/file", None)]


def test_a_new_length_starts_over_if_versions_have_no_tags(
    server: FileServer, tmp_path: Path
) -> None:
    server.tags = False
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    server.files["/file"] = OTHER[:-1]
    download(f"{server.address}/file", path)
    assert path.read_bytes() == OTHER[:-1]


def test_a_file_that_became_shorter_starts_over(server: FileServer, tmp_path: Path) -> None:
    server.tags = False
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    server.files["/file"] = OTHER[:1000]
    download(f"{server.address}/file", path)
    assert path.read_bytes() == OTHER[:1000]


def test_half_of_another_file_starts_over(server: FileServer, tmp_path: Path) -> None:
    server.files["/other"] = OTHER
    path = tmp_path / "file"
    interrupted(server, path, after=300_000)
    download(f"{server.address}/other", path)
    assert path.read_bytes() == OTHER
    assert server.asked[-1] == ("/other", None)


def test_half_a_file_of_unknown_origin_starts_over(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "file"
    (tmp_path / "file.part").write_bytes(b"something")
    (tmp_path / "file.part.json").write_text("{nonsense", encoding="utf-8")
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT


def test_a_file_that_had_arrived_is_not_asked_for_again(server: FileServer, tmp_path: Path) -> None:
    path = tmp_path / "file"
    interrupted(server, path, after=len(CONTENT) - 1)
    with (tmp_path / "file.part").open("ab") as file:
        file.write(CONTENT[-1:])
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert len(server.asked) == 1


def test_a_server_that_does_not_say_how_long_the_file_is(
    server: FileServer, tmp_path: Path
) -> None:
    server.lengths = False
    download(f"{server.address}/file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_killed_process_leaves_what_had_arrived(server: FileServer, tmp_path: Path) -> None:
    server.cut, server.wait = 300_000, threading.Event()
    path, part = tmp_path / "file", tmp_path / "file.part"
    code = (
        "import pathlib, sys; from hetbo_bench.data.resume import download; "
        "download(sys.argv[1], pathlib.Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, f"{server.address}/file", str(path)]
    with subprocess.Popen(command) as process:  # noqa: S603  # our own code
        deadline = time.monotonic() + 60
        while not (part.is_file() and part.stat().st_size == 300_000):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
    server.wait.set()
    server.cut = server.wait = None
    download(f"{server.address}/file", path)
    assert path.read_bytes() == CONTENT
    assert server.asked[-1] == ("/file", "bytes=300000-")


def test_a_file_that_is_not_there(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"/none: the server answered 404 Not Found"):
        download(f"{server.address}/none", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with serving() as gone:
        address = gone.address
    with pytest.raises(DataError, match="the connection failed"):
        download(f"{address}/file", tmp_path / "file")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data://x"])
def test_other_protocols_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must begin with https:// or http://"):
        download(address, tmp_path / "file")


@pytest.mark.parametrize("write", [str.upper, str.title])
def test_a_protocol_in_capitals(
    server: FileServer, tmp_path: Path, write: Callable[[str], str]
) -> None:
    address = server.address.replace("http", write("http"))
    download(f"{address}/file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("[", "check it"),
        ("[nonsense]/file", "check it"),
        ("127.0.0.1:x/file", "check it"),
        ("127.0.0.1/a file", "check it"),
        (f"{'a' * 64}.example/file", "check it"),
        ("a..example/file", "check it"),
        ("127.0.0.1/d\u00e4ta", "percent-encode what is not ASCII"),
    ],
)
def test_what_is_no_address_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, remedy: str
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(DataError, match=rf"^'?http://.* is not an address \(.*\): {remedy}$"):
        download(f"http://{path}", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file.part").symlink_to("/dev/full")
    with pytest.raises(DataError, match=r"cannot write .*file: No space left"):
        download(f"{server.address}/file", tmp_path / "file")


def test_a_file_that_cannot_be_written_is_an_error(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file.part").mkdir()
    with pytest.raises(DataError, match="cannot write"):
        download(f"{server.address}/file", tmp_path / "file")
