"""The commands that hetbo prints work when they are pasted into a shell."""

import re
import shlex

import pytest

from cli.tools import IMPORT, INIT, Cli
from hetbo.cli._commands import command
from hetbo.cli._output import say


def printed(out: str) -> list[list[str]]:
    """Return the words of each command that was printed, as a shell takes them."""
    found = re.findall(r"\bhetbo ((?:'[^']*'|\"[^\"]*\"|[^\n,()])+)", out)
    return [shlex.split(words) for words in found]


@pytest.mark.parametrize("name", ["it's; rm -rf ~", "$(date) `x`", 'two "words"', "plain", "grün"])
def test_names_are_quoted_for_a_shell(cli: Cli, name: str) -> None:
    out = cli.works(*IMPORT[:3], name, *IMPORT[4:])
    last = out.splitlines()[-1]
    assert shlex.split(last) == ["hetbo", "diff", "--target", "space.toml", "--source", name]
    cli.works(*shlex.split(last)[1:])


def test_the_storage_is_said_only_where_it_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HETBO_STORAGE", raising=False)
    assert command("ask", place="hetbo.db") == "hetbo ask"
    assert command("ask", place="my runs.db") == "hetbo ask --storage 'my runs.db'"
    assert command("ask", study="z", place="x.db") == "hetbo ask --study z --storage x.db"
    monkeypatch.setenv("HETBO_STORAGE", "x.db")
    assert command("ask", place="x.db") == "hetbo ask"
    assert command("ask", place="hetbo.db") == "hetbo ask --storage hetbo.db"
    assert "secret" not in command("ask", place="postgresql://me:secret@host/db")


def test_the_next_commands_name_study_and_storage_as_they_were_given(cli: Cli) -> None:
    elsewhere = ("--storage", "sp.db")
    out = cli.works(*IMPORT, *elsewhere)
    cli.works(*printed(out)[-1])
    assert printed(out)[-1][-2:] == list(elsewhere)
    for name in ("y", "z"):
        out = cli.works("init", "space.toml", "--study", name, *INIT[4:], *elsewhere)
        ask, tune = printed(out)
        assert ask == ["ask", "--study", name, *elsewhere]
        assert tune[:4] == ["tune", "module:function", "--trials", "40"]
        assert tune[4:] == ["--study", name, *elsewhere]
    given = ("--study", "z", *elsewhere)
    measured, failed = printed(cli.works("ask", *given))
    assert measured == ["tell", "0", "VALUE", *given]
    assert failed == ["tell", "0", "--failed", *given]
    out = cli.works("status", *given)
    assert printed(out)[0] == ["status", "--explain", *given]
    assert f"{shlex.join(['hetbo', *measured])} (or --failed" in out
    cli.works("tell", "0", "1.5", *given)
    out = cli.works("status", *given)
    assert f"hetbo ask {shlex.join(given)}, or look" in out
    assert out.endswith(f"hetbo report -o report.html {shlex.join(given)}\n")


def test_nothing_is_added_where_nothing_was_given(ready: Cli) -> None:
    out = ready.works("ask")
    assert "hetbo tell 0 VALUE\n" in out
    assert "hetbo tell 0 --failed\n" in out


def test_piped_sentences_stay_on_one_line(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    del cli  # 80 columns
    sentence = "one word after the other " * 10
    say(sentence)
    assert capsys.readouterr().out == f"{sentence}\n"


def test_a_terminal_gets_words_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # Rich takes this for a terminal
    say("one word after the other " * 10)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
