"""What is said while somebody has to wait."""

import logging

import pytest
from optuna.study import create_study
from optuna.trial import Trial as OptunaTrial

from hetbo import Experiment, Float, Space, Trial
from hetbo.methods import _long_fits
from hetbo.methods._long_fits import announce_digesting
from hetbo.optuna import TransferSampler


@pytest.mark.parametrize(("long", "expected"), [(-1.0, 1), (60.0, 0)])
def test_of_digesting_it_is_said_once_if_it_takes_long(
    long: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_long_fits, "_LONG_TO_DIGEST", long)
    told: list[str] = []
    progress = announce_digesting(told.append)
    for done in range(7):
        progress(done, 6)
    assert len(told) == expected
    assert all("6 old experiments are being digested, and 0 of them are done" in t for t in told)


def test_nothing_is_said_where_all_is_digested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_long_fits, "_LONG_TO_DIGEST", -1.0)
    announce_digesting(lambda _: pytest.fail("said"))(6, 6)


def test_a_sampler_says_it_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_long_fits, "_LONG_TO_DIGEST", -1.0)
    monkeypatch.setenv("HETBO_CACHE", "off")
    space = Space(x=Float(0, 1))
    trials = [Trial({"x": 0.1 * k}, 0.2 * k) for k in range(5)]
    sources = [Experiment(f"{n}", space, trials, goal="minimize") for n in range(6)]

    def objective(trial: OptunaTrial) -> float:
        return trial.suggest_float("x", 0, 1)

    sampler = TransferSampler(sources, space=space, seed=0)
    with caplog.at_level(logging.INFO, logger="optuna"):
        create_study(sampler=sampler).optimize(objective, n_trials=2)
    told = [r.getMessage() for r in caplog.records if r.name == "optuna.hetbo"]
    assert sum("6 old experiments are being digested" in line for line in told) == 1
