import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from helpers import refused
from hetbo import DataError, Experiment, Float, Optimizer, Space
from hetbo._files import check_regular, is_page, write_text_atomically
from hetbo.report import write_report

posix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and signals of POSIX")


def test_a_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    write_text_atomically(path, "größe\r\nline\n")
    assert path.read_bytes() == "größe\r\nline\n".encode()
    write_text_atomically(str(path), "")
    assert path.read_bytes() == b""


def test_nothing_but_the_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for text in ("old", "new"):
        write_text_atomically(path, text)
        assert [child.name for child in tmp_path.iterdir()] == ["notes.txt"]


def test_a_text_that_cannot_be_stored_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_text_atomically(path, "new" * 100_000 + "\ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exists: bool
) -> None:
    path = tmp_path / "notes.txt"
    if exists:
        path.write_text("old", encoding="utf-8")
    before = {child.name: child.read_bytes() for child in tmp_path.iterdir()}

    def full(descriptor: int) -> NoReturn:
        assert os.fstat(descriptor).st_size > 0
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_text_atomically(path, "new")
    assert {child.name: child.read_bytes() for child in tmp_path.iterdir()} == before


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "notes.txt"
    with pytest.raises(FileNotFoundError) as raised:
        write_text_atomically(path, "new")
    assert raised.value.filename == str(path)


def test_readers_never_see_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("old", encoding="utf-8")
    seen: list[str] = []
    synchronise = os.fsync

    def look(descriptor: int) -> None:
        seen.append(path.read_text(encoding="utf-8"))
        synchronise(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    write_text_atomically(path, "new")
    assert seen[0] == "old"
    assert path.read_text(encoding="utf-8") == "new"


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_text_atomically(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_text_atomically(tmp_path / "notes.txt", "new")
    modes = {stat.S_IMODE(child.stat().st_mode) for child in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_text_atomically(tmp_path / "missing" / "notes.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_text_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "new"


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_file_is_written(tmp_path: Path, *, exists: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    file, link = tmp_path / "elsewhere" / "notes.txt", tmp_path / "link.txt"
    if exists:
        file.write_text("old", encoding="utf-8")
    link.symlink_to(Path("elsewhere", "notes.txt"))
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"
    assert not file.is_symlink()


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "link to a terminal"])
def test_what_is_no_regular_file_is_refused_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("notes.txt")
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
        case _:
            path.symlink_to(os.ttyname(os.openpty()[1]))
    before = path.lstat().st_mode
    with refused(DataError, f"cannot write {path}", "name a"):
        write_text_atomically(path, "new")
    assert path.lstat().st_mode == before
    assert {child.name for child in tmp_path.iterdir()} == {"notes.txt"}


def test_only_a_file_of_the_same_kind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    page = "<!DOCTYPE html>new"
    for there in ("", " \n", "<!DOCTYPE html>\n<p>", "<!doctype  html><p>"):
        path.write_text(there, encoding="utf-8")
        write_text_atomically(path, page, only_over=is_page)
        assert path.read_text(encoding="utf-8") == page
    for other in (
        b"SQLite format 3\0",
        b"x,loss\n1,2\n",
        b"<!DOC",
        b"\xff\xfe",
        b'{"op_code": 0}\n',
    ):
        path.write_bytes(other)
        with refused(DataError, f"cannot write {path}", "another kind", "stays", "name another"):
            write_text_atomically(path, page, only_over=is_page)
        assert path.read_bytes() == other


@pytest.mark.parametrize("indent", [None, 2])
def test_what_was_saved_is_known_after_other_programs_wrote_it(
    tmp_path: Path, indent: int | None
) -> None:
    space = Space(x=Float(0, 1))
    for saved in (
        Experiment("old", space, goal="minimize"),
        Optimizer(space, sources=[], goal="minimize", seed=1),
    ):
        path = tmp_path / "saved.json"
        path.write_text(json.dumps(saved.to_json(), sort_keys=True, indent=indent))
        saved.save(path)
        assert "".join(path.read_text().split()).startswith('{"format"')
        for other in ('{"goal": 1, "format": "other"}', "[1]", '{"a": ', '{"a": 1}', '"x"'):
            path.write_text(other)
            with refused(DataError, f"cannot write {path}", "another kind"):
                saved.save(path)
            assert path.read_text() == other
        path.unlink()


@pytest.mark.parametrize("name", ["", "trail/", "trail/.", "trail/.."])
def test_a_path_that_names_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(DataError, f"cannot write {name or repr(name)}: ", "name a file"):
        Optimizer(Space(x=Float(0, 1)), sources=[], goal="minimize", seed=1).save(name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_saved_replaces_nothing_of_another_kind(tmp_path: Path) -> None:
    space = Space(x=Float(0, 1))
    old = Experiment("old", space, goal="minimize")
    optimizer = Optimizer(space, sources=[], goal="minimize", seed=1)
    runs = tmp_path / "runs.csv"
    runs.write_text("x,loss\n0.5,1\n", encoding="utf-8")
    old.save(tmp_path / "old.json")
    optimizer.save(tmp_path / "optimizer.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path in (runs, tmp_path / "optimizer.json"):
        with refused(DataError, f"cannot write {path}", "another kind"):
            old.save(path)
    for path in (runs, tmp_path / "old.json"):
        with refused(DataError, f"cannot write {path}", "another kind"):
            optimizer.save(path)
        with refused(DataError, f"cannot write {path}", "another kind"):
            write_report(optimizer, path)
    old.save(tmp_path / "old.json")
    optimizer.save(tmp_path / "optimizer.json")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@posix
@pytest.mark.parametrize("device", [os.devnull, "/dev/stdout"])
def test_a_device_is_no_file(device: str) -> None:
    # Only looked at: a fault here must not replace the machine's own.
    with refused(DataError, f"cannot write {device}", "name a regular file"):
        check_regular(device)


@posix
def test_where_the_process_prints_is_no_file_to_replace(tmp_path: Path) -> None:
    code = "from hetbo._files import write_text_atomically as write; write('out.txt', 'new')"
    with (tmp_path / "out.txt").open("w") as out:
        ran = subprocess.run(  # noqa: S603  # our own code
            [sys.executable, "-c", code],
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert "DataError: cannot write out.txt: it is a device" in ran.stderr.decode()
    assert [child.name for child in tmp_path.iterdir()] == ["out.txt"]


def test_a_path_with_a_nul_is_refused(tmp_path: Path) -> None:
    with refused(DataError, "NUL", "name another"):
        write_text_atomically(tmp_path / "a\0b", "new")


def test_a_file_that_may_not_be_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(PermissionError) as raised:
        write_text_atomically(path, "new")
    assert raised.value.filename == str(path)
    assert path.read_text(encoding="utf-8") == "old"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, None])
def test_a_temporary_file_is_never_more_open_than_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None
) -> None:
    path, seen = tmp_path / "notes.txt", list[int]()
    if mode is not None:
        path.touch()
        path.chmod(mode)
    make, synchronise = os.open, os.fsync

    def made(name: str, flags: int, *rest: int) -> int:
        descriptor = make(name, flags, *rest)
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)) if flags & os.O_CREAT else None
        return descriptor

    def written(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        synchronise(descriptor)

    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(os, "open", made)
    monkeypatch.setattr(os, "fsync", written)
    write_text_atomically(path, "new")
    usual = tmp_path / "usual"
    usual.touch()
    final = stat.S_IMODE(usual.stat().st_mode) if mode is None else mode
    assert stat.S_IMODE(path.stat().st_mode) == final
    assert seen[:2] == [final if mode is None else 0o600] * 2


@posix
def test_what_a_killed_process_leaves_goes_with_the_next_write(tmp_path: Path) -> None:
    code = (
        "import os, signal; from hetbo._files import write_text_atomically as write; "
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); write('a.txt', 'new')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)  # noqa: S603  # our own code
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".hetbo-mine.txt").touch()  # almost the name of a temporary file
    write_text_atomically(tmp_path / "b.txt", "new")
    assert {child.name for child in tmp_path.iterdir()} == {"b.txt", ".hetbo-mine.txt"}


@posix
def test_what_another_process_is_writing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronise, files = os.fsync, [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    waiting = files[1:]

    def meanwhile(descriptor: int) -> None:
        if waiting:
            write_text_atomically(waiting.pop(), "new")
        synchronise(descriptor)

    monkeypatch.setattr(os, "fsync", meanwhile)
    write_text_atomically(files[0], "new")
    assert sorted(tmp_path.iterdir()) == files


@posix
def test_a_file_taken_for_a_leftover_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = os.open, list[str]()

    def taken(name: str, flags: int, *rest: int) -> int:
        descriptor = make(name, flags, *rest)
        if flags & os.O_CREAT:
            made.append(name)
            if len(made) == 1:
                Path(name).unlink()
        return descriptor

    monkeypatch.setattr(os, "open", taken)
    write_text_atomically(tmp_path / "notes.txt", "new")
    assert len(made) == 2
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "new"
