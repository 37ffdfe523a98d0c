"""Running replications: methods on problems, in processes, resumable."""

__all__ = [
    "replication",
    "runner",
    "runs",
    "suites",
    "versions",
]
