"""What came of trials: stored in the study, or kept in a file until that is possible."""

import glob
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError

from hetbo._files import read_json, write_text_atomically
from hetbo.cli._commands import command
from hetbo.cli._output import say, say_command
from hetbo.cli._places import file_of, shown_place
from hetbo.cli._target import Target
from hetbo.errors import DataError
from hetbo.spaces import Value

_REASON = "hetbo:reason"
"""The user attribute of a failed trial that says why it failed."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        number: The trial's number.
        params: Its parameters.
        value: What the function returned; None if it failed.
        reason: Why it failed; None if it did not.
    """

    number: int
    params: Mapping[str, Value]
    value: float | None
    reason: str | None

    def store(self, target: Target) -> bool:
        """Store it; return False if another process has told something else, which stays."""
        if self.reason is not None:
            with suppress(UpdateFinishedTrialError):  # which is noticed below
                target.set_trial_attr(self.number, _REASON, self.reason)
        # The answer to an earlier attempt may have been lost on its way: then this is stored.
        return target.tell(self.number, self.value) or self._is_stored(target)

    def fits(self, target: Target) -> bool:
        """Return whether the study has this trial, with these parameters."""
        try:
            return target.trial(self.number).params == self.params
        except KeyError:
            return False

    def tell_command(self, *, study: str | None, place: str) -> str:
        """Return the command that stores it by hand."""
        what = "--failed" if self.value is None else repr(self.value)
        return command("tell", str(self.number), what, study=study, place=place)

    def _is_stored(self, target: Target) -> bool:
        stored: float | None = target.trial(self.number).value
        return stored == self.value


def listed_trials(numbers: Sequence[int]) -> str:
    """Return "trial 3" or "trials 3, 5"."""
    which = ", ".join(map(str, numbers))
    return f"trial {which}" if len(numbers) == 1 else f"trials {which}"


def keep(outcomes: Sequence[Outcome], target: Target, *, study: str | None, place: str) -> None:
    """Keep what could not be stored in a file, for `store_kept`, and say so."""
    folder, prefix = _whereabouts(place)
    path = folder / f"{prefix}{secrets.token_hex(4)}.json"
    data = {
        "version": _VERSION,
        "storage": shown_place(place),
        "study": target.name,
        "trials": [asdict(outcome) for outcome in outcomes],
    }
    what = f"What came of {listed_trials([outcome.number for outcome in outcomes])} could not be"
    try:
        write_text_atomically(path, json.dumps(data, indent=1) + "\n")
        say(
            f"{what} stored and is kept in {path}; the next 'hetbo tune' or "
            "'hetbo status' of this study stores it. To store it by hand:"
        )
    except OSError as error:
        say(f"{what} stored, nor kept in {path} ({error.strerror}). To store it by hand:")
    for outcome in outcomes:
        say_command(outcome.tell_command(study=study, place=place))


def store_kept(target: Target, place: str) -> None:
    """Store what `keep` has kept of a study, and say so."""
    for path, outcomes in _kept(target, place):
        strange = [outcome.number for outcome in outcomes if not outcome.fits(target)]
        if strange:
            say(
                f"{path} holds what came of trial {strange[0]}, which has other parameters in this "
                "study or is not there; nothing in it was stored. Delete the file if it is of an "
                "older study"
            )
            continue
        for outcome in outcomes:
            what = "that it failed" if outcome.value is None else f"{outcome.value!r}"
            if outcome.store(target):
                say(f"Stored what came of trial {outcome.number} and was kept in {path}: {what}.")
            else:
                say(
                    f"{path} has kept {what} of trial {outcome.number}, which another process has "
                    "told meanwhile; that stays."
                )
        path.unlink(missing_ok=True)


def _kept(target: Target, place: str) -> Iterator[tuple[Path, list[Outcome]]]:
    folder, prefix = _whereabouts(place)
    for path in sorted(folder.glob(f"{glob.escape(prefix)}*.json")):
        data = read_json(path)
        if file_of(place) is None and _at(data, "storage", path) != shown_place(place):
            continue
        if _at(data, "study", path) != target.name:
            continue
        try:
            yield path, [Outcome(**fields) for fields in _at(data, "trials", path)]
        except TypeError as error:
            raise _damaged(path) from error


def _at(data: Any, name: str, path: Path) -> Any:  # noqa: ANN401  # what a file holds
    if not isinstance(data, dict) or data.get("version") != _VERSION or name not in data:
        raise _damaged(path)
    return data[name]


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{path} does not hold what 'hetbo tune' could not store; move it out of the way"
    )


def _whereabouts(place: str) -> tuple[Path, str]:
    """Return the folder of files that are kept for a storage, and how their names begin."""
    path = file_of(place)
    return (Path.cwd(), "hetbo.untold-") if path is None else (path.parent, f"{path.name}.untold-")
