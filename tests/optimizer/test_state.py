"""The same seed gives the same suggestions, and a saved optimizer goes on as if never stopped."""

import copy
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import refused
from hetbo import (
    Categorical,
    DataError,
    Experiment,
    Float,
    HetboError,
    Int,
    Optimizer,
    Space,
    Trial,
)

SPACE = Space(a=Float(1e-3, 1.0, log=True), b=Int(1, 9), k=Categorical("x", "y", None))


def source() -> Experiment:
    rng = np.random.default_rng(0)
    trials = [
        Trial({"a": float(a), "b": int(b)}, float((a - 0.4) ** 2 + 0.1 * b), noise=0.01)
        for a, b in zip(rng.random(8), rng.integers(1, 10, 8), strict=True)
    ]
    return Experiment(
        "old", Space(a=Float(0.0, 1.0), b=Int(1, 9)), trials, fixed={"k": "y"}, goal="minimize"
    )


def run(optimizer: Optimizer, steps: int) -> list[dict[str, Any]]:
    """Ask and tell in every way there is; return what was suggested."""
    made: list[dict[str, Any]] = []
    for step in range(steps):
        if step % 3 == 2:
            one, other = optimizer.ask(2)
            optimizer.tell_failure(one)
            made += [dict(one.params), dict(other.params)]  # the other one stays pending
            continue
        suggestion = optimizer.ask()
        made.append(dict(suggestion.params))
        a, b = float(suggestion.params["a"] or 0), float(suggestion.params["b"] or 0)
        optimizer.tell(suggestion, (a - 0.3) ** 2 + 0.1 * b)
    return made


def fresh(method: str = "auto", **options: Any) -> Optimizer:  # noqa: ANN401
    given = {"goal": "minimize", "seed": 11, "n_initial": 2, **options}
    return Optimizer(SPACE, sources=[source()], method=method, **given)


METHODS = ("auto", "random", "common", "vanilla")

ALL_RUNS = """
import json, random, sys
import numpy as np, torch
random.seed(5); np.random.seed(5); torch.manual_seed(5); torch.rand(3)
sys.path[:0] = sys.argv[1:]
from test_state import METHODS, fresh, run
print(json.dumps([run(fresh(method), 4) for method in METHODS]))
"""


def in_another_process(code: str, *arguments: str) -> str:
    result = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "123"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_same_seed_says_the_same_in_another_process() -> None:
    here = Path(__file__).parent
    printed = in_another_process(ALL_RUNS, str(here), str(here.parent))
    assert json.loads(printed) == [run(fresh(method), 4) for method in METHODS]


def test_global_generators_are_neither_used_nor_touched() -> None:
    runs = []
    for seed in (0, 1):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # the global generator is what this is about
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            before = (random.getstate(), torch.get_rng_state().tolist())
            numpys = np.random.get_state(legacy=False)  # noqa: NPY002
            optimizer = fresh()
            runs.append(run(optimizer, 3))
            optimizer.explain()
            assert (random.getstate(), torch.get_rng_state().tolist()) == before
            assert str(np.random.get_state(legacy=False)) == str(numpys)  # noqa: NPY002
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", ["auto", "conditional", "random"])
def test_a_loaded_optimizer_goes_on_as_the_uninterrupted_one(method: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    straight, stopped = fresh(method), fresh(method)
    assert run(straight, 3) == run(stopped, 3)
    stopped.save(path)
    loaded = Optimizer.load(path)
    assert loaded.to_json() == stopped.to_json()
    assert loaded.trials == straight.trials
    assert run(loaded, 3) == run(straight, 3)
    assert loaded.best == straight.best
    assert loaded.explain().sentence == straight.explain().sentence


def test_an_interrupted_ask_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    straight, stopped = fresh("learned-imputation"), fresh("learned-imputation")
    assert run(straight, 2) == run(stopped, 2)
    before = stopped.to_json()
    with monkeypatch.context() as patched:

        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patched.setattr("hetbo.methods._engine.maximize", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stopped.ask()
    assert stopped.to_json() == before
    assert run(stopped, 2) == run(straight, 2)


def test_everything_is_stored(tmp_path: Path) -> None:
    pool = [{"a": 0.1, "b": b, "k": k} for b in (1, 2, 3) for k in ("x", None)]
    space = Space(a=Float(0.0, 1.0), z=Float(0.0, 1.0))
    extra = Experiment("extra", space, [Trial({"a": 0.5, "z": 0.1}, 1.0)], goal="minimize")
    optimizer = Optimizer(
        SPACE,
        sources=[source(), extra],
        goal="minimize",
        method="learned-imputation",
        seed=2**40,
        n_initial=7,
        candidates=pool,
        fixed={"z": 0.5},
    )
    optimizer.tell({"a": 0.2, "b": 1, "k": None}, 1.0, noise=0.2)
    optimizer.tell_failure({"a": 0.2, "b": 2, "k": "x"})
    optimizer.ask()
    path = tmp_path / "state.json"
    optimizer.save(path)
    loaded = Optimizer.load(path)
    assert loaded.to_json() == optimizer.to_json()
    assert loaded.trials == optimizer.trials
    assert loaded.ask(2) == optimizer.ask(2)
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert (stored["format"], stored["version"]) == ("hetbo-optimizer", 1)


def places(data: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Yield where the parts of JSON data stand: of a list the first two."""
    yield place
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(min(len(data), 2)):
            yield from places(data[key], (*place, key))


WRONG: tuple[object, ...] = (
    None, True, -1, 2**70, 1.5, math.nan, math.inf, "x", "", [], {}, [None], {"x": None}
)  # fmt: skip


def test_a_damaged_file_is_refused_or_harmless() -> None:
    """Whatever stands in one place of a saved state: an error of ours, or an optimizer that asks.

    Asking takes long, so it is tried only where a model would be handed what stands there.
    """
    tuner = fresh(candidates=[{"a": 0.1, "b": 1, "k": "x"}, {"a": 0.9, "b": 2, "k": None}])
    tuner.tell(tuner.ask(), 1.0, noise=0.1)
    good = tuner.to_json()
    messages = []
    for place in places(good):
        for wrong in WRONG if place else ():
            data = copy.deepcopy(good)
            part: Any = data
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = wrong
            try:
                loaded = Optimizer.from_json(data)
                if place[0] == "warm_starts" and len(place) > 2:
                    loaded.ask()
            except HetboError as error:
                messages.append(str(error))
    assert len(messages) > 500
    assert not any("\n" in message for message in messages)


KILLED_WHILE_SAVING = """
import os, random, signal, sys, time
from hetbo import Float, Optimizer, Space
path, whole = sys.argv[1], 0
optimizer = Optimizer(Space(a=Float(0.0, 1.0)), goal="minimize", method="random", seed=0)
for number in range(1000):
    optimizer.tell({"a": number / 1000}, float(number))
optimizer.save(path)
for kill in range(20):
    child = os.fork()
    if child == 0:
        while True:
            optimizer.save(path)
    time.sleep(random.Random(kill).uniform(0.01, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    whole += len(Optimizer.load(path).trials) == 1000
optimizer.save(path)
print(whole)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_during_save_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    assert in_another_process(KILLED_WHILE_SAVING, str(path)) == "20\n"
    assert len(Optimizer.load(path).trials) == 1000


def test_a_save_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    optimizer = Optimizer(SPACE, seed=0, goal="minimize")
    optimizer.save(path)
    old = path.read_bytes()
    optimizer.tell({"a": 0.5, "b": 1, "k": "x"}, 1.0)
    with pytest.raises(FileNotFoundError):
        optimizer.save(tmp_path / "nowhere" / "state.json")
    assert path.read_bytes() == old


def changed(**changes: object) -> str:
    return json.dumps({**Optimizer(SPACE, seed=0, goal="minimize").to_json(), **changes})


def without(key: str) -> str:
    data = Optimizer(SPACE, seed=0, goal="minimize").to_json()
    del data[key]
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON file"),
        ('{"format": "hetbo-opti', "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("[1, 2]", "not a hetbo optimizer"),
        (json.dumps(source().to_json()), "not a hetbo optimizer"),
        (changed(version=2), "version 1 of its files, not 2"),
        (changed(version=None), "not None"),
        (changed(method="magic"), "method='magic'"),
        (changed(space=[]), "at least one parameter"),
        (changed(seed="1"), "seed='1'"),
        (changed(asks=-1), "asks=-1"),
        (changed(goal=None), "goal=None"),
        (changed(sources=[source().to_json()] * 2), "two experiments are called 'old'"),
        (changed(sources=None), "damaged"),
        (changed(warm_starts=[]), "damaged"),
        (changed(warm_starts={"vanilla": 3}), "damaged"),
        (changed(trials=[{"params": {"a": 0.5}, "state": "pending"}]), "'b'"),
        (changed(trials=[3]), "does not describe a trial"),
        (without("space"), "space"),
        (without("asks"), "asks"),
    ],
)
def test_other_files_are_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with refused(DataError, "other.json", message):
        Optimizer.load(path)


def test_files_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    with refused(DataError, "missing.json"):
        Optimizer.load(tmp_path / "missing.json")
    with refused(DataError, str(tmp_path)):
        Optimizer.load(tmp_path)
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with refused(DataError, "binary.json"):
        Optimizer.load(binary)
