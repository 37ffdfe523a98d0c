"""`hetbo bench data hpob` as it is typed."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from file_server import FileServer, serving
from hetbo.cli.main import main
from hetbo_bench.data import download as module
from hetbo_bench.data.hpob_files import TRAIN
from hpob_samples import archive, complete_archive, descriptors

ZIP = archive(filler=400_000)
SHA256 = hashlib.sha256(ZIP).hexdigest()
COMMAND = ["bench", "data", "hpob"]
pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return where the data goes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HETBO_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "hpob"


@pytest.fixture
def official(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Run a server that stands for the author's."""
    monkeypatch.setenv("no_proxy", "*")
    with serving() as server:
        server.files = {"/hpob.zip": ZIP, "/d.json": json.dumps(descriptors()).encode()}
        monkeypatch.setattr(module, "HPOB_ADDRESS", f"{server.address}/hpob.zip")
        monkeypatch.setattr(module, "HPOB_SHA256", SHA256)
        monkeypatch.setattr(module, "DESCRIPTORS_ADDRESS", f"{server.address}/d.json")
        yield server


def test_a_download_says_where_the_tables_are(
    official: FileServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trust = f"The zip file's SHA-256 {SHA256} is the published one.\n"
    assert main(COMMAND) == 0
    shown = capsys.readouterr()
    assert shown.out == f"HPO-B's tables are now in {folder}\n{trust}"
    assert shown.err == ""
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == f"HPO-B's tables were already in {folder}\n{trust}"
    (folder / TRAIN).write_text("{", encoding="utf-8")
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == f"HPO-B's tables are now in {folder}\n{trust}"
    assert len(official.asked) == 3


@pytest.mark.usefixtures("official")
def test_a_terminal_shows_how_much_has_arrived(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    assert main(COMMAND) == 0
    size = f"{len(ZIP) / 1000:.1f}"
    assert f"{size}/{size} kB" in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", capsys.readouterr().err)


def test_an_available_zip(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.zip").write_bytes(ZIP)
    assert main([*COMMAND, "--from", "some.zip"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"HPO-B's tables are now in {folder}",
        f"The zip file's SHA-256 {SHA256} could not be compared with a known one: it is kept, and "
        "the next must match.",
        "Without HPO-B's descriptors there are no problems in natural units.",
    ]
    assert main([*COMMAND, "--from", "some.zip"]) == 0
    assert f"{SHA256} is that of the last download." in capsys.readouterr().out
    Path("d.json").write_text(json.dumps(descriptors()), encoding="utf-8")
    given = ["--from", "some.zip", "--sha256", SHA256, "--descriptors", "d.json"]
    assert main([*COMMAND, *given]) == 0
    out = capsys.readouterr().out
    assert f"{SHA256} matches --sha256." in out
    assert "Without HPO-B's descriptors" not in out


def test_another_zip_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.zip").write_bytes(complete_archive())
    assert main([*COMMAND, "--from", "some.zip", "--sha256", SHA256]) == 1
    shown = capsys.readouterr()
    assert f"not the given one {SHA256}" in shown.err
    assert shown.out == ""
    assert list(folder.iterdir()) == []
