"""hetbo where Optuna is not installed."""

import subprocess
import sys

import pytest

HIDE_OPTUNA = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] == "optuna" else super().find_spec(name, path, target)

sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""
CALLS = [
    "import hetbo.optuna",
    "hb.Experiment.from_optuna('sqlite://', 'old')",
    "hb.Experiment('e', hb.Space(x=hb.Float(0, 1)), goal='minimize').to_optuna(None)",
]


def run(code: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  # our own code
    return done.stdout


def test_importing_hetbo_does_not_load_optuna() -> None:
    assert run("import sys, hetbo; print('optuna' in sys.modules)") == "False\n"


@pytest.mark.parametrize("call", CALLS)
def test_the_error_says_what_to_install(call: str) -> None:
    code = f"""
{HIDE_OPTUNA}
import hetbo as hb
try:
    {call}
except ImportError as error:
    print(isinstance(error, hb.HetboError), error)
"""
    printed = run(code)
    assert printed.startswith("True")
    assert "pip install optuna" in printed
