"""An importer in one file outside hetbo: the runs of a tracker, and a package that declares it."""

import configparser
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from helpers import declare_commands
from hetbo.experiments import IMPORTERS, FileOptions, Table

RUNS = """[tracker]
name = ranger
metric = auc
goal = maximize
[run 1]
lr = 0.1
depth = 3
auc = 0.8
[run 2]
lr = 0.2
depth = 5
auc = 0.9
"""


class RunIni:
    """Reads a section for each run, and from [tracker] what was measured."""

    suffixes = (".runs",)

    def read(self, path: Path, options: FileOptions) -> Iterable[Table]:  # noqa: ARG002
        parser = configparser.ConfigParser()
        parser.read_string(path.read_text("utf-8"))
        told = dict(parser["tracker"])
        parser.remove_section("tracker")
        rows = [dict(parser[section]) for section in parser.sections()]
        yield Table(
            path.name,
            {name: [row.get(name) for row in rows] for name in rows[0]},
            name=told["name"],
            value=told["metric"],
            goal="maximize" if told["goal"] == "maximize" else "minimize",
        )


@pytest.fixture
def tracker(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A package that declares the importer."""
    folder = tmp_path_factory.mktemp("installed")
    declare_commands(
        "tracker", {"runs": "trackers:RunIni"}, folder, monkeypatch, group="hetbo.importers"
    )
    with patch.dict(IMPORTERS):
        yield
