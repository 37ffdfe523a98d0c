import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_readme_has_code_and_commands() -> None:
    assert blocks("python")
    assert blocks("console")


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.split("\n", 1)[0])
def test_the_code_of_the_readme_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "readme.py"
    path.write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))


@pytest.mark.parametrize(
    "command", [line[2:] for block in blocks("console") for line in block.splitlines()]
)
def test_the_commands_of_the_readme_are_there(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    if program.startswith("script/"):
        assert os.access(ROOT / program, os.X_OK)


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)", README))
def test_the_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
