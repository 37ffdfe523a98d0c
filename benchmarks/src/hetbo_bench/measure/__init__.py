"""Measurements that are no tests: `script/bench NAME` runs one."""

__all__ = [
    "archive",
    "botorch_models",
    "branches",
    "correlation_intervals",
    "dropped_sources",
    "models",
    "optuna_runs",
    "optuna_samplers",
    "problems",
    "ranger_luck",
    "record",
    "suggest",
]
