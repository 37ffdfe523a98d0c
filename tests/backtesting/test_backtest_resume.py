import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hetbo as hb
from backtesting.olds import hills
from helpers import refused
from hetbo.backtesting._replay import Job, Replay
from hetbo.backtesting._store import ReplayFile

RUN = """
import sys, hetbo as hb
from backtesting.olds import hills
from hetbo.backtesting import _plan
_plan.WITHOUT_REPEATS = 3
if __name__ == "__main__":
    hb.backtest(hills(2, trials=8), repeats=1, workers=int(sys.argv[2]), results=sys.argv[1])
"""


TESTS = str(Path(__file__).parents[1])
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]),
}


class Stopped(Exception):  # noqa: N818  # no error
    pass


def run(path: Path | None, *, stop_after: int | None = None) -> tuple[hb.Backtest | None, int]:
    """Return a small backtest, or None if it was stopped; and how many replays it made."""
    made: list[int] = []

    def note(done: int, total: int) -> None:
        del total
        made.append(done)
        if stop_after is not None and len(made) > stop_after:
            raise Stopped

    try:
        result = hb.backtest(hills(2, trials=8), repeats=1, results=path, progress=note)
    except Stopped:
        return None, len(made) - 1
    return result, len(made) - 1


def is_gone(group: int) -> bool:
    """Return whether no process of a group is left; wait a little if there is one."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    time.sleep(0.1)
    return False


@pytest.mark.usefixtures("few")
def test_an_interrupted_backtest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "replays.jsonl"
    expected, total = run(None)
    assert run(path, stop_after=3) == (None, 3)
    assert run(path, stop_after=2) == (None, 2)
    assert run(path) == (expected, total - 5)
    assert run(path) == (expected, 0)


@pytest.mark.usefixtures("few")
def test_damaged_lines_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "replays.jsonl"
    expected, total = run(path)
    header, *lines = path.read_text("utf-8").splitlines()
    assert len(lines) == total
    lines[1] = lines[1][:20]
    lines[2] = lines[2].replace('"needed": ', '"needed": "')
    lines[3] = '{"key": 3, "needed": 0, "dropped": {}}'
    path.write_text("\n".join([header, *lines, '{"key": "cut sh']), "utf-8")
    assert run(path) == (expected, 3)
    assert run(path) == (expected, 0)


@pytest.mark.parametrize("cut", ["", '{"for'])
def test_a_file_that_was_killed_at_its_first_line_is_begun_anew(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "replays.jsonl"
    path.write_text(cut, "utf-8")
    file = ReplayFile(path)
    assert file.replays == {}
    file.add("a", Replay(3, {"b": "noise"}))
    file.add("c", Replay(4, {}))
    assert ReplayFile(path).replays == {"a": Replay(3, {"b": "noise"}), "c": Replay(4, {})}


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine\n", "utf-8")
    for path, part in ((other, "no file of a backtest"), (tmp_path, "folder")):
        with refused(hb.DataError, part):
            hb.backtest(hills(2), results=path)
    with refused(hb.DataError, "its folder does not exist"):
        hb.backtest(hills(2), results=tmp_path / "no" / "replays.jsonl")
    assert other.read_text("utf-8") == "mine\n"


def test_replays_of_other_experiments_share_a_file(tmp_path: Path) -> None:
    file = ReplayFile(tmp_path / "replays.jsonl")
    one, two = hills(2, trials=6)
    jobs = [Job(one, (two,), "auto", 0, 0.05, 30), Job(two, (one,), "auto", 0, 0.05, 30)]
    for number, job in enumerate(jobs, start=1):
        file.add(job.key, Replay(number, {}))
    assert [ReplayFile(tmp_path / "replays.jsonl").replays[j.key].needed for j in jobs] == [1, 2]


@pytest.mark.long
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_backtest_goes_on_and_leaves_no_process(tmp_path: Path, workers: int) -> None:
    path, script = tmp_path / "replays.jsonl", tmp_path / "script.py"
    script.write_text(RUN, "utf-8")
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, script, path, str(workers)], start_new_session=True, env=ENVIRONMENT
    ) as process:
        while not path.exists() or path.read_bytes().count(b"\n") < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    kept = ReplayFile(path).replays
    result, made = run(path)
    expected, total = run(None)
    assert result == expected
    assert made == total - len(kept)
    assert any(is_gone(process.pid) for _ in range(200))


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    path, script = tmp_path / "replays.jsonl", tmp_path / "script.py"
    script.write_text(RUN, "utf-8")
    subprocess.run([sys.executable, script, path, "2"], check=True, env=ENVIRONMENT)  # noqa: S603  # our own code
    expected, total = run(None)
    assert len(ReplayFile(path).replays) == total
    assert run(path) == (expected, 0)
