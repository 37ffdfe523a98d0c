"""A process is killed before each of the calls with which it changes a file."""

import json
import random
import shutil
import subprocess
import time
from functools import partial
from itertools import count
from pathlib import Path

from optuna.trial import TrialState

from hetbo import Float, Int, Optimizer, Space
from soak.children import Child, Gate, Ran, check_manners, command, hetbo, works
from soak.faults import expect
from soak.studies import FILES, check_nothing_left, remove_locks, study_in, trials_in

SYSCALLS = (
    *("write", "pwrite64", "fsync", "fdatasync", "openat", "close", "ftruncate", "flock", "fcntl"),
    *("rename,renameat,renameat2", "unlink,unlinkat", "symlink,symlinkat", "chmod,fchmod,fchmodat"),
)
_MANY = frozenset({"openat", "close", "pwrite64"})
_STRIDE = 8
"""Of calls that are many, one of so many is tried in one run."""
_MOST = 400


def run(rng: random.Random, folder: Path) -> None:
    """Kill `Optimizer.save` or `hetbo tell` before each call of one kind."""
    attack = Save(folder) if rng.random() < 1 / 3 else Tell(folder, rng.choice(FILES))
    calls = rng.choice(SYSCALLS)
    traced = may_trace()
    first, step = rng.randint(1, _STRIDE), _STRIDE
    if traced and calls not in _MANY:
        first, step = 1, 1
    for number in count(first, step):
        child = attack.start()
        ran = killed_before(child, calls, number) if traced else killed_at(child, number)
        remove_locks(folder)
        attack.check(ran)
        if not ran.killed:
            return
        expect(number < _MOST, "stuck", f"it goes on after {number} calls of {calls}")


def killed_before(child: Child, calls: str, number: int) -> Ran:
    """Let strace kill a process before one of its system calls, counted from its gate on."""
    options = ["-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={number}"]
    tracer = subprocess.Popen(
        ["strace", "-f", "-qq", *options, "-p", str(child.pid)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    status = Path(f"/proc/{child.pid}/status")
    until = time.monotonic() + 20
    while "TracerPid:\t0\n" in status.read_text() and time.monotonic() < until:
        time.sleep(0.002)
    expect("TracerPid:\t0\n" not in status.read_text(), "wrong", "strace did not attach")
    child.go()
    ran = child.finish()
    tracer.wait(20)
    return ran


def killed_at(child: Child, number: int) -> Ran:
    """Let a process kill itself before one of the calls that can change a file."""
    child.go(kill_at=number)
    return child.finish()


class Save:
    """`Optimizer.save` over the state from before: one of both is there, whole."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "state.json"
        space = Space(x=Float(0.0, 1.0), k=Int(1, 1000))
        self._optimizer = Optimizer(space, goal="minimize", method="random", seed=0)
        for number in range(300):
            self._optimizer.tell({"x": number / 300, "k": 1}, float(number))
        self._optimizer.save(self._path)

    def start(self) -> Child:
        return Child(partial(_save_with_one_more, self._path), self._folder, what="Optimizer.save")

    def check(self, ran: Ran) -> None:
        expect(ran.code == 0 or ran.killed, "wrong", f"it should have worked: {ran}")
        before, after = len(self._optimizer.trials), len(Optimizer.load(self._path).trials)
        expect(after - before in ({0, 1} if ran.killed else {1}), "lost", f"{after} trials")
        known = self._optimizer.to_json()["trials"]
        stored = json.loads(self._path.read_text(encoding="utf-8"))["trials"]
        expect(stored[:before] == known, "wrong", "other trials than before are stored")
        self._optimizer.save(self._path)
        check_nothing_left(self._folder)


class Tell:
    """`hetbo tell`: the value is stored or not, and what it printed agrees."""

    def __init__(self, folder: Path, place: str) -> None:
        self._folder, self._place = folder, place
        self._named = study_in(folder, place)
        self._number = -1

    def start(self) -> Child:
        works(self._folder, "ask", *self._named)
        self._number += 1
        return command(self._folder, "tell", str(self._number), "0.25", *self._named)

    def check(self, ran: Ran) -> None:
        if not ran.killed:
            check_manners(ran)
        said = f"Trial {self._number}: " in ran.out
        expect(said or ran.killed, "wrong", f"it did not say that it was stored: {ran}")
        stored = self._stored()
        expect(stored or not said, "lost", f"it said that it was stored: {ran}")
        again = hetbo(self._folder, "tell", str(self._number), "0.25", *self._named)
        expect(stored == (again.code == 1), "wrong", f"stored before: {stored}, now: {again}")
        expect(self._stored(), "lost", f"it is not stored after {again}")
        expect(
            not stored or "0.25" in again.err, "wrong", f"it does not say what is stored: {again}"
        )
        check_nothing_left(self._folder)

    def _stored(self) -> bool:
        trial = trials_in(self._folder / self._place)[self._number]
        if trial.state is TrialState.COMPLETE:
            expect(trial.value == 0.25, "wrong", f"another value: {trial}")
            return True
        expect(trial.state is TrialState.RUNNING, "wrong", f"another state: {trial}")
        return False


def may_trace() -> bool:
    """Return whether this machine has strace and lets it look at processes."""
    if shutil.which("strace") is None:
        return False
    looks = ["strace", "-qq", "-e", "trace=none", "true"]
    return subprocess.run(looks, check=False, capture_output=True).returncode == 0


def _save_with_one_more(path: Path, gate: Gate) -> int:
    optimizer = Optimizer.load(path)
    optimizer.tell({"x": 0.5, "k": 2}, float(len(optimizer.trials)))
    gate()
    optimizer.save(path)
    return 0
