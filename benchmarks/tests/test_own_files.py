"""A problem and a method are added by one new file outside the package."""

import re
import textwrap
from pathlib import Path

import pytest

from helpers import refused
from hetbo.cli.main import main
from hetbo.errors import DataError
from hetbo_bench.methods import tuner_named
from hetbo_bench.problems.named import problem_named
from hetbo_bench.running.runs import read_runs

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with the file that the document shows."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    (tmp_path / "my_file.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_the_command_of_the_document_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = re.findall(r"^\$ hetbo (.*my_file.*)$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    given = [*command.replace("auto", "random").split(), "--replications", "1", "--workers", "1"]
    assert main(given) == 0, capsys.readouterr().err
    runs = read_runs([folder / "mine.jsonl"])
    assert {(run.problem, run.method) for run in runs} == {
        (problem, method)
        for problem in ("my_file.py:valley", "my_file.py:valley/shuffled")
        for method in ("random", "my_file.py:peer")
    }
    assert all("my_file.py" in run.versions for run in runs)
    assert main(["bench", "compare", "mine.jsonl", "--against", "random"]) == 0
    assert "my_file.py:peer" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_recipe_is_a_method_too(folder: Path) -> None:
    (folder / "recipe.py").write_text(
        textwrap.dedent("""
            from hetbo.methods import METHODS
            mine = METHODS["random"]
            nothing = 3
        """),
        encoding="utf-8",
    )
    problem = problem_named("my_file.py:valley")
    tuner = tuner_named("recipe.py:mine")(problem, problem.start(0), 0)
    assert set(tuner.ask()) == {"x", "y"}
    with refused(DataError, "recipe.py:nothing", "neither a Recipe nor a function"):
        tuner_named("recipe.py:nothing")


@pytest.mark.usefixtures("folder")
def test_what_a_file_lacks_is_said(folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0", encoding="utf-8")
    for name, *parts in [
        ("missing.py:valley", "no file 'missing.py'"),
        ("my_file.py:hill", "my_file.py defines no 'hill'"),
        ("my_file.py:space", "a Space, not a hetbo_bench.Problem"),
        ("my_file.py:valley/upside", "unknown 'upside'"),
        ("broken.py:problem", "broken.py cannot be run", "ZeroDivisionError"),
    ]:
        with refused(DataError, *parts):
            problem_named(name)
