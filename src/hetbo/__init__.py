"""Bayesian optimisation that learns from past experiments whose parameters were different.

    import hetbo as hb

What needs NumPy or PyTorch is loaded when it is first used, so that `import hetbo` is quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

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
from hetbo.spaces import Categorical, Float, Int, Space

if TYPE_CHECKING:
    from hetbo.encoding import Encoder
    from hetbo.optimizer import Optimizer, Suggestion

__version__ = version("hetbo")

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

_LAZY = {
    "Encoder": "hetbo.encoding",
    "Optimizer": "hetbo.optimizer",
    "Suggestion": "hetbo.optimizer",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'hetbo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
