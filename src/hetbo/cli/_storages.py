"""Optuna's storages as the command line names them: a file, a journal, or a URL."""

import stat
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, RDBStorage
from optuna.study import Study
from optuna.trial import TrialState
from sqlalchemy import event, text
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import (
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    SAWarning,
    SQLAlchemyError,
)

from hetbo.cli._backoff import UnavailableError, briefly
from hetbo.cli._journals import opened_journal
from hetbo.cli._names import listed
from hetbo.cli._places import is_file, is_journal, shown_place, url_of
from hetbo.errors import DataError, printable, shown
from hetbo.integrations.optuna import (
    check_finished,
    check_holds_studies,
    closing_database,
    is_bare,
    is_left,
)

_SECONDS_TO_WAIT = 20.0
"""How long to wait for another process that holds an SQLite file."""
_REMEDIES = {
    "locked": "another process holds it; try again when that is done. Nothing was changed",
    "disk is full": "make room and try again",
    "disk I/O error": "see whether the disk is full or defective, and try again",
    "readonly": "see who may write to the file and its folder",
    "unable to open": "see who may read and write the file and its folder",
    "malformed": "the file is damaged; use a copy of it",
    "not a database": "--storage takes an SQLite file, a journal (.log) or a URL",
}
"""What to do about what a database says."""


@contextmanager
def storage_at(
    place: str, *, create: bool = False, wait: float | None = None
) -> Iterator[BaseStorage]:
    """Open a storage for as long as the block takes; Optuna keeps quiet meanwhile.

    Args:
        place: A URL, a journal file (`.log` or `.journal`), or an SQLite file.
        create: Whether to make a file that is not there.
        wait: How many seconds each call waits for another process that holds an SQLite file; 20 if
            None.

    Raises:
        DataError: It cannot be opened, or fails within the block.
        UnavailableError: It does not answer within the block, for instance because another process
            holds it.
    """
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        opening = (
            _journal(place, create)
            if is_journal(place)
            else _database(place, create, _SECONDS_TO_WAIT if wait is None else wait)
        )
        with opening as opened:
            yield opened
    except (SQLAlchemyError, StorageInternalError) as error:
        raise DataError(f"{shown_place(place)}: {_reason(error)}") from error
    finally:
        optuna.logging.set_verbosity(verbosity)


def study_in(storage: BaseStorage, name: str) -> Study:
    """Return the study of that name.

    Raises:
        DataError: There is none, or it was not written to the end.
    """
    try:
        study = optuna.load_study(study_name=name, storage=storage)
    except (KeyError, UnicodeEncodeError):  # the latter: databases hold no such name
        names = optuna.get_all_study_names(storage)
        known = f"there are: {listed(names)}" if names else "it holds none"
        raise DataError(f"there is no study called {shown(name)} in the storage; {known}") from None
    check_finished(study)
    return study


def check_free(storage: BaseStorage, name: str) -> None:
    """Check that no study has that name yet; one that was begun and left does not count.

    Raises:
        DataError: One has.
    """
    taken = name in optuna.get_all_study_names(storage)
    if taken and not is_left(storage, name) and not is_bare(storage, name):
        raise DataError(
            f"there is a study called {shown(name)} already, and it stays as it is; "
            "choose another name with --study"
        )


def make_room(storage: BaseStorage, name: str) -> None:
    """Check that no study has that name yet; remove one with nothing in it.

    Raises:
        DataError: One has.
    """
    check_free(storage, name)
    if is_bare(storage, name):
        optuna.delete_study(study_name=name, storage=storage)


def check_free_at(place: str, name: str) -> None:
    """Check the same in a file, if it is there; nothing is made.

    Raises:
        DataError: There is a study of that name.
    """
    file = None if "://" in place else Path(place)
    if file is not None and file.is_file() and file.stat().st_size:
        with storage_at(place) as storage:
            check_free(storage, name)


def _check_file(path: Path, create: bool) -> None:  # noqa: FBT001
    named = shown(str(path))
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        _check_absent(path, create)
        return
    except OSError as error:
        raise DataError(f"cannot open {named}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise DataError(f"{named} is a folder; --storage takes a file or a URL")
    if not stat.S_ISREG(mode):
        raise DataError(f"{named} is a device or a pipe; --storage takes a regular file or a URL")


def _check_absent(path: Path, create: bool) -> None:  # noqa: FBT001
    if not create:
        raise DataError(
            f"there is no file '{shown_place(str(path))}'; 'hetbo import' and 'hetbo init' make "
            "one, and --storage (or HETBO_STORAGE) names another"
        )
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no folder {shown(str(path.parent))} for the storage")


@contextmanager
def _journal(place: str, create: bool) -> Iterator[BaseStorage]:  # noqa: FBT001
    _check_file(Path(place), create)
    with opened_journal(Path(place)) as journal:
        yield journal


class _SQLiteStorage(RDBStorage):
    """Reads a trial's state and sets it in one transaction that no other process can come between.

    Optuna asks for that with FOR UPDATE, which means nothing to SQLite.
    """

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        try:
            self.scoped_session().execute(text("BEGIN IMMEDIATE"))
        except UnavailableError:
            self.remove_session()
            raise
        return super().set_trial_state_values(trial_id, state, values)


@contextmanager
def _database(place: str, create: bool, wait: float) -> Iterator[BaseStorage]:  # noqa: FBT001
    url = url_of(place)
    if is_file(url):
        _check_file(Path(url.database or ""), create)
        check_holds_studies(Path(url.database or ""))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SAWarning)  # an option in the URL that has no meaning
            database = briefly(lambda: _connected(url, wait))
    except UnavailableError:  # a ValueError as well
        raise
    except (ImportError, NoSuchModuleError) as error:
        raise DataError(
            f"{shown_place(place)}: the driver of this database is not installed ({error}); "
            "for PostgreSQL: pip install 'hetbo[postgresql]', and postgresql+psycopg://…"
        ) from error
    # RuntimeError: made by another version of Optuna; the others: a bad option in the URL.
    except (RuntimeError, ValueError, SAWarning) as error:
        raise DataError(f"{shown_place(place)}: {_reason(error)}") from error
    with closing_database(database):
        _end_retries(database, place)
        yield database


def _connected(url: URL, wait: float) -> RDBStorage:
    address = url.render_as_string(hide_password=False)
    if url.drivername.startswith("sqlite"):
        return _SQLiteStorage(address, engine_kwargs={"connect_args": {"timeout": wait}})
    try:
        return RDBStorage(address)
    except (OperationalError, InterfaceError) as error:
        raise UnavailableError(f"{shown_place(address)}: {_reason(error)}") from error


def _end_retries(database: RDBStorage, place: str) -> None:
    """Make a database that does not answer raise `UnavailableError` at once.

    Optuna would repeat some calls up to five times, each of which waits for a held file anew.
    """

    @event.listens_for(database.engine, "handle_error")
    def unavailable(context: ExceptionContext) -> UnavailableError | None:
        error = context.sqlalchemy_exception
        if context.is_pre_ping or not isinstance(error, OperationalError | InterfaceError):
            return None  # after a failed ping, SQLAlchemy connects again by itself
        if database.engine.name == "sqlite" and "locked" not in str(error.orig):
            return None  # a fault of the file that waiting does not repair
        return UnavailableError(f"{shown_place(place)}: {_reason(error)}")


def _reason(error: Exception) -> str:
    """Return the database's own words on one line, without SQL."""
    while isinstance(error.__cause__, SQLAlchemyError):
        error = error.__cause__
    text = printable(str(getattr(error, "orig", None) or error).splitlines()[0])
    remedy = next((remedy for part, remedy in _REMEDIES.items() if part in text), None)
    return text if remedy is None else f"{text}: {remedy}"
