"""What goes wrong before Optuna can be loaded."""

from hetbo.errors import HetboError


class MissingOptunaError(HetboError, ImportError):
    """Something was asked for that needs Optuna, which is not installed."""
