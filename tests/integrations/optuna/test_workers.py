"""Four processes on one study, one of them killed in the middle, on real storages.

The workers run `examples/optuna_workers.py`.
"""

import multiprocessing
import re
import runpy
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study, create_study
from optuna.trial import TrialState

import hetbo as hb
from postgresql_server import postgresql

EXAMPLE = Path(__file__).parents[3] / "examples" / "optuna_workers.py"
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
    with postgresql() as server, database(server.url) as storage:
        check_workers(storage, server.url, tmp_path)
        with warnings.catch_warnings():
            # The worker that was killed may not have had all parameters of its trial yet.
            warnings.simplefilter("ignore", hb.DataWarning)
            read = hb.Experiment.from_optuna(server.url, "s", name="größe")
        assert len(read.complete) >= TRIALS
        read.to_optuna(storage, study_name="copy")
        assert hb.Experiment.from_optuna(server.url, "copy") == read


def check_workers(storage: BaseStorage, place: str, logs: Path) -> None:
    """Run the workers, kill one, and check that the study is as it should be."""
    study = create_study(study_name="s", storage=storage)
    outputs = [logs / f"worker-{number}.txt" for number in range(WORKERS)]
    workers = [start_worker(place, output) for output in outputs]
    try:
        wait_until(lambda: bool(told(outputs[0])) and is_busy(study), workers)
        workers[0].kill()
        for worker in workers[1:]:
            worker.join(PATIENCE)
            assert worker.exitcode == 0, outputs
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
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


def start_worker(place: str, output: Path) -> BaseProcess:
    """Start a process of its own, forked from one that has loaded PyTorch for all of them."""
    output.touch()
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["hetbo.optuna"])
    worker = processes.Process(target=run_example, args=(place, str(output)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        worker.start()
    return worker


def run_example(place: str, output: str) -> None:
    sys.argv = [str(EXAMPLE), "--storage", place, "--study", "s"]
    sys.argv += ["--trials", str(TRIALS), "--seconds", "0.3"]
    with Path(output).open("w") as sys.stdout:
        sys.stderr = sys.stdout
        runpy.run_path(str(EXAMPLE), run_name="__main__")


def told(output: Path) -> dict[int, float]:
    """Return the values that a worker has reported, by the numbers of the trials."""
    lines = re.findall(r"^trial (\d+): COMPLETE (\S+)$", output.read_text(), re.MULTILINE)
    return {int(number): float(value) for number, value in lines}


def is_busy(study: Study) -> bool:
    return len(study.get_trials(states=(TrialState.RUNNING,))) >= WORKERS - 1


def wait_until(condition: Callable[[], bool], workers: list[BaseProcess]) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "the workers do not get to work"
        assert all(worker.is_alive() for worker in workers), "a worker ended too early"
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
