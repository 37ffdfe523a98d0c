"""Studies to attack, and what is in them afterwards."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from soak.children import works
from soak.faults import expect

FILES = ("study.db", "study.log")
SPACE = """goal = "minimize"
value = "loss"
[parameters]
x = { low = 0.0, high = 1.0 }
k = { low = 1, high = 1000 }
"""
OBJECTIVE = """
import json, os, random, time
from pathlib import Path

def loss(x, k):
    name = f"{time.monotonic_ns()}-{os.getpid()}"
    Path("begun", name).write_text(json.dumps([x, k]))
    time.sleep(random.uniform(0.0, float(os.environ.get("SOAK_SECONDS", "0.1"))))
    value = (x - 0.3) ** 2 + k
    Path("ended", f".{name}").write_text(json.dumps([x, k, value]))
    Path("ended", f".{name}").replace(Path("ended", name))
    return value
"""
"""It writes what it returns into a file of its own first."""


def study_in(folder: Path, place: str, *more: str) -> tuple[str, ...]:
    """Make a study to tune; return the options that name it."""
    (folder / "space.toml").write_text(SPACE, encoding="utf-8")
    (folder / "objective.py").write_text(OBJECTIVE, encoding="utf-8")
    for name in ("begun", "ended"):
        (folder / name).mkdir(exist_ok=True)
    named = ("--study", "s", "--storage", place)
    works(folder, "init", "space.toml", "--method", "random", *named, *more)
    return named


def trials_in(place: str | Path) -> list[FrozenTrial]:
    """Return the trials of a study as Optuna reads them."""
    with opened(str(place)) as storage:
        return storage.get_all_trials(storage.get_study_id_from_name("s"))


def begun(folder: Path) -> Counter[str]:
    """Return how often each set of parameters was evaluated."""
    return Counter(path.read_text() for path in (folder / "begun").iterdir())


def remove_locks(folder: Path) -> None:
    """Remove a dead process's lock of a journal, which Optuna would take after 30 seconds."""
    for lock in folder.glob("*.lock"):
        lock.unlink()


def check_outcomes(folder: Path, trials: list[FrozenTrial], total: int, *, may_fail: int) -> None:
    """Check that each trial has the one value that the function returned.

    Args:
        folder: Where the function ran.
        trials: What is stored.
        total: How many trials there should be.
        may_fail: How many of them can have failed, since their worker was killed.
    """
    waiting = [trial.number for trial in trials if not trial.state.is_finished()]
    expect(not waiting, "stuck", f"open trials: {waiting}")
    # A process that was stopped while it chose parameters leaves a trial without all of them.
    trials = [trial for trial in trials if trial.params.keys() >= {"x", "k"}]
    states = Counter(trial.state for trial in trials)
    failed = states[TrialState.FAIL]
    expect(states.total() == total, "wrong", f"{total} trials were wanted: {states}")
    expect(failed <= may_fail, "lost", f"{failed} trials failed, {may_fail} workers were killed")
    stored = {_key(trial.params): trial.value for trial in trials}
    missing = 0
    for path in (folder / "ended").glob("[!.]*"):
        x, k, value = json.loads(path.read_text())
        found = stored.get(_key({"x": x, "k": k}), "nothing")
        expect(found in {value, None}, "lost", f"{value} of x={x}, k={k}: {found} is stored")
        missing += found is None
    expect(missing <= failed, "lost", f"{missing} values are stored as {failed} failures")
    for trial in trials:
        if trial.state is TrialState.COMPLETE:
            x, k = trial.params["x"], trial.params["k"]
            expect(trial.values == [(x - 0.3) ** 2 + k], "wrong", f"another value: {trial}")


def check_nothing_left(folder: Path) -> None:
    """Check that no temporary file of hetbo's is left, and no value that was to be stored."""
    left = [str(path) for pattern in ("**/*.tmp", "**/*.untold-*") for path in folder.glob(pattern)]
    expect(not left, "wrong", f"files that nobody needs: {left}")


def moment(rng: random.Random, longest: float) -> float:
    """Return after how many seconds to strike: early moments are as interesting as late ones."""
    return longest * rng.random() ** 2


def _key(params: Mapping[str, object]) -> tuple[object, object]:
    return params["x"], params["k"]


@contextmanager
def opened(place: str) -> Iterator[BaseStorage]:
    """Open a storage as Optuna does, and close it in the end."""
    if place.endswith(".log"):
        yield JournalStorage(JournalFileBackend(place))
        return
    database = RDBStorage(place if "://" in place else f"sqlite:///{place}")
    try:
        yield database
    finally:
        database.remove_session()
        database.engine.dispose()
