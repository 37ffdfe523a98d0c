"""Imports go one way between the folders, and importing hetbo is quick and changes nothing."""

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hetbo

ORDER = [
    "errors",
    "files",
    "threads",
    "spaces",
    "experiments",
    "joint",
    "encoding",
    "models",
    "acquisition",
    "methods",
    "penalties",
    "screening",
    "weighing",
    "engine",
    "explanation",
    "optimizer",
    "optuna",
    "bench",
    "report",
    "demo",
    "cli",
    "__main__",
]
ROOT = Path(hetbo.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def folder(path: Path) -> str:
    """Return the part of hetbo that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(source: str) -> Iterator[str]:
    """Yield what a file imports from hetbo: 'spaces' for `from hetbo.spaces import Space`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            modules = [f"hetbo.{'.' * node.level}{node.module or ''}"]
        elif isinstance(node, ast.ImportFrom) and node.module == "hetbo":
            modules = [f"hetbo.{alias.name}" for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            if module.split(".")[0] == "hetbo":
                yield [*module.split("."), ""][1]


def wrong_imports(place: str, source: str) -> list[str]:
    """Return what a file in `place` imports although it does not stand above it."""
    return [name for name in imported(source) if name not in ORDER[: ORDER.index(place) + 1]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_what_stands_above_it(path: Path) -> None:
    assert wrong_imports(folder(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from hetbo.spaces import Space", []),
        ("from hetbo.joint.union import JointSpace", []),
        ("import hetbo.encoding.columns", ["encoding"]),
        ("def f():\n    from hetbo.models import x", ["models"]),
        ("from hetbo import encoding", ["encoding"]),
        ("from hetbo import Space", ["Space"]),
        ("from hetbo import __version__", []),
        ("import hetbo", [""]),
        ("from . import blocks", [""]),
        ("from ..encoding import Columns", [""]),
        ("import hetbox.encoding, numpy as np", []),
    ],
)
def test_the_test_finds_wrong_imports(source: str, wrong: list[str]) -> None:
    assert wrong_imports("joint", source) == wrong


def run(code: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  # our own code
    return done.stdout.strip()


def test_importing_hetbo_is_quick() -> None:
    # The processor's time, since other tests run beside this one.
    code = (
        "import time; start = time.process_time(); import hetbo; print(time.process_time() - start)"
    )
    seconds = [float(run(code)) for _ in range(5)]
    assert statistics.median(seconds) < 0.3


def test_importing_hetbo_loads_nothing_heavy() -> None:
    heavy = {"torch", "numpy", "pandas", "scipy", "gpytorch", "botorch", "rich"}
    loaded = run("import sys, hetbo; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "hetbo" in loaded
    assert heavy & set(loaded) == set()


def test_importing_hetbo_changes_no_global_state() -> None:
    code = """
import csv, locale, logging, os, random, signal, sys, threading, warnings
import numpy

def state():
    return {
        "random": random.getstate(),
        "numpy": repr(numpy.random.get_state()),
        "numpy errors": numpy.geterr(),
        "numpy printing": repr(numpy.get_printoptions()),
        "warnings": list(warnings.filters),
        "logging": (list(logging.root.handlers), logging.root.level),
        "csv": csv.field_size_limit(),
        "integers": sys.get_int_max_str_digits(),
        "recursion": sys.getrecursionlimit(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "signals": signal.getsignal(signal.SIGINT),
        "threads": threading.active_count(),
        "hooks": (sys.excepthook, sys.displayhook),
    }

before = state()
import hetbo
hetbo.Encoder
after = state()
print(*[name for name in before if before[name] != after[name]])
"""
    assert run(code) == ""
