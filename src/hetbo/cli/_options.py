"""Options that several commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from hetbo._files import check_names_file

PLACE_VARIABLE = "HETBO_STORAGE"
DEFAULT_PLACE = "hetbo.db"


def _output_file(_: type, tokens: Sequence[Token]) -> Path:
    """Return where to write; a path forgets that it was written as nothing, or as a folder's."""
    check_names_file(tokens[0].value)
    return Path(tokens[0].value)


Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
OutputFile = Annotated[Path, Parameter(converter=_output_file)]
Place = Annotated[str, Parameter(env_var=PLACE_VARIABLE)]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
