"""What other tools keep: a folder for each, loaded only when it is asked for."""

__all__ = ["optuna"]
