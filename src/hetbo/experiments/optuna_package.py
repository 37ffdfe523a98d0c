"""Whether Optuna, which is loaded only when it is asked for, is installed."""

from importlib.util import find_spec

from hetbo.errors import HetboError


class MissingOptunaError(HetboError, ImportError):
    """Something was asked for that needs Optuna, which is not installed."""


def require_optuna() -> None:
    """Check that Optuna is installed.

    Raises:
        MissingOptunaError: It is not.
    """
    if find_spec("optuna") is None:
        raise MissingOptunaError(
            "this needs Optuna, which is not installed; get it with: pip install optuna"
        )
