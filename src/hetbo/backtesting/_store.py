"""Finished replays as JSON lines, so that an interrupted backtest goes on where it was."""

import json
import os
from pathlib import Path

from hetbo._files import check_regular
from hetbo.backtesting._replay import Replay
from hetbo.errors import DataError

_HEADER = '{"format": "hetbo-backtest-replays", "version": 1}'


class ReplayFile:
    """A file that replays are added to as they are finished.

    Lines that a kill cut short or that are damaged are ignored: their replays are made again.

    Args:
        path: The file; made when the first replay is added. Its folder must exist.

    Raises:
        DataError: There is something else at that path, or it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        try:
            check_regular(self._path)
            text = self._path.read_bytes().decode(errors="replace") if self._path.exists() else ""
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from error
        if not self._path.absolute().parent.is_dir():
            raise DataError(f"cannot write {path}: its folder does not exist")
        first, *lines = text.split("\n")
        if first != _HEADER and (lines or not _HEADER.startswith(first)):
            raise DataError(
                f"{path} is no file of a backtest, and stays as it is; name another for the results"
            )
        self._ending = "" if text.endswith("\n") else "\n" if first == _HEADER else None
        self.replays = {
            key: replay for line in lines if (found := _parsed(line)) for key, replay in [found]
        }

    def add(self, key: str, replay: Replay) -> None:
        """Write a replay to the file at once.

        Raises:
            DataError: The file cannot be written.
        """
        line = json.dumps({"key": key, **replay.to_json()}) + "\n"
        try:
            if self._ending is None:  # there is nothing yet, or a part of the first line
                self._path.write_text(f"{_HEADER}\n", encoding="utf-8")
                self._ending = ""
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(self._ending + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataError(f"cannot write {self._path}: {error.strerror}") from error
        self._ending = ""
        self.replays[key] = replay


def _parsed(line: str) -> tuple[str, Replay] | None:
    try:
        data = json.loads(line)
        return data["key"], Replay.from_json(data)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
