"""What was tried: trials, the experiments they belong to, and how to read them."""

from hetbo.experiments._csv import CsvImporter
from hetbo.experiments._experiment import Experiment
from hetbo.experiments._importers import IMPORTERS, FileOptions, Found, Importer
from hetbo.experiments._json import JsonImporter
from hetbo.experiments._options import TableOptions
from hetbo.experiments._storages import OptunaImporter
from hetbo.experiments._table import Style, Table
from hetbo.experiments._trial import Goal, GoalName, Trial, TrialState

IMPORTERS.update(csv=CsvImporter(), json=JsonImporter(), optuna=OptunaImporter())

__all__ = [
    "IMPORTERS",
    "Experiment",
    "FileOptions",
    "Found",
    "Goal",
    "GoalName",
    "Importer",
    "Style",
    "Table",
    "TableOptions",
    "Trial",
    "TrialState",
]
