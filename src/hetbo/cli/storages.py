"""Optuna's storages as the command line names them: a file, a journal, or a URL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from json import JSONDecodeError
from pathlib import Path
from urllib.parse import quote

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from hetbo.cli.names import listed
from hetbo.errors import DataError, printable, shown
from hetbo.experiments.optuna_storages import closing_database

_SECONDS_TO_WAIT = 20.0
"""How long to wait for another process that holds an SQLite file."""
_LONGEST_FIRST_LINE = 100_000
_JOURNAL_ENDINGS = {".log", ".journal"}


@contextmanager
def storage_at(place: str, *, create: bool = False) -> Iterator[BaseStorage]:
    """Open a storage for as long as the block takes; Optuna keeps quiet meanwhile.

    Args:
        place: A URL, a journal file (`.log` or `.journal`), or an SQLite file.
        create: Whether to make a file that is not there.

    Raises:
        DataError: It cannot be opened, or fails within the block, for instance because another
            process holds it.
    """
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with _journal(place, create) if _is_journal(place) else _database(place, create) as opened:
            yield opened
    except (SQLAlchemyError, StorageInternalError) as error:
        raise DataError(f"{shown_place(place)}: {_reason(error)}") from error
    finally:
        optuna.logging.set_verbosity(verbosity)


def study_in(storage: BaseStorage, name: str) -> Study:
    """Return the study of that name.

    Raises:
        DataError: There is none.
    """
    try:
        return optuna.load_study(study_name=name, storage=storage)
    except KeyError:
        names = optuna.get_all_study_names(storage)
        known = f"there are: {listed(names)}" if names else "it holds none"
        raise DataError(f"there is no study called {shown(name)} in the storage; {known}") from None


def check_free(storage: BaseStorage, name: str) -> None:
    """Check that no study has that name yet.

    Raises:
        DataError: One has.
    """
    if name in optuna.get_all_study_names(storage):
        raise DataError(
            f"there is a study called {shown(name)} already, and it stays as it is; "
            "choose another name with --study"
        )


def check_free_at(place: str, name: str) -> None:
    """Check the same in a file, if it is there; nothing is made.

    Raises:
        DataError: There is a study of that name.
    """
    file = None if "://" in place else Path(place)
    if file is not None and file.is_file() and file.stat().st_size:
        with storage_at(place) as storage:
            check_free(storage, name)


def portable(place: str) -> str:
    """Return a place as it can be stored in a study: absolute if it is a file, without secrets.

    Raises:
        DataError: The place is a URL with a password, which anybody could read in the study.
    """
    if _is_journal(place):
        return str(Path(place).absolute())
    url = _url(place)
    if url.password is not None:
        raise DataError(
            f"{shown_place(place)}: the study would show the password; leave it out of the URL "
            "and put it where the database's driver finds it (for PostgreSQL: ~/.pgpass)"
        )
    if _is_file(url):
        return url.set(database=str(Path(url.database or "").absolute())).render_as_string()
    return place


def shown_place(place: str) -> str:
    """Return a place as messages show it: on one line, without a password."""
    if "://" not in place:
        return printable(place)
    try:
        return printable(make_url(place).render_as_string(hide_password=True))
    except ArgumentError:
        return shown(place)


def _is_journal(place: str) -> bool:
    return "://" not in place and Path(place).suffix in _JOURNAL_ENDINGS


def _is_file(url: URL) -> bool:
    in_memory = url.database in (None, "", ":memory:")
    return url.drivername.startswith("sqlite") and not in_memory


def _url(place: str) -> URL:
    if "://" not in place:
        return URL.create("sqlite", database=place)
    try:
        return make_url(place)
    except ArgumentError:
        raise DataError(f"{shown(place)} is not the URL of a database") from None


def _check_file(path: Path, create: bool) -> None:  # noqa: FBT001
    if path.is_dir():
        raise DataError(f"{shown_place(str(path))} is a folder; --storage takes a file or a URL")
    if not path.exists() and not create:
        raise DataError(
            f"there is no file {str(path)!r}; 'hetbo import' and 'hetbo init' make one, and "
            "--storage (or HETBO_STORAGE) names another"
        )
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no folder {shown(str(path.parent))} for the storage")


def _check_journal(path: Path) -> None:
    """Check that a file was begun by Optuna, which would write into any other one as well."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as stream:
        first = stream.readline(_LONGEST_FIRST_LINE)
    if first and not first.startswith('{"op_code"'):
        raise DataError(f"{shown_place(str(path))} is not a journal of Optuna's; it stays as it is")


def _check_sqlite(path: Path) -> None:
    """Check that a database is Optuna's or empty; Optuna would add its tables to any other one."""
    if not path.exists():
        return
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0.1)) as database:
            found = database.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error:
        return  # no database, or held by another process: opening it says so
    if found and ("studies",) not in found:
        raise DataError(f"{shown_place(str(path))} holds something else; it stays as it is")


@contextmanager
def _journal(place: str, create: bool) -> Iterator[BaseStorage]:  # noqa: FBT001
    _check_file(Path(place), create)
    try:
        _check_journal(Path(place))
        journal = JournalStorage(JournalFileBackend(place))
    except OSError as error:
        raise DataError(f"cannot open {shown_place(place)}: {error.strerror}") from error
    try:
        yield journal
    except JSONDecodeError as error:
        raise DataError(f"{shown_place(place)} is damaged: {error}") from error


@contextmanager
def _database(place: str, create: bool) -> Iterator[BaseStorage]:  # noqa: FBT001
    url = _url(place)
    waiting = {}
    if _is_file(url):
        _check_file(Path(url.database or ""), create)
        _check_sqlite(Path(url.database or ""))
    if url.drivername.startswith("sqlite"):
        waiting = {"connect_args": {"timeout": _SECONDS_TO_WAIT}}
    try:
        database = RDBStorage(
            url.render_as_string(hide_password=False), engine_kwargs=waiting or None
        )
    except (ImportError, NoSuchModuleError) as error:
        raise DataError(
            f"{shown_place(place)}: the driver of this database is not installed ({error}); "
            "for PostgreSQL: pip install 'hetbo[postgresql]', and postgresql+psycopg://…"
        ) from error
    except RuntimeError as error:  # made by another version of Optuna
        raise DataError(f"{shown_place(place)}: {_reason(error)}") from error
    with closing_database(database):
        yield database


def _reason(error: Exception) -> str:
    """Return the database's own words on one line, without SQL."""
    while isinstance(error.__cause__, SQLAlchemyError):
        error = error.__cause__
    text = printable(str(getattr(error, "orig", None) or error).splitlines()[0])
    if "locked" in text:
        return f"{text}: another process holds it; try again when that is done. Nothing was changed"
    return text
