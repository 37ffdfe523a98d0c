"""Options that several commands share."""

from typing import Annotated

from cyclopts import Parameter

PLACE_VARIABLE = "HETBO_STORAGE"
DEFAULT_PLACE = "hetbo.db"

Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Place = Annotated[str, Parameter(env_var=PLACE_VARIABLE)]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
