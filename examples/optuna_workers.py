"""Several workers on one Optuna study that learns from an older, smaller one.

Start one of them, then others on as many machines as you like, all with the same storage:

    python examples/optuna_workers.py --storage postgresql+psycopg://user@host/tuning

Each takes part until the study has enough complete trials. Workers see what the others are trying,
and may come and go: one that is killed loses its own trial and nothing else. Without a server, a
file that ends in `.log` (a journal, good for several processes) or an SQLite URL will do:

    python examples/optuna_workers.py --storage workers.log
"""

import argparse
import math
import sys
import time
import warnings

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import RandomSampler
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback, Study, create_study
from optuna.trial import FrozenTrial, Trial, TrialState

from hetbo.optuna import TransferSampler


def error_of(rate: float, depth: int, dropout: float, booster: str) -> float:
    """Return the error of a model, which in earnest takes long to train."""
    worse = 0.0 if booster == "dart" else 0.05
    return (math.log10(rate) + 2) ** 2 / 4 + abs(depth - 6) / 10 + (dropout - 0.3) ** 2 + worse


def old_objective(trial: Trial) -> float:
    """Tune two parameters; the old program did not know the other two."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    return error_of(rate, trial.suggest_int("depth", 2, 12), dropout=0.0, booster="gbtree")


def new_objective(trial: Trial, seconds: float) -> float:
    """Tune four parameters."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    depth = trial.suggest_int("depth", 2, 12)
    dropout = trial.suggest_float("dropout", 0.0, 0.5)
    booster = trial.suggest_categorical("booster", ["gbtree", "dart"])
    time.sleep(seconds)
    return error_of(rate, depth, dropout, booster)


def old_study() -> Study:
    """Return the old study, made on the spot; yours would be ("sqlite:///old.db", "error-v1")."""
    study = create_study(study_name="error-v1", sampler=RandomSampler(seed=0))
    study.optimize(old_objective, n_trials=20)
    return study


def storage_at(place: str) -> BaseStorage:
    """Return the storage at a database's URL, or in a journal file."""
    if place.endswith(".log"):
        return JournalStorage(JournalFileBackend(place))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        # The trial of a worker that died fails after a while; until then it counts as pending.
        return RDBStorage(place, heartbeat_interval=60)


def report(_: Study, trial: FrozenTrial) -> None:
    """Say what came of a trial, once it is stored."""
    sys.stdout.write(f"trial {trial.number}: {trial.state.name} {trial.value!r}\n")
    sys.stdout.flush()


def main() -> None:
    """Take part in a study until it has enough complete trials."""
    parser = argparse.ArgumentParser(description="One of several workers on one study.")
    parser.add_argument("--storage", default="sqlite:///workers.db", help="URL or journal file")
    parser.add_argument("--study", default="error-v2", help="the study's name")
    parser.add_argument("--trials", type=int, default=30, help="how many complete trials to make")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a trial takes")
    given = parser.parse_args()

    study = create_study(
        storage=storage_at(given.storage),
        study_name=given.study,
        load_if_exists=True,
        sampler=TransferSampler([old_study()]),
    )
    counted = (TrialState.COMPLETE,)
    if len(study.get_trials(states=counted)) < given.trials:
        study.optimize(
            lambda trial: new_objective(trial, given.seconds),
            callbacks=[report, MaxTrialsCallback(given.trials, states=counted)],
        )
    sys.stdout.write(f"best: {study.best_value:.4f} at {study.best_params}\n")


if __name__ == "__main__":
    main()
