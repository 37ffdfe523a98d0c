"""Where to look next: what can be gained at a point, and the search for the best one."""

from hetbo.acquisition._ensemble import Acquisition, Improvement, MemberAcquisition, PooledLogEI
from hetbo.acquisition._feasibility import Feasibility, feasibility_of
from hetbo.acquisition._log_ei import log_expected_improvement
from hetbo.acquisition._search import maximize

__all__ = [
    "Acquisition",
    "Feasibility",
    "Improvement",
    "MemberAcquisition",
    "PooledLogEI",
    "feasibility_of",
    "log_expected_improvement",
    "maximize",
]
