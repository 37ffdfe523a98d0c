"""What was tried: trials, the experiments they belong to, and how to read them."""

from hetbo.experiments.experiment import Experiment
from hetbo.experiments.trial import Goal, Trial, TrialState

__all__ = ["Experiment", "Goal", "Trial", "TrialState"]
