"""Running commands within a test, in a folder of its own."""

from pathlib import Path
from typing import NamedTuple

import pytest

from hetbo.cli.main import main

RUNS = """lr,depth,subsample,loss
0.02,3,0.8,0.41
0.0005,8,0.6,0.52
0.003,6,1.0,
0.008,5,0.9,0.33
0.05,4,0.7,0.47
0.012,7,0.9,0.36
"""
SPACE = """goal = "minimize"
value = "loss"
[parameters]
learning_rate = { low = 1e-5, high = 0.1, log = true }
max_depth = { low = 2, high = 12 }
booster = { choices = ["gbtree", "dart"] }
"""
OBJECTIVE = '''
import math, os, time
from pathlib import Path

def loss(learning_rate, max_depth, booster):
    if booster == "dart":
        print("with dart")
    return abs(math.log10(learning_rate) + 2) + abs(max_depth - 5) / 10

def fails(**params):
    raise ValueError("it [red]broke[/red]\\nin two lines")

def nothing(**params):
    return None

def dies(**params):
    os._exit(3)

def other(a):
    return a

def waits(**params):
    """Begin, and take long unless a file says that it may end."""
    Path(f"began-{time.monotonic_ns()}").touch()
    while not Path("go-on").exists():
        time.sleep(0.05)
    return 1.0
'''
IMPORT = [
    *("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize"),
    *("--rename", "lr=learning_rate", "depth=max_depth", "--fixed", "booster=gbtree"),
]
INIT = [
    *("init", "space.toml", "--study", "new", "--source", "old", "--seed", "3"),
    *("--method", "random"),
]
"""Random search needs no time to think."""


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


class Cli:
    """Runs commands in a folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        """Return what came of a command, whatever that is."""
        self._capsys.readouterr()
        code = main(list(arguments))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def works(self, *arguments: str) -> str:
        """Return what a command prints that must succeed."""
        ran = self(*arguments)
        assert ran.code == 0, ran.err
        return ran.out

    def refuses(self, *arguments: str, parts: tuple[str, ...], code: int = 1) -> str:
        """Check that a command ends with one readable line of error; return it."""
        ran = self(*arguments)
        assert ran.code == code, ran
        assert ran.err.startswith("hetbo: ")
        assert ran.err.count("\n") == 1, ran.err
        assert len(ran.err) < 700
        assert "Traceback" not in ran.err
        missing = [part for part in parts if part not in ran.err]
        assert not missing, f"{missing} not in {ran.err!r}"
        return ran.err

    def write(self, name: str, text: str) -> Path:
        """Write a file in the folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def files(self) -> set[str]:
        """Return the names of the files in the folder."""
        return {path.name for path in self.folder.iterdir()}
