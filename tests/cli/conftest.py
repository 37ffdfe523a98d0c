"""A folder with old runs and a space, and the command line in it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.tools import IMPORT, INIT, OBJECTIVE, RUNS, SPACE, Cli
from hetbo.cli.main import main
from postgresql_server import Server, postgresql


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in a folder with runs.csv, space.toml and objective.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETBO_STORAGE", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    cli = Cli(tmp_path, capsys)
    cli.write("runs.csv", RUNS)
    cli.write("space.toml", SPACE)
    cli.write("objective.py", OBJECTIVE)
    return cli


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with storages that many tests start from; making one takes a while."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in {"runs.csv": RUNS, "space.toml": SPACE}.items():
            (folder / name).write_text(text, encoding="utf-8")
        assert main(IMPORT) == 0
        shutil.copy("hetbo.db", "imported.db")
        assert main(INIT) == 0
    return folder


@pytest.fixture
def imported(cli: Cli, made: Path) -> Cli:
    """The command line in a folder where the old runs are the study 'old'."""
    shutil.copy(made / "imported.db", cli.folder / "hetbo.db")
    return cli


@pytest.fixture
def ready(cli: Cli, made: Path) -> Cli:
    """The same with a study 'new' that learns from 'old', by random search."""
    shutil.copy(made / "hetbo.db", cli.folder / "hetbo.db")
    return cli


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server; a test that stops it starts it again."""
    with postgresql() as running:
        yield running
