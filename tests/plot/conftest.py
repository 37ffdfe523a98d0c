"""A run to draw."""

import pytest

from hetbo import Optimizer
from hetbo.plot import Run
from report.runs import tuned_run


@pytest.fixture(scope="session")
def tuned() -> Optimizer:
    return tuned_run()


@pytest.fixture(scope="session")
def run(tuned: Optimizer) -> Run:
    return Run(tuned)
