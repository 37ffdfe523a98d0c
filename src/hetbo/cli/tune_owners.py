"""Which `hetbo tune` runs a trial, and whether it is still there."""

import os
import socket
from pathlib import Path

from optuna.study import Study
from optuna.trial import FrozenTrial

from hetbo.cli.targets import TUNER

_RESUMED = "hetbo:resumed:"
"""Begins the user attribute of a study that says who runs a resumed trial."""


def me() -> str:
    """Return what tells this process from all others: machine, number, and when it began."""
    return f"{socket.gethostname()} {os.getpid()} {_began(os.getpid())}"


def take(study: Study, number: int) -> None:
    """Take note that this process runs a trial that another one began."""
    study.set_user_attr(f"{_RESUMED}{number}", me())


def abandoned(study: Study, trial: FrozenTrial) -> bool:
    """Tell whether a running trial belongs to a `hetbo tune` on this machine that is gone.

    Trials that people asked for belong to nobody, and wait for them.
    """
    owner = study.user_attrs.get(f"{_RESUMED}{trial.number}", trial.user_attrs.get(TUNER))
    match str(owner).rsplit(" ", 2):
        case [host, number, began] if number.isdigit():
            return host == socket.gethostname() and not _runs(int(number), began)
        case _:
            return False


def of_tuner(trial: FrozenTrial) -> bool:
    """Tell whether a `hetbo tune` began a trial, on any machine."""
    return TUNER in trial.user_attrs


def _runs(number: int, began: str) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and somebody else's
        return True
    # Numbers are used again; the time when a process began tells one from the next.
    return _began(number) == began


def _began(number: int) -> str:
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # not Linux
        return "-"
    return "gone" if fields[0] in {"Z", "X"} else fields[19]
