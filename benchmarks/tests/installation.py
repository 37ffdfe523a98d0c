"""hetbo-bench as its installation declares it."""

import tomllib
from pathlib import Path

import pytest

from helpers import declare_commands

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hetbo find the commands of hetbo-bench where that is on the path but not installed."""
    commands = PROJECT["entry-points"]["hetbo.commands"]
    declare_commands(PROJECT["name"], commands, tmp_path_factory.mktemp("installed"), monkeypatch)
