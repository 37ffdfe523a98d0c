"""Arguments and files that make no sense: each is told in one line that a user understands."""

import os
import random
from pathlib import Path

import pytest

from cli.tools import IMPORT, INIT, Cli

HOSTILE = ["", " ", "\0", "\udcff", "x" * 5000, "1" * 5000, "-1", "--", "=", "a=b", "nan", "1e999"]
HOSTILE += ["folder", "loop", "loop.db", "runs.csv", "bytes.toml", "digits.toml", "deep.toml", "::"]
HOSTILE += ["::old", "folder::old", "loop.db::old", "runs.csv::old", "rot13", "utf-16", "\n", "'"]
HOSTILE += ["9" * 30, "nope:nope", "\x1b[31m", "old", "new", "hetbo.db", "postgresql://host:port/x"]
COMMANDS = [
    [*IMPORT, "--noise", "subsample", "--space", "space.toml", "--delimiter", ",", "--drop", "lr"],
    [*IMPORT, "--encoding", "utf-8", "--skip-invalid", "--storage", "hetbo.db"],
    ["diff", "--target", "space.toml", "--source", "old", "--storage", "hetbo.db"],
    [*INIT, "--goal", "minimize", "--storage", "hetbo.db"],
    ["ask", "-n", "1", "--json", "--study", "nope", "--storage", "hetbo.db"],
    ["tell", "0", "1.5", "--study", "new", "--storage", "hetbo.db"],
    ["best", "--json", "--study", "new", "--storage", "hetbo.db"],
    ["status", "--study", "new", "--storage", "hetbo.db"],
    ["report", "-o", "folder/report.html", "--study", "nope", "--storage", "hetbo.db"],
    ["tune", "objective:loss", "--trials", "1", "--workers", "1", "--study", "nope"],
]


@pytest.fixture
def hostile(ready: Cli) -> Cli:
    """A folder with a study to tune, and files that are none of what they are taken for."""
    Path("folder").mkdir()
    for name in ("loop", "loop.db"):
        Path(name).symlink_to(name)
    os.mkfifo("pipe")
    Path("bytes.toml").write_bytes(b"\xff\xfe")
    ready.write("digits.toml", f"[parameters]\nx = {{ low = 0, high = {'1' * 5000} }}")
    ready.write("deep.toml", f"x = {'[' * 5000}")
    return ready


def changed(arguments: list[str], rng: random.Random) -> list[str]:
    """Return arguments, some of them replaced, left out, or with others between them."""
    given = list(arguments)
    for _ in range(rng.choice([1, 1, 2])):
        place = rng.randrange(len(given))
        given[place : place + rng.choice([0, 1, 1])] = rng.choice([[], [rng.choice(HOSTILE)] * 2])
        given = given or ["status"]
    return given


def test_no_arguments_end_in_an_error_that_nobody_expected(hostile: Cli) -> None:
    rng = random.Random(4)  # noqa: S311  # which arguments are tried
    for _ in range(120):
        arguments = changed(rng.choice(COMMANDS), rng)
        ran = hostile(*arguments)
        assert ran.code in {0, 1, 2}, (arguments, ran)
        assert "unexpected" not in ran.err, (arguments, ran)
        lines = [line for line in ran.err.splitlines() if not line.startswith("hetbo: note:")]
        assert len(lines) == (ran.code != 0), (arguments, ran)
        assert len(ran.err) < 1200, (arguments, ran)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["init", "digits.toml", "--study", "n"], ("digits.toml", "not a TOML file", "digits")),
        (["init", "bytes.toml", "--study", "n"], ("bytes.toml", "not a TOML file", "utf-8")),
        (["init", "deep.toml", "--study", "n"], ("deep.toml", "not a TOML file")),
        (["init", "large.toml", "--study", "n"], ("large.toml", "larger than 1 MB")),
        (["init", "folder", "--study", "n"], ("folder", "Is a directory")),
        (["init", "loop", "--study", "n"], ("loop", "symbolic links")),
        (["status", "--study", "\udcff"], (r"'\udcff'", "no study")),
        (["status", "--study", "x" * 5000], ("xxx…", "no study")),
        (["import", "a\0b", "--study", "x"], (r"'a\x00b'", "NUL")),
        (["report", "-o", "pipe"], ("pipe", "regular file")),
        (["report", "-o", "folder"], ("folder", "name a file in it")),
        (["report", "-o", "x" * 300], ("xxx", "name too long")),
        (["report", "-o", "hetbo.db"], ("hetbo.db", "another kind", "stays")),
        (["backtest", "--source", "old", "--report", "hetbo.db"], ("hetbo.db", "another kind")),
    ],
    ids=lambda value: ascii(" ".join(value))[:40],
)
def test_what_cannot_be_used_is_named(
    hostile: Cli, arguments: list[str], parts: tuple[str, ...]
) -> None:
    hostile.write("large.toml", "#" * 1_000_001)
    before = hostile.files()
    hostile.refuses(*arguments, parts=parts)
    assert hostile.files() == before


def test_a_line_is_never_longer_than_people_read(hostile: Cli) -> None:
    ran = hostile("best", "--study", "new", "x" * 100_000)
    assert ran.code == 2
    assert len(ran.err) < 1000
    assert ran.err.startswith("hetbo: Unused Tokens: ['xxx")
