"""`TransferSampler` learns from storages as a whole, and from studies by a pattern of names."""

from pathlib import Path

import optuna
import pytest

from helpers import refused
from hetbo import DataError, HetboWarning, OptimizerError
from hetbo.integrations.optuna._sources import Source, read_sources
from hetbo.optuna import TransferSampler


def objective(trial: optuna.Trial) -> float:
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return trial.suggest_float(f"x_{kind}", 0, 1) ** 2


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/archive.db"
    for seed, name in enumerate(["fraud-1", "fraud-2", "churn [1]"]):
        sampler = optuna.samplers.RandomSampler(seed=seed)
        study = optuna.create_study(storage=url, study_name=name, sampler=sampler)
        study.optimize(objective, n_trials=8)
    return url


def names(*sources: Source) -> list[list[str]]:
    return [[e.name for e in experiments] for experiments in read_sources(sources)]


def test_a_storage_stands_for_its_studies_and_keeps_their_branches_together(url: str) -> None:
    storage = optuna.storages.RDBStorage(url)
    every = [[name, f"{name} (2)"] for name in ("fraud-1", "fraud-2", "churn [1]")]
    assert names(storage) == names(url) == every
    file = url.removeprefix("sqlite:///")
    assert names(file) == names(Path(file)) == every
    assert names(f"{file}::fraud-*") == names(f"{url}::fraud-*") == every[:2]
    assert names((url, "fraud-*")) == names((storage, "fraud-?")) == every[:2]
    assert names((url, "churn [1]")) == every[2:]  # a name comes before a pattern
    study = optuna.create_study(sampler=TransferSampler([(url, "*")], method="random", seed=1))
    study.optimize(objective, n_trials=1)


def test_what_is_no_source_is_refused_with_the_remedy(url: str) -> None:
    with refused(DataError, "'x*'", "there are:"):
        read_sources([(url, "x*")])
    with refused(OptimizerError, "must be a list"):
        read_sources(optuna.storages.InMemoryStorage())  # type: ignore[arg-type]
    with refused(OptimizerError, "is not a source", "a storage"):
        read_sources([3])  # type: ignore[list-item]
    optuna.create_study(storage=url, study_name="empty")
    with pytest.warns(HetboWarning, match="'empty' has no complete trial"):
        assert names((url, "empty")) == [[]]
