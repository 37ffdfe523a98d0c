"""Everything that users see, in one file: to show that a change of shape changes nothing else.

usage: script/bench record FILE.json          records, or goes on with what is there
       script/bench record FILE.json OTHER.json   compares two recordings

Ten problems of different kinds, three seeds, every method: what is suggested, what `explain()` says
and the report's checksum; and what each command prints in one session of the command line.
Recordings agree to the last digit on one machine only.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hetbo as hb
from hetbo.methods import METHODS
from hetbo.report import report_html
from hetbo_bench.paper.methods import PAPER_METHODS

_SEEDS, _ASKS = 3, 8
Objective = Callable[[Mapping[str, Any]], float | None]


@dataclass(frozen=True)
class Problem:
    """A target with its sources.

    Attributes:
        space: What is tuned.
        sources: Past experiments.
        objective: The value of parameters; None if the trial fails.
        goal: Which way is better.
        options: What else the optimizer is given.
    """

    space: hb.Space
    sources: tuple[hb.Experiment, ...]
    objective: Objective
    goal: hb.Goal = hb.Goal.MINIMIZE
    options: tuple[tuple[str, Any], ...] = ()


def _bowl(params: Mapping[str, Any]) -> float:
    numbers = (float(v) for v in params.values() if not isinstance(v, str))
    distance: float = sum((v / (1 + abs(v)) - 0.3) ** 2 for v in numbers)
    return distance + (0.2 if "b" in params.values() else 0.0)


def _waves(params: Mapping[str, Any]) -> float:
    x = [float(params.get(name, 0.4)) for name in ("x0", "x1", "x2", "x3")]
    return math.sin(5 * x[0]) + (x[1] - 0.4) ** 2 + x[2] * math.cos(3 * x[3]) + 0.3 * x[3]


def _source(
    name: str,
    space: hb.Space,
    objective: Objective,
    count: int,
    *,
    goal: hb.Goal = hb.Goal.MINIMIZE,
    fixed: Mapping[str, Any] | None = None,
) -> hb.Experiment:
    tuner = hb.Optimizer(space, goal=goal, method="random", seed=len(name) + count)
    for trial in tuner.ask(count):
        value = objective({**(fixed or {}), **trial.params})
        if value is None:
            tuner.tell_failure(trial)
        else:
            tuner.tell(trial, value)
    return tuner.as_experiment(name, fixed=fixed)


def _floats(*names: str) -> hb.Space:
    return hb.Space(**{name: hb.Float(0.0, 1.0) for name in names})


def problems() -> dict[str, Problem]:
    """Return ten problems of different kinds."""
    four = _floats("x0", "x1", "x2", "x3")
    mixed = hb.Space(
        rate=hb.Float(1e-4, 1.0, log=True), depth=hb.Int(1, 9), kind=hb.Categorical("a", "b", "c")
    )
    few = hb.Space(n=hb.Int(1, 6), kind=hb.Categorical("a", "b"))
    grid = [{"x0": i / 6, "x1": j / 6, "x2": 0.5, "x3": 0.5} for i in range(7) for j in range(7)]
    noise = np.random.default_rng(0)

    def rough(params: Mapping[str, Any]) -> float:
        return _waves(params) + 0.1 * math.sin(1e4 * _waves(params))

    def fails(params: Mapping[str, Any]) -> float | None:
        return None if float(params["x0"]) > 0.7 else _waves(params)

    def chance(_: Mapping[str, Any]) -> float:
        return float(noise.normal())

    old = _source("old", _floats("x0", "x1"), _waves, 20)
    return {
        "added": Problem(four, (old,), _waves),
        "dropped": Problem(_floats("x0", "x1"), (_source("old", four, _waves, 25),), _waves),
        "mixed": Problem(
            mixed,
            (_source("old", mixed.drop("kind").replace(gone=hb.Int(1, 4)), _bowl, 15),),
            _bowl,
        ),
        "counted": Problem(few, (_source("old", few.drop("kind"), _bowl, 5),), _bowl),
        "no sources": Problem(four, (), _waves),
        "opposite": Problem(
            four,
            (_source("old", four, lambda p: -_waves(p), 20, goal=hb.Goal.MAXIMIZE),),
            _waves,
        ),
        "pool": Problem(four, (old,), rough, options=(("candidates", grid),)),
        "failures": Problem(
            four, (_source("old", four.drop("x3"), fails, 15, fixed={"x3": 0.2}),), fails
        ),
        "several": Problem(
            four,
            (
                *(_source(f"old {n}", _floats("x0", f"x{n}"), _waves, 8) for n in (1, 2, 3)),
                _source("chance", four, chance, 32),
            ),
            _waves,
        ),
        "larger is better": Problem(
            four,
            (_source("old", four.drop("x1"), _waves, 12, goal=hb.Goal.MAXIMIZE),),
            _waves,
            hb.Goal.MAXIMIZE,
        ),
    }


def run(problem: Problem, method: str, seed: int) -> dict[str, Any]:
    """Return what a run suggests, and what is said of it in the end."""
    tuner = hb.Optimizer(
        problem.space,
        sources=problem.sources,
        goal=problem.goal,
        method=method if method in METHODS else PAPER_METHODS[method],
        seed=seed,
        n_initial=3,
        **dict(problem.options),
    )
    for _ in range(_ASKS):
        trial = tuner.ask()
        value = problem.objective(trial.params)
        if value is None:
            tuner.tell_failure(trial)
        else:
            tuner.tell(trial, value)
    page = report_html(tuner)
    return {
        "trials": [dict(trial.params) for trial in tuner.trials],
        "batch": [dict(trial.params) for trial in tuner.ask(2)],
        "explained": str(tuner.explain()),
        "report": hashlib.sha256(page.encode()).hexdigest(),
    }


def session() -> dict[str, str]:
    """Return what each command prints in one session of the command line."""
    rows = ["lr,depth,loss", *(f"{0.001 * n:.3f},{n % 7 + 2},{(n - 8) ** 2}" for n in range(1, 16))]
    space = (
        'goal = "minimize"\nvalue = "loss"\n[parameters]\n'
        "lr = { low = 1e-3, high = 0.1, log = true }\n"
        'depth = { low = 2, high = 9 }\nbooster = { choices = ["tree", "linear"] }\n'
    )
    commands = (
        "import runs.csv --study old --value loss --goal minimize",
        "diff --target space.toml --source old",
        "init space.toml --study new --source old --seed 7",
        "ask -n 2",
        "ask --json",
        "ask --csv",
        "tell 0 0.5",
        "tell 1 0.25",
        "tell 2 --failed",
        "tell 7 1",
        "status",
        "status --explain",
        "best",
        "best --json",
        "--help",
        "ask --help",
    )
    said: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "runs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        Path(folder, "space.toml").write_text(space, encoding="utf-8")
        for command in commands:
            done = subprocess.run(  # noqa: S603  # commands of our own
                [sys.executable, "-m", "hetbo", *command.split()],
                cwd=folder,
                env={**os.environ, "COLUMNS": "100"},
                capture_output=True,
                text=True,
                check=False,
            )
            said[command] = f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return said


def recorded(path: Path) -> Iterator[str]:
    """Record what is missing in a file, and yield what was added."""
    data: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, problem in problems().items():
        for method in {**METHODS, **PAPER_METHODS}:
            for seed in range(_SEEDS):
                key = f"{name}, {method}, {seed}"
                if key in data:
                    continue
                data[key] = run(problem, method, seed)
                path.write_text(json.dumps(data, indent=1), encoding="utf-8")
                yield key
    if "session" not in data:
        data["session"] = session()
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        yield "session"


def compare(one: Path, other: Path) -> int:
    """Print in what two recordings differ; return in how many entries."""
    first, second = (json.loads(path.read_text("utf-8")) for path in (one, other))
    different = 0
    for key in sorted({*first, *second}):
        mine, theirs = first.get(key), second.get(key)
        if mine == theirs:
            continue
        different += 1
        parts = (
            [part for part in mine if mine[part] != theirs.get(part)]
            if isinstance(mine, dict) and isinstance(theirs, dict)
            else ["missing"]
        )
        print(f"{key}: {', '.join(parts)}")
    print(f"{different} of {len({*first, *second})} entries differ")
    return different


def main(arguments: list[str]) -> None:
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: script/bench record FILE.json [OTHER.json]")
    paths = [Path(argument) for argument in arguments]
    if len(paths) == 2:
        sys.exit(1 if compare(*paths) else 0)
    warnings.simplefilter("ignore", hb.HetboWarning)
    for key in recorded(paths[0]):
        print(key, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
