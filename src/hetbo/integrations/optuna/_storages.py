"""Opening Optuna's studies for reading, and leaving no connection behind."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from urllib.parse import quote

from optuna.storages import BaseStorage, JournalStorage, RDBStorage, get_storage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study, get_all_study_names, load_study
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from hetbo.errors import DataError, printable, shown
from hetbo.experiments._storages import JOURNAL_SUFFIXES

_USER = re.compile(r"(?<=://).*@")


@contextmanager
def opened(storage: str | BaseStorage | None, study: str | Study) -> Iterator[Study]:
    """Open the study of that name for reading; a study itself is yielded as it is.

    Raises:
        DataError: There is no such storage or study, or the study has several objectives.
    """
    with nullcontext() if storage is None else opened_storage(storage) as connected:
        if not isinstance(study, Study):
            study = _loaded(connected, study)
        elif connected is not None:
            raise DataError("a study knows its storage; give storage=None with it, or its name")
        check_one_objective(study)
        yield study


def check_one_objective(study: Study) -> None:
    """Check that a study has one objective, as an experiment has.

    Raises:
        DataError: It has several.
    """
    if len(study.directions) > 1:
        raise DataError(
            f"{shown(study.study_name)} has {len(study.directions)} objectives; "
            "an experiment has one. Copy one of them into a study of its own"
        )


@contextmanager
def opened_storage(place: str | Path | BaseStorage) -> Iterator[BaseStorage]:
    """Open a storage for reading: a file, a URL, or the storage itself.

    Raises:
        DataError: There is none, or it cannot be read.
    """
    if isinstance(place, BaseStorage):
        yield place
    elif isinstance(place, Path) and place.suffix.lower() in JOURNAL_SUFFIXES:
        yield _journal(place)
    elif isinstance(place, Path):
        check_holds_studies(place)
        with _database(URL.create("sqlite", database=str(place)).render_as_string()) as database:
            yield database
    else:
        with _database(place) as database:
            yield database


def check_holds_studies(path: Path) -> None:
    """Check that an SQLite file is Optuna's or empty; Optuna would add its tables to any other one.

    Raises:
        DataError: It holds something else.
    """
    if not path.exists():
        return
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0.1)) as database:
            found = database.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error:
        return  # no database, or held by another process: opening it says so
    if found and ("studies",) not in found:
        raise DataError(f"{printable(str(path))} holds something else; it stays as it is")


def _journal(path: Path) -> JournalStorage:
    try:
        with path.open("rb"):  # Optuna would make one
            pass
        return JournalStorage(JournalFileBackend(str(path)))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    # Optuna replays whatever the lines say.
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
        raise DataError(f"{path} is not a journal of Optuna's, or is damaged: {error}") from error


@contextmanager
def closing_database(database: RDBStorage) -> Iterator[None]:
    """Close a database's connections after the block."""
    try:
        yield
    finally:
        database.remove_session()
        database.engine.dispose()


def storage_of(storage: str | BaseStorage | None) -> BaseStorage:
    """Return a storage to write to, made if it is given by its URL; None is one in memory.

    Raises:
        DataError: It cannot be opened.
    """
    if not isinstance(storage, str):
        return get_storage(storage)
    with _told_of(storage):
        return get_storage(storage)


def without_password(url: str) -> str:
    """Return a URL, which need not be a valid one, as it may be shown."""
    try:
        return make_url(url).render_as_string()
    except (ArgumentError, ValueError):
        return _USER.sub("***@", url)


@contextmanager
def _database(address: str) -> Iterator[RDBStorage]:
    """Open a database for as long as the block takes."""
    with _told_of(address):
        url = make_url(address)
        # Opening a file that does not exist would make one.
        if url.drivername.startswith("sqlite") and url.database and not Path(url.database).exists():
            raise DataError(f"there is no file {url.database!r}")
        database = RDBStorage(address)
    with closing_database(database):
        yield database


@contextmanager
def _told_of(storage: str) -> Iterator[None]:
    """Say of which storage an error is that opening it raises."""
    try:
        yield
    except DataError:
        raise
    except ArgumentError:
        raise DataError(
            f"{shown(without_password(storage))} is not the URL of a database"
        ) from None
    # ValueError: a port that is no number; RuntimeError: tables of another version of Optuna.
    except (SQLAlchemyError, ImportError, ValueError, RuntimeError) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise DataError(f"cannot open {printable(without_password(storage))}: {reason}") from error


def _loaded(storage: BaseStorage | None, name: str) -> Study:
    if storage is None:
        raise DataError(f"storage=None: say in which storage the study {shown(name)} is")
    try:
        return load_study(study_name=name, storage=storage)
    except KeyError:
        known = ", ".join(map(repr, get_all_study_names(storage))) or "none"
        raise DataError(
            f"there is no study called {shown(name)} in that storage (there are: {shown(known)})"
        ) from None
