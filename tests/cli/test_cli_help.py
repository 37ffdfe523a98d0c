"""Help is quick, loads nothing heavy, and shows every command; errors are one readable line."""

import importlib
import statistics
import subprocess
import sys

import pytest

from cli.tools import Cli
from hetbo.cli.main import _COMMANDS, main

COMMANDS = list(_COMMANDS)
HEAVY = {"torch", "optuna", "pandas", "numpy", "scipy", "botorch", "sqlalchemy", "plotly"}
MEASURED = """
import sys, time
from hetbo.cli.main import _COMMANDS, main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
loaded = {name.split(".")[0] for name in sys.modules}
print("loaded", *loaded, file=sys.stderr)
print(time.process_time(), file=sys.stderr)
"""


def measured(*arguments: str) -> tuple[set[str], float]:
    """Return what a fresh process loads for a command, and the processor's time it takes."""
    done = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", MEASURED, *arguments], check=True, capture_output=True, text=True
    )
    *_, loaded, seconds = done.stderr.splitlines()
    return set(loaded.split()), float(seconds)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=" ".join)
def test_help_is_quick_and_loads_nothing_heavy(command: list[str]) -> None:
    # 0.4 s are promised; the machines that run the tests are busy with other tests.
    seconds = list[float]()
    for _ in range(3):
        loaded, taken = measured(*command, "--help")
        assert loaded & HEAVY == set()
        seconds.append(taken)
        if taken < 0.4:
            return
    assert statistics.median(seconds) < 0.8


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "--study", "nope"],
        ["tune", "objective:loss", "--trials", "3", "--study", "nope"],
        ["tune", "objective", "--trials", "3"],
        ["report", "--study", "nope"],
        ["backtest", "--source", "old", "nope"],
        ["init", "space.toml", "--study", "next", "--source", "nope"],
        ["init", "space.toml", "--study", "old", "--source", "old"],
        ["init", "space.toml", "--study", "next", "--source", "old", "--seed", "-1"],
        ["init", "nowhere.toml", "--study", "next"],
    ],
    ids=" ".join,
)
def test_an_error_that_needs_no_model_does_not_wait_for_pytorch(
    ready: Cli, arguments: list[str]
) -> None:
    del ready  # the folder
    loaded, _ = measured(*arguments)
    assert "torch" not in loaded


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Usage: hetbo {command}")
    assert max(map(len, lines)) <= 80 or sys.stdout.isatty()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_hetbo_shows_the_first_sentence_of_each(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place, summary = _COMMANDS[command]
    module, _, name = place.partition(":")
    written = getattr(importlib.import_module(module), name).__doc__
    assert written.split("\n\n", maxsplit=1)[0] == summary
    assert main(["--help"]) == 0
    assert summary[:40] in " ".join(capsys.readouterr().out.split())


def test_the_help_of_init_shows_the_space_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "[parameters]" in shown
    assert 'choices = ["gbtree", "dart"]' in shown


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["frob"], ("frob",)),
        (["ask", "--bogus"], ("--bogus",)),
        (["tell"], ("ID",)),
        (["tell", "x", "1"], ("ID", "x")),
        (["ask", "-n", "many"], ("many",)),
        (["import", "runs.csv", "--goal", "up"], ("--goal", "up")),
        (["diff", "--target", "space.toml"], ("--source",)),
        (["init", "space.toml"], ("--study",)),
        (["tune", "objective:loss"], ("--trials",)),
    ],
    ids=" ".join,
)
def test_what_is_not_understood_is_said_in_one_line(
    cli: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    cli.refuses(*arguments, parts=parts, code=2)


def test_debug_shows_where_an_error_came_from(cli: Cli) -> None:
    ran = cli("ask", "--debug")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert ran.err.splitlines()[-1].startswith("hetbo: there is no file 'hetbo.db'")


def test_an_unexpected_error_is_one_line_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug\nin two lines")

    monkeypatch.setattr("hetbo.cli._best.best", broken)
    cli.refuses("best", parts=("ZeroDivisionError", "--debug", r"a bug\nin two lines"))


def test_a_reader_that_has_gone_is_no_error() -> None:
    code = "from hetbo.cli.main import run; import sys; sys.argv = ['hetbo', '--help']; run()"
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
