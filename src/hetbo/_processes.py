"""Which process began something, and whether it still runs."""

import os
import socket
import sys
from pathlib import Path


def process_token() -> str:
    """Return what tells this process from all others: machine, number, and when it began."""
    return f"{socket.gethostname()} {os.getpid()} {_began(os.getpid())}"


def is_alive(token: str) -> bool | None:
    """Return whether a process runs; None if that cannot be known: it is on another machine."""
    match token.rsplit(" ", 2):
        case [host, number, began] if number.isdigit() and host == socket.gethostname():
            return _runs(int(number), began)
        case _:
            return None


def _runs(number: int, began: str) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would end it there
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
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
