"""Commands that make no sense, files that are none, terminals that show little."""

import os
import random
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from soak.children import Ran, hetbo, works
from soak.faults import expect
from soak.studies import SPACE, study_in

RUNS = "x,k,extra,loss\n" + "".join(f"0.{n},{n},{n % 3},{n * n % 7}\n" for n in range(1, 8))
TERMINALS = ("utf-8", "utf-8", "ascii", "latin-1", "cp1252", "koi8-r", "cp932")
COMMANDS = (
    ("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize"),
    ("diff", "--target", "space.toml", "--source", "old"),
    ("init", "space.toml", "--study", "new", "--source", "old", "--method", "random"),
    ("ask", "--study", "s"),
    ("ask", "--study", "s", "-n", "2", "--json"),
    ("ask", "--study", "s", "--csv"),
    ("tell", "0", "0.5", "--study", "s"),
    ("tell", "1", "--failed", "--study", "s"),
    ("best", "--study", "s", "--json"),
    ("status", "--study", "s"),
    ("tune", "objective:loss", "--trials", "1", "--study", "s"),
    ("report", "--study", "s", "-o", "report.html"),
    ("--help",),
)
WORDS = (
    *("", " ", "-", "--", "-1", "0", "1.5", "nan", "1e999", "9" * 5000, "true", "None", "=1+1"),
    *("größe", "🦆", "\udcff", "[bold]", "two\nlines", "\x1b[2J", "x" * 300, "x" * 5000),
    *(
        ".",
        "/",
        "folder",
        "pipe",
        "link",
        "nowhere/at/all",
        "runs.csv",
        "space.toml",
        "objective.py",
    ),
    *("study.db", "half.log", "bytes.db", "a=b", "x=", "=x", "x=k", "k=x", "a::b", "::", "old"),
    *(":memory:", "sqlite://", "sqlite:///", "postgresql://a:b@host:port/x", "nothing://x", "[::1"),
    *("--study", "--storage", "--source", "--debug=1", "--no-failed", "-n", "--rename", "--fixed"),
    *("--value", "--goal", "--seed", "--method", "--trials", "--workers", "minimize", "random"),
)


def run(rng: random.Random, folder: Path) -> None:
    """Run spoiled commands on spoiled files; each works, or says in one line why not."""
    study_in(folder, "study.db")
    _prepare(folder)
    works(folder, *COMMANDS[0], "--storage", "study.db")
    before = _open_trials(folder)
    for _ in range(10):
        _spoil_files(rng, folder)
        words = _spoiled(rng, rng.choice(COMMANDS))
        place = "study.db" if rng.random() < 0.8 else rng.choice(WORDS[:-16])
        ran = hetbo(
            folder,
            *words,
            environment={"HETBO_STORAGE": place},
            encoding=rng.choice(TERMINALS),
        )
        now = _open_trials(folder)
        if now - before:
            _check_shown(folder, ran, now - before)
        before = now


def _prepare(folder: Path) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("nowhere.db")
    (folder / "half.log").write_bytes(b'{"op_code": 0, "wor')
    (folder / "bytes.db").write_bytes(bytes(range(256)) * 20)
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")


def _spoiled(rng: random.Random, words: Sequence[str]) -> list[str]:
    """Return the words of a command with something replaced, added, lost, or moved."""
    spoiled = list(words)
    for _ in range(rng.choice([0, 1, 1, 2])):
        position = rng.randrange(len(spoiled) + 1)
        match rng.choice(["replace", "replace", "add", "lose", "move"]):
            case "replace":
                spoiled[position : position + 1] = [rng.choice(WORDS)]
            case "add":
                spoiled.insert(position, rng.choice(WORDS))
            case "lose":
                del spoiled[position : position + 1]
            case _:
                rng.shuffle(spoiled)
    # Without a name of its own, what runs is a shell's matter and takes its time.
    return spoiled if spoiled[:1] in [[words[0]] for words in COMMANDS] else list(words)


def _spoil_files(rng: random.Random, folder: Path) -> None:
    for name, text in {"runs.csv": RUNS, "space.toml": SPACE}.items():
        content = bytearray(text, encoding="utf-8")
        for _ in range(rng.choice([0, 0, 0, 1, 3])):
            position = rng.randrange(len(content) + 1)
            rubbish = rng.choice([b"", b"\0", b"\xff", b'"', b"\n", b",", b"=", b"[", b"9" * 5000])
            content[position : position + rng.choice([0, 1, 5])] = rubbish
        (folder / name).write_bytes(content)


def _open_trials(folder: Path) -> set[int]:
    with closing(sqlite3.connect(folder / "study.db")) as database:
        found = database.execute("SELECT number FROM trials WHERE state = 'RUNNING'").fetchall()
    return {number for (number,) in found}


def _check_shown(folder: Path, ran: Ran, new: set[int]) -> None:
    """Check that whatever a command began is shown, by itself or by `hetbo status`."""
    status = works(folder, "status", "--study", "s", "--storage", "study.db")
    shown = set(re.findall(r"\d+", ran.out + status.out))
    hidden = [number for number in new if str(number) not in shown]
    expect(not hidden, "lost", f"trials {hidden} were begun and are shown nowhere: {ran}")
