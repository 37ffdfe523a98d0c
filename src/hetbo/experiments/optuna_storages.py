"""Opening Optuna's studies for reading, and leaving no connection behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optuna.storages import BaseStorage, RDBStorage
from optuna.study import Study, get_all_study_names, load_study
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from hetbo.errors import DataError, shown


@contextmanager
def opened(storage: str | BaseStorage | None, study: str | Study) -> Iterator[Study]:
    """Open the study of that name for reading; a study itself is yielded as it is.

    Raises:
        DataError: There is no such storage or study, or the study has several objectives.
    """
    with _connected(storage) as connected:
        if not isinstance(study, Study):
            study = _loaded(connected, study)
        elif connected is not None:
            raise DataError("a study knows its storage; give storage=None with it, or its name")
        if len(study.directions) > 1:
            raise DataError(
                f"{shown(study.study_name)} has {len(study.directions)} objectives; "
                "an experiment has one. Copy one of them into a study of its own"
            )
        yield study


@contextmanager
def closing_database(database: RDBStorage) -> Iterator[None]:
    """Close a database's connections after the block."""
    try:
        yield
    finally:
        database.remove_session()
        database.engine.dispose()


@contextmanager
def _connected(storage: str | BaseStorage | None) -> Iterator[BaseStorage | None]:
    """Open a storage for as long as the block takes, if it is given by its URL."""
    if not isinstance(storage, str):
        yield storage
        return
    try:
        url = make_url(storage)
    except ArgumentError:
        raise DataError(f"{shown(storage)} is not the URL of a database") from None
    # Opening a file that does not exist would make one.
    if url.drivername.startswith("sqlite") and url.database and not Path(url.database).exists():
        raise DataError(f"there is no file {url.database!r}")
    try:
        database = RDBStorage(storage)
    except SQLAlchemyError as error:
        raise DataError(f"cannot open {url.render_as_string()}: {error}") from error
    with closing_database(database):
        yield database


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
