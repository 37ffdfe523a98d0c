"""Benchmarks: problems, a runner, an analysis, figures, and other tools on the same terms."""

from hetbo.bench.problems.named import problem_named
from hetbo.bench.running.runs import Run, read_runs
from hetbo.bench.running.suites import SUITES

__all__ = ["SUITES", "Run", "problem_named", "read_runs"]
