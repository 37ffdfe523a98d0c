"""Bayesian optimisation that learns from past experiments whose parameters were different.

    import hetbo as hb

Everything is loaded when it is first used, so that `import hetbo` and `hetbo --help` are quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetbo.encoding import Encoder
    from hetbo.errors import (
        DataError,
        DataWarning,
        FitError,
        HetboError,
        HetboWarning,
        MergeError,
        OptimizerError,
        SpaceError,
    )
    from hetbo.experiments import Experiment, Goal, Trial, TrialState
    from hetbo.joint import JointSpace
    from hetbo.optimizer import Optimizer, Suggestion
    from hetbo.spaces import Categorical, Float, Int, Space

    __version__: str

__all__ = [
    "Categorical",
    "DataError",
    "DataWarning",
    "Encoder",
    "Experiment",
    "FitError",
    "Float",
    "Goal",
    "HetboError",
    "HetboWarning",
    "Int",
    "JointSpace",
    "MergeError",
    "Optimizer",
    "OptimizerError",
    "Space",
    "SpaceError",
    "Suggestion",
    "Trial",
    "TrialState",
    "__version__",
]

_PLACES = {
    "hetbo.encoding": ("Encoder",),
    "hetbo.errors": (
        "DataError",
        "DataWarning",
        "FitError",
        "HetboError",
        "HetboWarning",
        "MergeError",
        "OptimizerError",
        "SpaceError",
    ),
    "hetbo.experiments": ("Experiment", "Goal", "Trial", "TrialState"),
    "hetbo.joint": ("JointSpace",),
    "hetbo.optimizer": ("Optimizer", "Suggestion"),
    "hetbo.spaces": ("Categorical", "Float", "Int", "Space"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    if name in _PLACE_OF:
        found = getattr(import_module(_PLACE_OF[name]), name)
    elif f"hetbo.{name}" in _PLACES:
        found = import_module(f"hetbo.{name}")
    elif name == "__version__":
        found = import_module("importlib.metadata").version("hetbo")
    else:
        raise AttributeError(f"module 'hetbo' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
