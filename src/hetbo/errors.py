"""Every error and warning that hetbo raises, in one tree.

::

    HetboError
    ├── SpaceError    (ValueError)    a parameter, a space, or a value that does not fit one
    ├── DataError     (ValueError)    a file, a row or a trial that cannot be used as it is
    ├── MergeError    (ValueError)    experiments that cannot be put into one joint space
    ├── FitError      (RuntimeError)  a model that could not be fitted
    └── OptimizerError (ValueError)   an optimizer that was asked or told something impossible

    HetboWarning      (UserWarning)
    └── DataWarning                   rows were left out, because the caller asked for it
"""


class HetboError(Exception):
    """Root of all errors that hetbo raises on purpose."""


class SpaceError(HetboError, ValueError):
    """A parameter, a space, or a value that does not fit one."""


class DataError(HetboError, ValueError):
    """A file, a row or a trial that cannot be used as it is."""


class MergeError(HetboError, ValueError):
    """Experiments that cannot be put into one joint space."""


class FitError(HetboError, RuntimeError):
    """A model that could not be fitted; the message says what was tried."""


class OptimizerError(HetboError, ValueError):
    """An optimizer that was asked or told something impossible; its state is unchanged."""


class HetboWarning(UserWarning):
    """Root of all warnings that hetbo issues."""


class DataWarning(HetboWarning):
    """Rows were left out, because the caller asked for it."""


_LONGEST_SHOWN = 80


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its repr, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits
        return f"<{type(value).__name__} too long to show>"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:60]}… ({len(text)} characters)"


def printable(text: str) -> str:
    """Return `text` as one line that is safe to print: line ends and control codes escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
