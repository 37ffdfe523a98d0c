"""Where to look next: what can be gained at a point, and the search for the best one."""

from hetbo.acquisition.feasibility import Feasibility, feasibility_of
from hetbo.acquisition.log_ei import log_expected_improvement
from hetbo.acquisition.predictor import Moments, Predictor
from hetbo.acquisition.search import maximise
from hetbo.acquisition.weighted import Acquisition, Opinion, WeightedLogEI

__all__ = [
    "Acquisition",
    "Feasibility",
    "Moments",
    "Opinion",
    "Predictor",
    "WeightedLogEI",
    "feasibility_of",
    "log_expected_improvement",
    "maximise",
]
