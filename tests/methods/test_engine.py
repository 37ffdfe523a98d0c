"""The engine encodes once what does not change."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from optuna.study import create_study
from optuna.trial import Trial as OptunaTrial
from threadpoolctl import threadpool_limits

import hetbo as hb
from helpers import blas_threads
from hetbo.archive import ArchiveSurrogate
from hetbo.encoding import Encoder
from hetbo.methods import Engine
from hetbo.optuna import TransferSampler
from hetbo.spaces import Value

SPACE = hb.Space(x=hb.Float(0, 1), y=hb.Float(0, 1))


def old(name: str, seed: int) -> hb.Experiment:
    points = np.random.default_rng(seed).random((10, 1)).tolist()
    trials = [hb.Trial({"x": x}, (x - 0.3) ** 2) for (x,) in points]
    return hb.Experiment(name, SPACE.drop("y"), trials, goal="minimize")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The experiments whose trials were encoded, in that order."""
    seen: list[int] = []
    encode = Encoder.encode

    def counted(
        self: Encoder, params: Sequence[Mapping[str, Value]], experiment: int = 0
    ) -> object:
        seen.append(experiment)
        return encode(self, params, experiment)

    monkeypatch.setattr(Encoder, "encode", counted)
    return seen


@pytest.mark.parametrize("method", ["auto", "learned-imputation"])
def test_sources_are_encoded_once(method: str, encoded: list[int]) -> None:
    tuner = hb.Optimizer(
        SPACE, sources=[old("a", 0), old("b", 1)], goal="minimize", method=method, seed=0
    )
    for _ in range(3):
        tuner.tell(tuner.ask(), 1.0)
    tuner.explain()
    assert sorted(one for one in encoded if one) == [1, 2]


def test_a_study_encodes_them_once(encoded: list[int]) -> None:
    def objective(trial: OptunaTrial) -> float:
        return trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1)

    sampler = TransferSampler([old("a", 0)], space=SPACE, method="vanilla", seed=0, n_initial=1)
    create_study(sampler=sampler).optimize(objective, n_trials=4)
    assert sum(one == 1 for one in encoded) <= 1


def test_there_is_one_encoder() -> None:
    engine = Engine.of("auto", hb.JointSpace.merge(SPACE, [old("a", 0)]), hb.Goal.MINIMIZE)
    assert engine.encoder is engine.sources.encoder is engine.points.encoder


def test_what_makes_no_sense_is_refused() -> None:
    joint = hb.JointSpace.merge(SPACE)
    with pytest.raises(hb.OptimizerError, match="n_initial=-1 must be a whole number"):
        Engine.of("auto", joint, hb.Goal.MINIMIZE, n_initial=-1)
    with pytest.raises(hb.SpaceError):
        Engine.of("auto", joint, hb.Goal.MINIMIZE, candidates=[{"x": 0.5}])


@pytest.mark.parametrize("what", ["ask", "explain", "prepare", "report", "plot"])
def test_all_that_models_compute_uses_one_thread(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def counted(*args: object, **options: object) -> object:
        seen.extend(blas_threads())
        return computed(*args, **options)

    method = "prepare" if what == "prepare" else "fit"
    computed = getattr(ArchiveSurrogate, method)
    monkeypatch.setattr(ArchiveSurrogate, method, counted)
    sources = [old(f"old {seed}", seed) for seed in range(6)]
    tuner = hb.Optimizer(SPACE, sources=sources, goal="minimize", seed=0)
    tuner.tell({"x": 0.5, "y": 0.5}, 1.0)
    compute: Mapping[str, Callable[[], object]] = {
        "ask": tuner.ask,
        "explain": tuner.explain,
        "prepare": tuner.engine.prepare,
        "report": lambda: hb.report.report_html(tuner),
        "plot": lambda: hb.plot.effects(tuner),
    }
    with threadpool_limits(2, user_api="blas"):
        compute[what]()
    assert set(seen) == {1}
