import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest

from hetbo.files import write_text_atomically


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
    assert seen == ["old"]
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
