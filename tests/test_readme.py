import os
import re
import runpy
import tomllib
from pathlib import Path
from unittest.mock import patch

import pytest

from hetbo.experiments import IMPORTERS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
LINKING = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]


def blocks(language: str, text: str = README) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_readme_has_code_and_commands() -> None:
    assert blocks("python")
    assert blocks("console")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=f"{name} {number}")
        for name, text in {"README.md": README, **PAGES}.items()
        for number, code in enumerate(blocks("python", text), start=1)
    ],
)
def test_the_code_of_the_readme_and_of_the_documents_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "readme.py"
    path.write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with patch.dict(IMPORTERS):  # a document adds one
        runpy.run_path(str(path))


@pytest.mark.parametrize(
    "command", [line[2:] for block in blocks("console") for line in block.splitlines()]
)
def test_the_commands_of_the_readme_are_there(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    if program.startswith("script/"):
        assert os.access(ROOT / program, os.X_OK)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_the_documents_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_files_that_documents_name_are_there() -> None:
    folders = ("src", "tests", "examples", "benchmarks/src", "benchmarks/tests")
    files = [path.as_posix() for top in folders for path in (ROOT / top).rglob("*.py")]
    pages = [page.read_text("utf-8") for page in LINKING if page.parent.name == "docs"]
    named = {name for text in pages for name in re.findall(r"`([\w/-]+\.py)`", text)}
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in files)] == []


def test_the_walk_through_the_files_names_what_is_there() -> None:
    (walk,) = re.findall(r"^1\. .*?\n\n", PAGES["architecture.md"], re.DOTALL | re.MULTILINE)
    file = ROOT
    for name in re.findall(r"`([\w./]+)`", walk):
        if name.endswith(".py"):
            top = "/" in name or not name.startswith("_")
            file = (ROOT / "src/hetbo" if top else file.parent) / name
        elif file != ROOT and name != "auto":
            last = name.rpartition(".")[2]
            assert re.search(rf"(def|class) {last}\b|^    {last}: ", file.read_text("utf-8"), re.M)


def test_extras_that_messages_and_documents_name_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    text = "\n".join([README, *PAGES.values(), *sources])
    named = {name for names in re.findall(r"hetbo\[([\w,-]+)\]", text) for name in names.split(",")}
    assert named
    assert named <= set(extras["optional-dependencies"])
