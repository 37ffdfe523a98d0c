"""JSON files: hetbo's own experiments, and lists of objects."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from hetbo._files import read_json
from hetbo.errors import DataError, SpaceError
from hetbo.experiments._experiment import Experiment
from hetbo.experiments._importers import FileOptions
from hetbo.experiments._table import Table


class JsonImporter:
    """Reads what `Experiment.save` wrote, or a list of objects, one per trial."""

    suffixes: Collection[str] = (".json",)

    def read(self, path: Path, options: FileOptions) -> Iterable[Table | Experiment]:  # noqa: ARG002
        """Return the experiment or the table in a file.

        Raises:
            DataError: The file cannot be read or holds something else.
        """
        data = read_json(path)
        if isinstance(data, list):
            yield replace(Table.from_records(data, origin=path.name), name=path.stem)
            return
        try:
            yield Experiment.from_json(data)
        except (DataError, SpaceError) as error:
            raise DataError(
                f"{path}: {error}; expected what Experiment.save wrote, or a list of objects, one "
                "per trial"
            ) from error
