"""Disks with less and less room: what is written there is whole or not there."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from optuna.trial import TrialState

from hetbo import Experiment, Float, HetboError, Optimizer, Space
from soak.children import hetbo, works
from soak.faults import expect
from soak.inputs import RUNS
from soak.studies import FILES, SPACE, opened, remove_locks, trials_in

_MEGABYTE = 2**20
_SIZE = 8 * _MEGABYTE


def run(rng: random.Random, folder: Path) -> None:
    """Do each step with little room, then again with enough."""
    (folder / "disk").mkdir()
    with _small_disk(folder / "disk") as disk:
        (disk / "runs.csv").write_text(RUNS, encoding="utf-8")
        (disk / "space.toml").write_text(SPACE, encoding="utf-8")
        place = rng.choice(FILES)
        here = ("--storage", place)
        named = ("--study", "s", *here)
        old = ("import", "runs.csv", "--study", "old", "--value", "loss", "--goal", "minimize")
        _step(rng, disk, *old, *here)
        _check_import(disk / place)
        _step(rng, disk, "init", "space.toml", "--source", "old", "--method", "random", *named)
        for number in range(2):
            _step(rng, disk, "ask", *named)
            _check_asked(disk, place, named)
            _tell(rng, disk, place, number, named)
        _step(rng, disk, "report", "-o", "report.html", *named)
        end = (disk / "report.html").read_text(encoding="utf-8").rstrip()[-7:]
        expect(end == "</html>", "lost", f"a report that ends with {end!r}")
        _save(rng, disk)


def _step(rng: random.Random, disk: Path, *words: str) -> None:
    with _full(rng, disk):
        refused = hetbo(disk, *words).code != 0
    remove_locks(disk)
    if refused:
        works(disk, *words)


def _tell(rng: random.Random, disk: Path, place: str, number: int, named: tuple[str, ...]) -> None:
    with _full(rng, disk):
        ran = hetbo(disk, "tell", str(number), "0.25", *named)
    remove_locks(disk)
    stored = trials_in(disk / place)[number].value
    expect(stored in {None, 0.25}, "wrong", f"{stored} is stored: {ran}")
    expect((stored is not None) == (ran.code == 0), "wrong", f"{stored} is stored: {ran}")
    if stored is None:
        works(disk, "tell", str(number), "0.25", *named)
    expect(trials_in(disk / place)[number].value == 0.25, "lost", f"trial {number} has no value")


def _check_import(path: Path) -> None:
    with opened(str(path)) as storage:
        read = Experiment.from_optuna(storage, "old")
    count = len(read.trials)
    expect(count == RUNS.count("\n") - 1, "lost", f"{count} of {RUNS!r} were imported")


def _check_asked(disk: Path, place: str, named: tuple[str, ...]) -> None:
    """Check that each open trial is shown, so that none is lost."""
    shown = works(disk, "status", *named).out
    for trial in trials_in(disk / place):
        if trial.state is TrialState.RUNNING and trial.params:
            expect(str(trial.number) in shown, "lost", f"{trial.number} is not shown: {shown}")


def _save(rng: random.Random, disk: Path) -> None:
    path = disk / "state.json"
    optimizer = Optimizer(Space(x=Float(0.0, 1.0)), goal="minimize", method="random", seed=0)
    optimizer.save(path)
    known = 0
    for number in range(200):
        optimizer.tell({"x": number / 200}, float(number))
    with _full(rng, disk):
        try:
            optimizer.save(path)
            known = 200
        except (OSError, HetboError) as error:
            expect(len(str(error).splitlines()) == 1, "wrong", f"not one line: {error}")
        found = len(Optimizer.load(path).trials)
        expect(found == known, "lost", f"{found} trials are saved, not {known}")
    optimizer.save(path)
    left = [path.name for path in disk.iterdir() if path.suffix == ".tmp"]
    expect(not left, "wrong", f"temporary files are left: {left}")


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("small disks need Linux and its superuser")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "hetbo-soak", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def _full(rng: random.Random, disk: Path) -> Iterator[None]:
    """Fill a disk but for some bytes, which are few as often as many."""
    room = int(rng.choice([0, 2 ** rng.uniform(10, 19)]))
    ballast = disk / "ballast"
    found = os.statvfs(disk)
    size = max(0, found.f_bavail * found.f_frsize - room)
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, size))
    try:
        yield
    finally:
        ballast.unlink()
