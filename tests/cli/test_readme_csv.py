"""The section "From a CSV" of the README works as it is written."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HETBO = Path(sys.executable).with_name("hetbo")


def block(page: str) -> str:
    """Return the console block after the heading 'From a CSV'; skip if there is no such heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    parts = re.split(r"^#+ From a CSV$", text, flags=re.MULTILINE)
    if len(parts) == 1:
        pytest.skip(f"{page} has no heading 'From a CSV': NOTHING IS TESTED")
    found = re.search(r"^```console\n(.*?)^```$", parts[1], re.DOTALL | re.MULTILINE)
    assert found is not None, f"{page} has no console block after 'From a CSV'"
    return found[1]


def script(console: str) -> str:
    """Return the commands of a console block: lines with a prompt, and what is fed to them."""
    lines, end = list[str](), None
    for line in console.splitlines():
        if end is not None:
            lines.append(line)
            end = None if line == end else end
        elif line.startswith("$ "):
            lines.append(line[2:])
            fed = re.search(r"<<'(\w+)'", line)
            end = fed[1] if fed else None
    return "\n".join(lines)


def test_the_documents_show_the_same_commands() -> None:
    assert script(block("docs/cli.md")) == script(block("README.md"))


@pytest.mark.long
def test_the_section_works_as_written(tmp_path: Path) -> None:
    commands = script(block("README.md"))
    assert commands.count("hetbo ") >= 4
    environment = {**os.environ, "PATH": f"{HETBO.parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("HETBO_STORAGE", None)
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603  # what our own page says
        ["/bin/sh", "-ec", commands],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "hetbo tell 0 VALUE" in done.stdout  # a suggestion
    assert time.monotonic() - began < 120
