"""Options that several commands share."""

from typing import Annotated, Literal

from cyclopts import Parameter

Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Place = Annotated[str, Parameter(env_var="HETBO_STORAGE")]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
Goal = Literal["minimize", "maximize"]

DEFAULT_PLACE = "hetbo.db"
