"""Benchmarks: problems, a runner, an analysis, figures, and other tools on the same terms.

Everything is loaded when it is first used: the command line asks for no more than its commands.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetbo_bench.methods import Tuner
    from hetbo_bench.problems.named import problem_named
    from hetbo_bench.problems.problem import Problem, Start
    from hetbo_bench.running.replication import replicate
    from hetbo_bench.running.runs import Run, read_runs
    from hetbo_bench.running.suites import SUITES

__all__ = [
    "SUITES",
    "Problem",
    "Run",
    "Start",
    "Tuner",
    "problem_named",
    "read_runs",
    "replicate",
]

_PLACES = {
    "SUITES": "hetbo_bench.running.suites",
    "Run": "hetbo_bench.running.runs",
    "Problem": "hetbo_bench.problems.problem",
    "Start": "hetbo_bench.problems.problem",
    "Tuner": "hetbo_bench.methods",
    "problem_named": "hetbo_bench.problems.named",
    "read_runs": "hetbo_bench.running.runs",
    "replicate": "hetbo_bench.running.replication",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
