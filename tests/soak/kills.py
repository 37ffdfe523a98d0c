"""`hetbo tune` is killed again and again, with its workers, alone, or one of its workers."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

from soak.children import check_manners, command
from soak.studies import (
    FILES,
    check_nothing_left,
    check_outcomes,
    moment,
    remove_locks,
    study_in,
    trials_in,
)

TRIALS = 8


def run(rng: random.Random, folder: Path) -> None:
    """Kill a run of `hetbo tune` at random moments, then let it end."""
    place = rng.choice(FILES)
    named = study_in(folder, place)
    words = ("tune", "objective:loss", "--trials", str(TRIALS), "--workers", "2", *named)
    workers_killed = 0
    for _ in range(rng.randint(1, 3)):
        tune = command(folder, *words, environment={"SOAK_SECONDS": "0.6"})
        tune.go()
        time.sleep(moment(rng, 3.0))
        match rng.choice(["all", "parent", "worker"]):
            case "worker":
                workers_killed += _kill_worker(rng, tune.pid)
                ran = tune.finish()
            case whom:
                tune.kill(group=whom == "all")
                ran = tune.finish()
        if not ran.killed:
            check_manners(ran)
        remove_locks(folder)
    last = command(folder, *words)
    last.go()
    check_manners(last.finish())
    check_outcomes(folder, trials_in(folder / place), TRIALS, may_fail=workers_killed)
    check_nothing_left(folder)


def _kill_worker(rng: random.Random, parent: int) -> int:
    """Kill one of the processes that a process has started; return how many were."""
    workers = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            command_line = (path.parent / "cmdline").read_bytes()
            if int(fields[1]) == parent and b"resource_tracker" not in command_line:
                workers.append(int(path.parent.name))
    for worker in rng.sample(workers, min(1, len(workers))):
        os.kill(worker, signal.SIGKILL)
        return 1
    return 0
