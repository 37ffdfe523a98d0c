"""How storages are named: the path of a file, of a journal, or a URL."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from hetbo.errors import DataError, printable, shown
from hetbo.experiments._storages import JOURNAL_SUFFIXES
from hetbo.integrations.optuna import without_password


def portable(place: str) -> str:
    """Return a place as it can be stored in a study: absolute if it is a file, without secrets.

    Raises:
        DataError: The place is a URL with a password, which anybody could read in the study.
    """
    if is_journal(place):
        return str(Path(place).absolute())
    url = url_of(place)
    if url.password is not None:
        raise DataError(
            f"{shown_place(place)}: the study would show the password; leave it out of the URL "
            "and put it where the database's driver finds it (for PostgreSQL: ~/.pgpass)"
        )
    if is_file(url):
        return url.set(database=str(Path(url.database or "").absolute())).render_as_string()
    return place


def file_of(place: str) -> Path | None:
    """Return the file that a storage is kept in; None if a server keeps it."""
    if is_journal(place):
        return Path(place)
    url = url_of(place)
    return Path(url.database or "") if is_file(url) else None


def shown_place(place: str) -> str:
    """Return a place as messages show it: on one line, without a password."""
    return printable(without_password(place) if "://" in place else place)


def is_journal(place: str) -> bool:
    """Return whether a place is a journal file.

    Raises:
        DataError: The place holds characters that databases and studies cannot store.
    """
    if not place.isprintable():
        raise DataError(f"--storage {shown(place)} holds characters that cannot be printed")
    return "://" not in place and Path(place).suffix.lower() in JOURNAL_SUFFIXES


def is_file(url: URL) -> bool:
    """Return whether a URL names an SQLite file."""
    return url.drivername.startswith("sqlite")


def url_of(place: str) -> URL:
    """Return the URL of a database.

    Raises:
        DataError: The place names none, or one that keeps nothing.
    """
    try:
        url = make_url(place) if "://" in place else URL.create("sqlite", database=place)
    except (ArgumentError, ValueError):  # ValueError: the port is no number
        raise DataError(
            f"{shown(without_password(place))} is not the URL of a database; expected, for "
            "instance, postgresql+psycopg://user@host:5432/database"
        ) from None
    if is_file(url):
        _check_kept(place, url)
    return url


def _check_kept(place: str, url: URL) -> None:
    """Check that an SQLite database is a file: one in memory is gone with the process."""
    database = (url.database or "").strip()
    if database in ("", ":memory:") or database.startswith("file:") or "uri" in url.query:
        raise DataError(
            f"--storage {shown(place)} names no file, so nothing would be kept; give the path of "
            "one, for instance hetbo.db (HETBO_STORAGE and STORAGE::STUDY likewise)"
        )
