"""How far each model of a method is trusted, from how well it predicts the target's trials."""

from collections.abc import Mapping

import numpy as np

from hetbo.methods._recipes import Recipe
from hetbo.models import FittedSurrogate

_PATIENCE = 5.0
"""So many trials of the target weigh as much as what was believed before them."""
_EVIDENCE = 0.25
"""So much of each trial's log density counts. A model predicts each trial with parameters that were
fitted to it as well, and from the same other trials, so that the densities repeat one another."""


def shares_of(models: Mapping[str, FittedSurrogate], recipe: Recipe) -> dict[str, float]:
    """Return how far each model is trusted; the shares add up to 1.

    Args:
        models: Fitted surrogates, by the names of their members.
        recipe: The method that the members are of.
    """
    if len(models) == 1:
        return dict.fromkeys(models, 1.0)
    logs = {name: _log_share(model, recipe.members[name].trust) for name, model in models.items()}
    largest = max(logs.values())
    shares = _of_one({name: float(np.exp(log - largest)) for name, log in logs.items()})
    return _of_one({name: max(share, recipe.members[name].least) for name, share in shares.items()})


def _of_one(shares: Mapping[str, float]) -> dict[str, float]:
    """Return shares in the same proportions that add up to 1."""
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def _log_share(model: FittedSurrogate, trust: float) -> float:
    found = model.leave_one_out()
    count = len(found.observed)
    # Densities of the outcomes themselves, on whatever scale the model sees them.
    densities = found.log_density + model.scale.log_slope(found.observed)
    # Five trials alone say little, and weights that jump with each of them would say it loudly.
    return float(np.log(trust)) + _EVIDENCE * float(densities.sum()) * count / (count + _PATIENCE)
