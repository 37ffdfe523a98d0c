"""Four processes on one study, one of them killed in the middle, on real storages.

The workers run `examples/optuna_workers.py`.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study, create_study
from optuna.trial import TrialState

import hetbo as hb

EXAMPLE = Path(__file__).parents[2] / "examples" / "optuna_workers.py"
WORKERS, TRIALS, PATIENCE = 4, 8, 120.0


@pytest.mark.long
def test_workers_on_sqlite(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with database(url) as storage:
        check_workers(storage, url, tmp_path)


@pytest.mark.long
def test_workers_on_a_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "study.log")
    check_workers(JournalStorage(JournalFileBackend(path)), path, tmp_path)


@pytest.mark.long
def test_workers_on_postgresql(tmp_path: Path) -> None:
    with postgresql() as url, database(url) as storage:
        check_workers(storage, url, tmp_path)
        with warnings.catch_warnings():
            # The worker that was killed may not have had all parameters of its trial yet.
            warnings.simplefilter("ignore", hb.DataWarning)
            read = hb.Experiment.from_optuna(url, "s", name="größe")
        assert len(read.complete) >= TRIALS
        read.to_optuna(storage, study_name="copy")
        assert hb.Experiment.from_optuna(url, "copy") == read


def check_workers(storage: BaseStorage, place: str, logs: Path) -> None:
    """Run the workers, kill one, and check that the study is as it should be."""
    study = create_study(study_name="s", storage=storage)
    outputs = [logs / f"worker-{number}.txt" for number in range(WORKERS)]
    workers = [start_worker(place, output) for output in outputs]
    try:
        wait_until(lambda: bool(told(outputs[0])) and is_busy(study), workers)
        workers[0].send_signal(signal.SIGKILL)
        for worker in workers[1:]:
            assert worker.wait(PATIENCE) == 0, outputs
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    trials = study.get_trials()
    states = Counter(trial.state for trial in trials)
    assert TRIALS <= states[TrialState.COMPLETE] < TRIALS + WORKERS
    assert states[TrialState.RUNNING] <= 1
    assert states.total() == states[TrialState.COMPLETE] + states[TrialState.RUNNING]
    stored = {trial.number: trial.value for trial in trials if trial.state.is_finished()}
    reported = [told(output) for output in outputs]
    assert {n: v for one in reported for n, v in one.items()}.items() <= stored.items()
    assert sum(map(len, reported)) in {len(stored), len(stored) - 1}  # told, killed, not reported
    assert all(map(len, reported))
    tried = Counter(repr(sorted(trial.params.items())) for trial in trials if trial.params)
    assert max(tried.values()) == 1
    numbers = [trial.number for trial in trials]
    assert numbers == [*range(len(trials))]


def start_worker(place: str, output: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, str(EXAMPLE), "--storage", place, "--study", "s"]
    command += ["--trials", str(TRIALS), "--seconds", "0.3"]
    with output.open("wb") as stream:
        return subprocess.Popen(  # noqa: S603  # our own example
            command,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def told(output: Path) -> dict[int, float]:
    """Return the values that a worker has reported, by the numbers of the trials."""
    lines = re.findall(r"^trial (\d+): COMPLETE (\S+)$", output.read_text(), re.MULTILINE)
    return {int(number): float(value) for number, value in lines}


def is_busy(study: Study) -> bool:
    return len(study.get_trials(states=(TrialState.RUNNING,))) >= WORKERS - 1


def wait_until(condition: Callable[[], bool], workers: "list[subprocess.Popen[bytes]]") -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "the workers do not get to work"
        assert all(worker.poll() is None for worker in workers), "a worker ended too early"
        time.sleep(0.02)


@contextmanager
def database(url: str) -> Iterator[RDBStorage]:
    """Open a database, and close its connections in the end."""
    storage = RDBStorage(url)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a PostgreSQL server of our own on loopback, and yield its URL."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    place = Path(found).parent if found else programs[-1] if programs else None
    if place is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="no PostgreSQL driver: pip install 'psycopg[binary]'")
    with tempfile.TemporaryDirectory(prefix="hetbo-postgresql-") as folder:
        # PostgreSQL refuses to run as root.
        user = "postgres" if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
        data, log = f"{folder}/data", f"{folder}/log"

        def run(program: str, *options: str) -> None:
            subprocess.run(  # noqa: S603  # our own server
                [str(place / program), "-D", data, *options],
                check=True,
                user=user,
                cwd=folder,
                stdout=subprocess.DEVNULL,
                timeout=PATIENCE,
            )

        run("initdb", "-A", "trust", "-U", "postgres", "--no-sync")
        port = free_port()
        settings = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        run("pg_ctl", "-w", "-l", log, "-o", settings, "start")
        try:
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
