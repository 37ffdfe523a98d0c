"""Files of Optuna's: SQLite databases and journals."""

from collections.abc import Collection, Iterable
from pathlib import Path

from hetbo.experiments._importers import FileOptions, Found

JOURNAL_SUFFIXES = (".log", ".journal")
"""The endings of Optuna's journals, in lower case; other files are SQLite databases."""


class OptunaImporter:
    """Reads the studies in an SQLite file or a journal of Optuna's."""

    suffixes: Collection[str] = (".db", ".sqlite", ".sqlite3", *JOURNAL_SUFFIXES)

    def read(self, path: Path, options: FileOptions) -> Iterable[Found]:
        """Return a storage's studies; one with several spaces is several experiments.

        Raises:
            DataError: The file is no storage of Optuna's.
            MissingOptunaError: Optuna is not installed.
        """
        from hetbo.integrations.optuna import studies_at  # noqa: PLC0415  # loads Optuna

        for _, found in studies_at(path, options.wants):
            yield found
