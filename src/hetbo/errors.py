"""Every error and warning that hetbo raises, in one tree, and how messages show values.

::

    HetboError
    ├── SpaceError    (ValueError)    a parameter, a space, or a value that does not fit one
    ├── DataError     (ValueError)    a file, a row or a trial that cannot be used as it is
    ├── MergeError    (ValueError)    experiments that cannot be put into one joint space
    ├── FitError      (RuntimeError)  a model that could not be fitted
    └── OptimizerError (ValueError)   an optimizer that was asked or told something impossible

    HetboWarning      (UserWarning)
    ├── DataWarning                   rows were left out, because the caller asked for it
    └── SourceWarning                 a source that may not be meant as it is
"""

__all__ = [
    "DataError",
    "DataWarning",
    "FitError",
    "HetboError",
    "HetboWarning",
    "MergeError",
    "OptimizerError",
    "SourceWarning",
    "SpaceError",
    "duration",
    "printable",
    "shown",
]


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


class SourceWarning(HetboWarning):
    """A source may not be meant as it is: it shares no parameter, or its goal is the opposite."""


_LONGEST_SHOWN = 80


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its repr, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits
        return f"<{type(value).__name__} too long to show>"
    if "\n" in text:  # a message is one line
        text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:60]}… ({len(text)} characters)"


def printable(text: str) -> str:
    """Return `text` as one line that is safe to print: line ends and control codes escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def duration(seconds: float) -> str:
    """Return a duration in words: '40 s', '12 min', '2 h 5 min'."""
    if seconds < 90:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004
