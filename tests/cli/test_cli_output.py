"""What is printed where it cannot be printed as it is: nothing fails over it, nothing is lost."""

import csv
import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

from cli.tools import IMPORT, INIT, SPACE, Cli, Ran
from hetbo.cli._output import write_csv
from hetbo.cli.main import main

NAME = "été →"


class Screen:
    """Standard output and error of another encoding."""

    def __init__(self, patch: pytest.MonkeyPatch, encoding: str) -> None:
        self._patch, self._encoding = patch, encoding

    def __call__(self, *arguments: str) -> Ran:
        shown = [io.BytesIO(), io.BytesIO()]
        out, err = (io.TextIOWrapper(stream, encoding=self._encoding) for stream in shown)
        with self._patch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main(list(arguments))
            out.flush()
            err.flush()
        assert out.errors == "strict"
        return Ran(code, *(stream.getvalue().decode(self._encoding) for stream in shown))

    def works(self, *arguments: str) -> str:
        """Return what a command prints that must succeed."""
        ran = self(*arguments)
        assert ran.code == 0, ran.err
        return ran.out


class Broken(io.StringIO):
    """A stream whose reader has gone, or whose disk is full."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self._code = code

    def flush(self) -> None:
        raise OSError(self._code, os.strerror(self._code))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_every_command_works_on_any_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    screen = Screen(monkeypatch, encoding)
    cli.write("space.toml", SPACE.replace('"dart"]', '"dårt→", "größe", "▁"]'))
    out = screen.works(*IMPORT[:3], NAME, *IMPORT[4:])
    assert r"\u2192" in out
    assert ("été" in out) == (encoding != "ascii")
    out = screen.works("diff", "--target", "space.toml", "--source", NAME)
    assert "- k3: subsample" in out
    screen.works("init", "space.toml", "--study", NAME + "2", "--source", NAME, *INIT[6:])
    assert screen.works("ask", "--csv", "-n", "4").startswith("id,")
    assert "0.5" in screen.works("tell", "0", "0.5")
    assert "in trial 0" in screen.works("best")
    assert "Waiting for a value" in screen.works("status")
    assert NAME.encode(encoding, "backslashreplace").decode(encoding) in screen("best", NAME).err


def test_the_other_commands_work_on_a_plain_terminal(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(monkeypatch, "ascii")
    assert "hetbo tell 0" in screen.works("ask")
    screen.works("tell", "0", "0.5")
    assert json.loads(screen.works("ask", "--json"))[0]["id"] == 1
    assert json.loads(screen.works("best", "--json"))["id"] == 0
    screen.works("tune", "objective:loss", "--trials", "3")
    screen.works("report", "-o", "→.html")
    assert Path("→.html").exists()
    assert "Usage" in screen.works("ask", "--help")
    del ready


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EPIPE])
def test_what_was_asked_and_not_shown_is_told_and_found_again(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, form: list[str], code: int
) -> None:
    ready.works("ask")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Broken(code))
        ran = ready("ask", "-n", "2", *form)
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert f"standard output: {os.strerror(code)}" in ran.err
    assert "told: 1, 2; this shows them: hetbo status\n" in ran.err
    out = ready.works("status")
    waiting = out[out.index("Waiting for a value") : out.index("Next:")].splitlines()
    trials = optuna.load_study(study_name="new", storage="sqlite:///hetbo.db").trials
    for trial in trials:
        words = next(line.split() for line in waiting if line.split()[:1] == [str(trial.number)])
        assert words[1:] == [
            f"{value:.6g}" if isinstance(value, float) else str(value)
            for value in trial.params.values()
        ]


def test_what_was_told_is_stored_though_it_cannot_be_shown(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.works("ask", "-n", "2")
    for number, code in ((0, errno.ENOSPC), (1, errno.EPIPE)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Broken(code))
            ran = ready("tell", str(number), "0.5")
        assert ran.code == 1
        assert "Traceback" not in ran.err
    assert "2 with a value" in ready.works("status")


def test_status_lists_the_first_of_many_that_wait(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Waiting" not in ready.works("status")
    monkeypatch.setattr("hetbo.cli._status._MOST_LISTED", 2)
    ready.works("ask", "-n", "3")
    out = ready.works("status")
    assert "Waiting for a value, and 1 more:" in out
    first = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert [word for word in first if word.isdigit()][1:] == ["0", "1"]


def test_nothing_is_asked_without_a_standard_output(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        for form in ([], ["--json"], ["--csv"]):
            ready.refuses("ask", *form, parts=("standard output is closed", "nothing was done"))
    assert "0 running" in ready.works("status")
    ready.works("ask")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert ready("tell", "0", "0.5") == (0, "", "")
    assert "1 with a value" in ready.works("status")


def test_nothing_fails_without_a_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (None, Broken(errno.EPIPE)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            assert main(["best", "--storage", ""]) == 1
            assert main(["nope"]) == 2


def test_a_reader_that_has_gone_ends_a_command_quietly(ready: Cli) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        ran = subprocess.run(  # our own command
            [sys.executable, "-m", "hetbo", "status"],
            cwd=ready.folder,
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (1, b"")


FORMULAS = ["=1+1", "+1", "-x", "@sum", "\r=1", "\t=1", " =1", "\x1f=1", "\xa0=1", "\u200b=1"]
FORMULAS += [
    "\ufeff=1",
    "\u2028=1",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20sum",
    "\r\uff1d1",
    "\n=1",
    "\v@x",
]


@pytest.mark.parametrize("cell", FORMULAS, ids=ascii)
def test_no_text_is_a_formula_to_a_spreadsheet(
    cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(["id", cell], [[1, cell], [2, f"a{cell}"]])
    printed = capsys.readouterr().out
    rows = list(csv.reader(io.StringIO(printed, newline="")))
    assert rows == [["id", f"'{cell}"], ["1", f"'{cell}"], ["2", f"a{cell}"]]


def test_what_is_no_formula_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(["id"], [[-1], [-0.5], ["a=1"], ["1"], [""], [" "], ["'=1"], [True], ["a\rb"]])
    printed = capsys.readouterr().out
    rows = list(csv.reader(io.StringIO(printed, newline="")))[1:]
    assert [cell for row in rows for cell in row] == [
        *("-1", "-0.5", "a=1", "1", "", " ", "'=1", "True", "a\rb")
    ]
