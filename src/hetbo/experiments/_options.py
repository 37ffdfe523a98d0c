"""How the rows of a table become trials."""

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias, TypedDict

from hetbo.spaces import Space, Value

OnInvalid: TypeAlias = Literal["raise", "skip"]


class TableOptions(TypedDict, total=False):
    """How the rows of a table become trials; `Experiment.from_csv` says what each option means."""

    space: Space | None
    noise: str | None
    rename: Mapping[str, str] | None
    drop: Collection[str]
    categorical: Collection[str]
    fixed: Mapping[str, Value] | None
    on_invalid: OnInvalid
