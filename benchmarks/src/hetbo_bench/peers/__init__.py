"""Other tools, driven through the same replications as hetbo's methods.

Each module has `tuner(problem, start, seed)`, which makes a `hetbo_bench.methods.Tuner`.
None is imported before it is asked for by name: Ax and BayBE are optional.
"""

__all__ = [
    "ax_transfer",
    "baybe_transfer",
    "containment",
    "old_trials",
    "optuna_axes",
    "optuna_gp",
    "optuna_study",
    "optuna_tpe",
]
