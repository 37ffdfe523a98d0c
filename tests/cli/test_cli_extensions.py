"""Commands of other packages: found by their entry points, loaded only when they are needed."""

import subprocess
import sys
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from cli.tools import Cli
from helpers import declare_commands

MODULE = '''
"""Commands of a package that is installed beside hetbo."""

from cyclopts import App

wave = App(name="wave", help="Make waves.")


@wave.command
def high(times: int) -> None:
    """Make high waves."""
    print("/\\\\" * times)


def ripple() -> None:
    """Make a ripple."""
    print("~")
'''


@pytest.fixture
def sea(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with two commands that work and one that is not there."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "sea_commands.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "sea_commands", raising=False)
    commands = {"wave": "sea_commands:wave", "ripple": "sea_commands:ripple"}
    declare_commands("sea", commands, folder, monkeypatch)


@pytest.mark.usefixtures("sea")
def test_an_app_and_a_function_are_commands(cli: Cli) -> None:
    assert cli.works("wave", "high", "2") == "/\\/\\\n"
    assert cli.works("ripple") == "~\n"
    assert "Make high waves." in cli.works("wave", "--help")


@pytest.mark.usefixtures("sea")
@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=" ".join)
def test_help_shows_them_beside_our_own(cli: Cli, arguments: list[str]) -> None:
    out = cli.works(*arguments)
    for words in ("Make waves.", "Make a ripple.", "Suggest what to try next."):
        assert words in out


@pytest.mark.usefixtures("sea")
@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [("ask --help", False), ("status", False), ("bench", False), ("--help", True)],
)
def test_they_are_loaded_only_for_themselves_and_for_help(arguments: str, loaded: bool) -> None:
    code = (
        "import sys; from hetbo.cli.main import main; main(sys.argv[1:]); "
        "print('sea_commands' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code, *arguments.split()], check=True, capture_output=True, text=True
    )
    assert ran.stderr.splitlines()[-1] == str(loaded)


@pytest.mark.parametrize("value", ["nowhere.commands:wave", "cli.tools:wave"])
def test_a_command_that_cannot_be_loaded_is_named_with_its_package(
    cli: Cli,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
) -> None:
    folder = tmp_path_factory.mktemp("installed")
    declare_commands("sea", {"wave": value}, folder, monkeypatch)
    for arguments in (["wave"], ["--help"]):
        cli.refuses(*arguments, parts=("'wave'", "package sea", "cannot be loaded", "reinstall"))
    assert "Usage" in cli.works("ask", "--help")


def test_our_own_commands_are_not_replaced(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("installed")
    declare_commands("sea", {"ask": "cli.tools:Cli"}, folder, monkeypatch)
    assert "Suggest what to try next." in " ".join(cli.works("ask", "--help").split())
    cli.refuses("--help", parts=("'ask'", "package sea", "another command", "uninstall"))


@pytest.mark.parametrize("arguments", [[], ["list"], ["run", "--suite", "quick"], ["--help"]])
def test_the_benchmarks_say_how_they_are_installed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("hetbo.cli._plugins.entry_points", lambda **_: EntryPoints())
    parts = ("hetbo-bench", "not installed", "script/bench", "pip install ./benchmarks")
    cli.refuses("bench", *arguments, parts=parts)
    assert "bench" not in cli.works("--help")


def test_the_installation_that_is_named_is_there() -> None:
    root = Path(__file__).parents[2]
    assert (root / "script" / "bench").is_file()
    assert (root / "benchmarks" / "pyproject.toml").is_file()
