"""What only reproduces: the paper's methods in its settings, and its runs beside ours."""

__all__ = [
    "against",
    "methods",
    "models",
    "presence",
    "published",
    "reference_bugs",
    "sampled_log_ei",
]
