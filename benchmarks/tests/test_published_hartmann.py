"""`auto` from the paper's own starting points, against its best published method."""

from pathlib import Path

import numpy as np
import pytest

from hetbo_bench.paper.published import traces_of
from hetbo_bench.problems.hartmann import hartmann_problem
from hetbo_bench.running.replication import replicate

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "published"
REPLICATIONS = 6
EVALUATIONS = 20
"""Where methods differ; the runs of all 40 are in results/, from 50 starts."""


@pytest.mark.long
@pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the paper's runs (shared/data/published) are absent"
)
def test_auto_beats_vanilla_and_the_best_published_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETBO_PUBLISHED", str(FOLDER))
    problem = hartmann_problem("hartmann_30", source_trials=30)
    published = traces_of("hartmann_30")
    assert published is not None
    best = np.array(published["learned-imputation"])[:REPLICATIONS, 5:EVALUATIONS].mean()
    means = {}
    for method in ("auto", "vanilla"):
        runs = [replicate(problem, method, r, evaluations=EVALUATIONS) for r in range(REPLICATIONS)]
        means[method] = np.mean([run.trace[5:] for run in runs])
    assert means["auto"] > means["vanilla"]
    assert means["auto"] > best
