"""Bayesian optimisation that learns from past experiments whose parameters were different.

    import hetbo as hb

Everything is loaded when it is first used, so that `import hetbo` and `hetbo --help` are quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetbo import optuna as optuna
    from hetbo import plot as plot
    from hetbo import report as report
    from hetbo._sources import read_sources
    from hetbo.backtesting import Backtest, backtest
    from hetbo.encoding import Encoder
    from hetbo.errors import (
        DataError,
        DataWarning,
        FitError,
        HetboError,
        HetboWarning,
        MergeError,
        OptimizerError,
        SourceWarning,
        SpaceError,
    )
    from hetbo.experiments import Experiment, Goal, Trial, TrialState
    from hetbo.joint import JointSpace
    from hetbo.optimizer import Optimizer, Suggestion
    from hetbo.spaces import Categorical, Float, Int, Space

    __version__: str

__all__ = [
    "Backtest",
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
    "SourceWarning",
    "Space",
    "SpaceError",
    "Suggestion",
    "Trial",
    "TrialState",
    "__version__",
    "backtest",
    "read_sources",
]

_PLACES = {
    "hetbo.backtesting": ("Backtest", "backtest"),
    "hetbo._sources": ("read_sources",),
    "hetbo.encoding": ("Encoder",),
    "hetbo.errors": (
        "DataError",
        "DataWarning",
        "FitError",
        "HetboError",
        "HetboWarning",
        "MergeError",
        "OptimizerError",
        "SourceWarning",
        "SpaceError",
    ),
    "hetbo.experiments": ("Experiment", "Goal", "Trial", "TrialState"),
    "hetbo.joint": ("JointSpace",),
    "hetbo.optimizer": ("Optimizer", "Suggestion"),
    "hetbo.spaces": ("Categorical", "Float", "Int", "Space"),
}
_FOLDERS = ("optuna", "plot", "report")
"""Folders with names of their own, as in `hb.report.write_report`."""
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    if name in _PLACE_OF:
        found = getattr(import_module(_PLACE_OF[name]), name)
    elif name in _FOLDERS or f"hetbo.{name}" in _PLACES:
        found = import_module(f"hetbo.{name}")
    elif name == "__version__":
        found = import_module("importlib.metadata").version("hetbo")
    else:
        raise AttributeError(f"module 'hetbo' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])
