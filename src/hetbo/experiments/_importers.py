"""The door for other formats: an importer turns a file into tables or experiments.

A format of one's own is one class::

    class JsonLines:
        suffixes = (".jsonl",)

        def read(self, path, options):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield Table.from_records(map(json.loads, lines), origin=path.name)

It is used once it is known: `IMPORTERS["jsonl"] = JsonLines()`, or, for a package that is
installed beside hetbo, as an entry point `jsonl` of the group `hetbo.importers`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hetbo.errors import DataError, shown

if TYPE_CHECKING:
    from hetbo.experiments._experiment import Experiment
    from hetbo.experiments._table import Table

GROUP = "hetbo.importers"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """What a caller says of a file; an importer uses what its format has.

    Attributes:
        delimiter: What separates cells; if None, found out from the first line.
        decimal: What stands before the decimals of numbers: '.' or ','.
        encoding: The file's encoding.
        names: A pattern of names, such as 'fraud-*', for files that hold several experiments.

    Raises:
        DataError: `decimal` is something else.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8-sig"
    names: str = "*"

    def __post_init__(self) -> None:
        if self.decimal not in {".", ","}:
            raise DataError(f"decimal={shown(self.decimal)} must be '.' or ','")

    def wants(self, name: str) -> bool:
        """Return whether an experiment of that name is asked for."""
        return name == self.names or fnmatchcase(name, self.names)


Found: TypeAlias = "Table | Experiment | DataError"
"""What an importer finds: a table, an experiment where the format knows the space, or why one of
several things in a file cannot be read."""


class Importer(Protocol):
    """Reads files of one format: a tracker's export, another kind of table."""

    @property
    def suffixes(self) -> Collection[str]:
        """The endings of such files' names in lower case, with the dot."""

    def read(self, path: Path, options: FileOptions) -> Iterable[Found]:
        """Return what a file holds.

        Raises:
            DataError: The file cannot be read.
        """


IMPORTERS: dict[str, Importer] = {}
"""The importer of each format, by the format's name."""


def importer_for(path: Path, format: str | None = None) -> Importer:  # noqa: A002
    """Return the importer of a format, or, by its name's ending, that of a file.

    A file with an unknown ending is read as CSV.

    Raises:
        DataError: There is no such format, or the importer of another package cannot be loaded.
    """
    if format is not None:
        if format not in IMPORTERS:
            _load(format)
        if format not in IMPORTERS:
            known = sorted({*IMPORTERS, *entry_points(group=GROUP).names})
            listed = ", ".join(map(repr, known))
            raise DataError(f"unknown format {shown(format)}; expected one of {listed}")
        return IMPORTERS[format]
    suffix = path.suffix.lower()
    found = _by_suffix(suffix)
    if found is None:
        _load(None)
        found = _by_suffix(suffix)
    return IMPORTERS["csv"] if found is None else found


def _by_suffix(suffix: str) -> Importer | None:
    return next((known for known in IMPORTERS.values() if suffix in known.suffixes), None)


def _load(wanted: str | None) -> None:
    """Add the importers of other packages, or the one of that name."""
    for entry in entry_points(group=GROUP):
        if entry.name in IMPORTERS or wanted not in {None, entry.name}:
            continue
        try:
            made = entry.load()
            importer: Importer = made() if isinstance(made, type) else made
        except Exception as error:
            package = "of unknown name" if entry.dist is None else entry.dist.name
            raise DataError(
                f"the importer {shown(entry.name)} of the package {package} cannot be loaded "
                f"({error}); reinstall the package, or uninstall it"
            ) from error
        IMPORTERS[entry.name] = importer
