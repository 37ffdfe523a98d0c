"""Storages that keep nothing, that are full, that a kill left half written."""

import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import optuna
import pytest
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from cli.tools import IMPORT, INIT, Cli
from hetbo import Experiment
from hetbo import _processes as processes
from hetbo.integrations.optuna import EXPERIMENT
from hetbo.integrations.optuna import _database_rows as database_rows

NO_FILES = ["", " ", ":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "file::memory:"]
NO_FILES += ["sqlite:///file:x?mode=memory&uri=true", "sqlite+pysqlite:///:memory:", "file:x.db"]


def storage(place: str) -> str | BaseStorage:
    """Return a storage as Optuna opens it."""
    if place.endswith(".log"):
        return JournalStorage(JournalFileBackend(place))
    return f"sqlite:///{place}"


def commands(place: str) -> list[list[str]]:
    """Return one of each command, for a storage and for a source in it."""
    others = [["ask"], ["tell", "0", "1"], ["best"], ["status"], ["report"]]
    others += [["tune", "objective:loss", "--trials", "1"], IMPORT, INIT[:4]]
    others += [["diff", "--target", "space.toml", "--source", "old"]]
    sources = [["diff", "--target", "space.toml"], INIT[:4]]
    return [
        *([*words, "--storage", place] for words in others),
        *([*words, "--source", f"{place}::old"] for words in sources),
    ]


@pytest.mark.parametrize("place", NO_FILES)
def test_a_storage_that_keeps_nothing_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    before = cli.files()
    for words in commands(place):
        cli.refuses(*words, parts=(f"--storage {place!r}", "nothing would be kept", "hetbo.db"))
    monkeypatch.setenv("HETBO_STORAGE", place)
    for words in (["ask"], IMPORT):
        cli.refuses(*words, parts=(f"--storage {place!r}", "nothing would be kept"))
    assert cli.files() == before


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        ("postgresql://me:secret@host:port/x", ("'postgresql://***@host:port/x'", "expected")),
        ("postgresql://[::1/x", ("'postgresql://[::1/x'", "expected")),
        ("nothing://x", ("nothing://x", "driver", "not installed")),
        ("sqlite:///x.db?timeout=long", ("x.db?timeout=long", "'long'")),
        ("sqlite:///x.db?colour=red", ("x.db?colour=red", "'colour'")),
        ("sqlite://host/x.db", ("sqlite://host/x.db", "Invalid SQLite URL")),
        ("a\0b.db", (r"'a\x00b.db'", "NUL")),
        ("a\0b.log", (r"'a\x00b.log'", "NUL")),
        ("\udcff.db", (r"'\udcff.db'", "cannot be printed")),
        ("\udcff.log", (r"'\udcff.log'", "cannot be printed")),
        ("x" * 300, ("302 characters", "File name too long")),
        ("x" * 300 + ".log", ("306 characters", "File name too long")),
        ("runs.csv/x.db", ("runs.csv",)),
        ("pipe", ("'pipe'", "regular file")),
        ("pipe.log", ("'pipe.log'", "regular file")),
        ("folder.log", ("'folder.log'", "folder")),
        ("bytes.db", ("bytes.db", "not a database", "--storage takes")),
        ("bytes.log", ("bytes.log", "not a journal")),
        ("decode.log", ("decode.log", "damaged", "UnicodeDecodeError")),
        ("json.log", ("json.log", "damaged", "JSONDecodeError")),
        ("other.log", ("other.log", "damaged", "KeyError")),
        ("number.log", ("number.log", "damaged")),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_storage_is_refused_in_one_line(
    cli: Cli, place: str, parts: tuple[str, ...]
) -> None:
    for name in ("pipe", "pipe.log"):
        os.mkfifo(name)
    Path("folder.log").mkdir()
    for name, content in {
        "bytes.db": bytes(range(256)) * 20,
        "bytes.log": bytes(range(256)) * 20,
        "decode.log": b'{"op_code":0,"x":"\xff\xfe"}\n',
        "json.log": b'{"op_code"\n{"op_code":0}\n',
        "other.log": b'{"op_code":0}\n',
        "number.log": b'{"op_code":[]}\n{"op_code":99}\n',
    }.items():
        Path(name).write_bytes(content)
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    for words in commands(place)[-5:]:
        ran = cli(*words)
        assert (ran.code, ran.err.count("\n")) == (1, 1), ran
        assert "unexpected" not in ran.err
        assert "secret" not in ran.err
    cli.refuses(*IMPORT, "--storage", place, parts=parts)
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "remedy"),
    [("unable to open database file", "who may"), ("attempt to write a readonly", "who may")],
)
def test_what_a_database_says_comes_with_a_remedy(
    imported: Cli, monkeypatch: pytest.MonkeyPatch, words: str, remedy: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError(words)  # root may read and write everything

    monkeypatch.setattr("sqlalchemy.dialects.sqlite.pysqlite.SQLiteDialect_pysqlite.connect", fails)
    imported.refuses("status", parts=("hetbo.db", words, remedy))


class Limit:
    """Files of at most some bytes, as on a full disk."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __enter__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, self._before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


@pytest.mark.parametrize(
    ("place", "sizes"),
    [("full.log", [0, 97, 290, 1100]), ("full.db", [0, 90_000])],
)
def test_an_import_on_a_full_disk_is_whole_or_made_anew(
    cli: Cli, place: str, sizes: list[int]
) -> None:
    for size in sizes:
        for path in Path().glob("full.*"):
            path.unlink()
        with Limit(size):
            cli.refuses(*IMPORT, "--storage", place, parts=(place,))
        ran = cli(*IMPORT, "--storage", place)
        assert ran.code == 0, (size, ran.err)
        assert len(Experiment.from_optuna(storage(place), "old").trials) == 6


def killed_after(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: list[str], *, step: str, calls: int
) -> None:
    """Run a command that stops after some calls of a step, and cannot delete what it made."""
    owner = optuna.study.Study if hasattr(optuna.study.Study, step) else database_rows
    whole, done = getattr(owner, step), list[int]()

    def stops(*arguments: object) -> object:
        done.append(1)
        if len(done) > calls:
            raise KeyboardInterrupt
        return whole(*arguments)

    def cannot(**_: object) -> None:
        raise OSError(28, "No space left on device") if done else KeyError

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, stops)
        patch.setattr("hetbo.integrations.optuna._unfinished_studies.delete_study", cannot)
        assert cli(*words).code == 130


@pytest.mark.parametrize(
    ("place", "step", "calls"),
    [
        ("hetbo.log", "add_trial", 4),
        ("hetbo.db", "_values", 0),  # within the transaction
        ("hetbo.log", "set_user_attr", 1),
        ("hetbo.db", "set_user_attr", 1),
    ],
)
def test_a_study_that_was_not_written_whole_is_no_source_and_is_written_anew(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, place: str, step: str, calls: int
) -> None:
    here = ("--storage", place)
    killed_after(cli, monkeypatch, [*IMPORT, *here], step=step, calls=calls)
    parts = ("'old'", "not written to the end", "same name", "'hetbo import'")
    cli.refuses("diff", "--target", "space.toml", "--source", "old", *here, parts=parts)
    cli.refuses(*INIT, *here, parts=parts)
    cli.refuses("ask", "--study", "old", *here, parts=parts)
    ran = cli(*IMPORT, *here)
    assert ran.code == 0
    assert "note: the study 'old' had not been written to the end and is written anew" in ran.err
    assert len(Experiment.from_optuna(storage(place), "old").trials) == 6
    cli.refuses(*IMPORT, *here, parts=("already",))


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_target_that_was_not_written_whole_is_none_and_is_set_up_anew(
    imported: Cli, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    cli = imported
    monkeypatch.setattr("hetbo.integrations.optuna._unfinished_studies._SECONDS_TO_BEGIN", 0.01)
    killed_after(cli, monkeypatch, INIT, step="set_user_attr", calls=calls)
    assert cli("ask", "--study", "new").code == 1
    cli.works(*INIT[:2], "--study", "other", *INIT[4:])
    assert "'other'" in cli.works("status")  # the one study that can be tuned
    cli.works(*INIT)
    assert "'new'" in cli.works("status", "--study", "new")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_study_that_is_not_written_whole_is_deleted_again(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def cut_off(*_: object) -> None:
        raise error

    monkeypatch.setattr(optuna.study.Study, "add_trial", cut_off)
    monkeypatch.setattr(database_rows, "_attributes", cut_off)
    for place in ("hetbo.db", "hetbo.log"):
        code = cli(*IMPORT, "--storage", place).code
        assert code == (130 if error is KeyboardInterrupt else 1)
        assert optuna.get_all_study_names(storage(place)) == []


def test_a_study_that_another_process_is_writing_stays(cli: Cli) -> None:
    host, _, began = processes.process_token().rsplit(" ", 2)
    code = "import os; print(os.getpid())"
    gone = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    study = optuna.create_study(study_name="old", storage="sqlite:///hetbo.db")
    # The number of a process that runs; elsewhere; of one that had that number before; of none.
    tokens = [f"{host} 1 {processes._began(1)}", "elsewhere 1 1", f"{host} 1 before"]
    tokens += [f"{host} {gone.stdout.strip()} {began}"]
    for token in tokens[:2]:
        study.set_user_attr(EXPERIMENT, {"written by": token})
        cli.refuses(*IMPORT, parts=("'old'", "another process", token, "optuna delete-study"))
    for token in tokens[2:]:
        study.set_user_attr(EXPERIMENT, {"written by": token})
        cli.works(*IMPORT)
        study = optuna.load_study(study_name="old", storage="sqlite:///hetbo.db")
        assert len(study.trials) == 6


def test_a_study_with_nothing_in_it_is_written(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetbo.integrations.optuna._unfinished_studies._SECONDS_TO_BEGIN", 0.01)
    optuna.create_study(study_name="old", storage="sqlite:///hetbo.db", direction="maximize")
    cli.works(*IMPORT)
    assert Experiment.from_optuna("sqlite:///hetbo.db", "old").goal == "minimize"


@pytest.mark.parametrize("rest", [b"{", b'{"op_code":4,"study_id":0,"datetime', b"x" * 200_000])
def test_half_a_line_at_the_end_of_a_journal_is_cut_off(cli: Cli, rest: bytes) -> None:
    here = ("--storage", "hetbo.log")
    cli.works(*IMPORT, *here)
    whole = Path("hetbo.log").read_bytes()
    Path("hetbo.log").write_bytes(whole + rest)
    cli.works("diff", "--target", "space.toml", "--source", "old", *here)
    ran = cli(*INIT, *here)
    assert ran.code == 0
    assert f"note: hetbo.log: the last line was incomplete ({len(rest)} bytes)" in ran.err
    assert Path("hetbo.log").read_bytes().startswith(whole + b'{"op_code":0')
    cli.works("ask", *here)
    assert "Waiting for a value" in cli.works("status", *here)


def test_a_first_line_that_was_cut_off_is_no_obstacle(cli: Cli) -> None:
    Path("hetbo.log").write_bytes(b'{"op_c')
    cli.works(*IMPORT, "--storage", "hetbo.log")
    assert len(Experiment.from_optuna(storage("hetbo.log"), "old").trials) == 6


def test_a_line_that_another_process_is_writing_is_waited_for(cli: Cli) -> None:
    here = ("--storage", "hetbo.log")
    cli.works(*IMPORT, *here)
    other = JournalStorage(JournalFileBackend("other.log"))
    optuna.create_study(study_name="theirs", storage=other)
    line = Path("other.log").read_bytes()
    lock = JournalFileSymlinkLock("hetbo.log")
    lock.acquire()
    with Path("hetbo.log").open("ab", buffering=0) as stream:
        stream.write(line[:30])

        def finish() -> None:
            time.sleep(0.3)
            stream.write(line[30:])
            lock.release()

        writer = threading.Thread(target=finish)
        writer.start()
        ran = cli(*INIT, *here)
        writer.join()
    assert (ran.code, ran.err) == (0, "")
    assert set(optuna.get_all_study_names(storage("hetbo.log"))) == {"old", "theirs", "new"}
