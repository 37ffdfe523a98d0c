"""The sets of modelling choices."""

import numpy as np
import pytest

from helpers import refused
from hetbo import Float, JointSpace, Space, Trial
from hetbo.encoding import Dataset, Scaling
from hetbo.errors import FitError
from hetbo.models import TargetGP, fit
from hetbo.models._settings import DEFAULT, ONE_SCALE, Settings, settings_of


def test_settings_have_names() -> None:
    assert [settings_of(name) for name in ("default", "one scale")] == [DEFAULT, ONE_SCALE]
    own = Settings(shortest=0.2)
    assert settings_of(own) is own
    with refused(FitError, "'papers'", "'one scale'"):
        settings_of("papers")


@pytest.mark.parametrize("dimensions", [1, 2, 6, 20])
def test_the_shortest_length_scale_grows_with_the_diagonal(dimensions: int) -> None:
    diagonal = float(np.linalg.norm(np.ones(dimensions)))
    assert DEFAULT.shortest_length_scale(dimensions) == pytest.approx(diagonal / 12)
    for settings in (DEFAULT, ONE_SCALE):
        assert settings.shortest_length_scale(dimensions) < settings.length_scale(dimensions).mode


@pytest.mark.parametrize(
    ("settings", "scaling"), [(DEFAULT, "per-experiment"), (ONE_SCALE, "pooled")]
)
def test_a_fit_ends_at_the_shortest_length_scale(settings: Settings, scaling: Scaling) -> None:
    """A wave with four periods wants a length-scale shorter than that."""
    space = Space(a=Float(0, 1), b=Float(0, 1))
    trials = [Trial({"a": a, "b": 0.5}, np.sin(8 * np.pi * a)) for a in np.linspace(0, 1, 61)]
    data = Dataset.build(JointSpace.merge(space, []), trials, scaling=scaling, goal="minimize")
    scales = fit(TargetGP(data, settings=settings)).covar_module.shared.blocks[0].lengthscale
    assert float(scales[0].detach()) == pytest.approx(settings.shortest_length_scale(2))
