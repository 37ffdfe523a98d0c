"""Optuna's own tests of samplers, held against ours.

`MultiObjectiveSamplerTestCase` does not apply: a study with several objectives is refused, which
`SingleOnlySamplerTestCase` tests.
"""

from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from hetbo.optuna import TransferSampler


class TestWithoutSources(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: TransferSampler(method="vanilla", seed=0, n_initial=2)
