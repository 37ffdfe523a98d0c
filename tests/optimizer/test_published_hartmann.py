"""`auto` from the paper's own starting points, against its best published method."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hetbo import Experiment, Float, Optimizer, Space, Trial
from hetbo.bench.problems.functions import hartmann

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "published"
REPLICATIONS, EVALUATIONS = 8, 40
PUBLISHED_BEST = 2.83

NAMES = tuple(f"x{i}" for i in range(1, 7))
TARGET = Space.from_mapping({name: Float(0.0, 1.0) for name in NAMES})
SOURCE = TARGET.drop("x5", "x6")


def trace(replication: dict[str, Any], method: str, seed: int) -> list[float]:
    """The best value after each evaluation, started from the paper's points."""
    trials = [
        Trial(dict(zip(SOURCE, x, strict=True)), float(np.ravel(y)[0]))
        for x, y in zip(replication["source_X"][0], replication["source_y"][0], strict=True)
    ]
    source = Experiment("source", SOURCE, trials, goal="maximize")
    optimizer = Optimizer(TARGET, sources=[source], goal="maximize", method=method, seed=seed)
    values = [float(np.ravel(y)[0]) for y in replication["initial_y"]]
    for x, value in zip(replication["initial_X"], values, strict=True):
        optimizer.tell(dict(zip(TARGET, x, strict=True)), value)
    while len(values) < EVALUATIONS:
        suggestion = optimizer.ask()
        values.append(hartmann(np.array([suggestion.params[name] for name in NAMES])))
        optimizer.tell(suggestion, values[-1])
    best: list[float] = np.maximum.accumulate(values).tolist()
    return best


@pytest.mark.long
@pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the paper's runs (shared/data/published) are absent"
)
def test_auto_beats_vanilla_and_the_best_published_method() -> None:
    path = FOLDER / "replications_hartmann_30.json"
    replications = json.loads(path.read_text(encoding="utf-8"))[:REPLICATIONS]
    means = {
        method: np.mean([trace(r, method, k)[5:] for k, r in enumerate(replications)])
        for method in ("auto", "vanilla")
    }
    assert means["auto"] > means["vanilla"]
    assert means["auto"] > PUBLISHED_BEST
