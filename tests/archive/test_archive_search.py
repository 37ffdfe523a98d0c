"""A search for likely parameters turns back where the log posterior cannot be computed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from hetbo.archive._search import search
from hetbo.models import NotPositiveDefinite

Array = NDArray[np.float64]


class Bowl:
    """A log posterior with its maximum at 0.7, which cannot be computed beyond an edge."""

    bounds = np.array([[-3.0, -3.0], [3.0, 3.0]])

    def __init__(self, edge: float, *, beyond: float | None) -> None:
        self.edge, self.beyond = edge, beyond

    def __call__(self, z: Array) -> tuple[float, Array]:
        if z[0] > self.edge:
            if self.beyond is None:
                raise NotPositiveDefinite
            return self.beyond, z
        return -float(((z - 0.7) ** 2).sum()), -2 * (z - 0.7)


@pytest.mark.parametrize("beyond", [None, float("nan"), float("-inf")])
def test_a_search_goes_on_before_the_edge(beyond: float | None) -> None:
    found = search(Bowl(0.9, beyond=beyond), np.array([-2.5, -2.9]), ftol=1e-9)
    assert found is not None
    assert_allclose(found[1], 0.7, atol=1e-3)
    assert_allclose(found[0], 0.0, atol=1e-5)


@pytest.mark.parametrize("beyond", [None, float("nan")])
def test_what_is_never_computed_gives_none(beyond: float | None) -> None:
    assert search(Bowl(-4.0, beyond=beyond), np.zeros(2), ftol=1e-9) is None
