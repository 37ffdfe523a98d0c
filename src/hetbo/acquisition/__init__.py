"""Where to look next: what can be gained at a point, and the search for the best one."""

from hetbo.acquisition.feasibility import Feasibility, feasibility_of
from hetbo.acquisition.log_ei import log_expected_improvement
from hetbo.acquisition.pooled import Acquisition, Opinion, PooledLogEI
from hetbo.acquisition.predictor import Moments, Predictor
from hetbo.acquisition.search import maximise

__all__ = [
    "Acquisition",
    "Feasibility",
    "Moments",
    "Opinion",
    "PooledLogEI",
    "Predictor",
    "feasibility_of",
    "log_expected_improvement",
    "maximise",
]
